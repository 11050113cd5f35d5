"""rpcbench: which JSON-RPC node serves my traffic better, by how much, and can I trust that number?"""

__version__ = "0.1.0"
