"""What JSON-RPC, Starknet and Ethereum are, without sockets: tables and pure functions."""
