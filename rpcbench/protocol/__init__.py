"""What JSON-RPC, Starknet and Ethereum are, without sockets."""
