"""`python -m rpcbench` is the command `rpcbench`."""

from rpcbench.cli.main import main

main()
