"""The nouns of rpcbench. Values only: no files, sockets or clocks here."""
