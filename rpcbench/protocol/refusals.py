"""Errors that tell how a node is set up, not what the answer is: what it does not serve, what it does not keep."""

from __future__ import annotations

import re

from rpcbench.model.scenario import Chain

_METHOD_NOT_FOUND = -32601
_METHOD_NOT_SUPPORTED = -32004  # Hardhat, and EIP-1474

# Block not found (the block is below every head, so a node that keeps history has it); proofs not that far back.
_STARKNET_HISTORY = frozenset({24, 42})
# Nethermind: pruned history, before the fork.
_ETHEREUM_HISTORY = frozenset({4444, 4445})
# Clients say the rest in words, under codes that stand for everything.
_GENERAL_CODES = frozenset({-1, -32000, -32001, -32002, -32603, -39001})
_HISTORY_WORDS = re.compile(
    r"missing trie node|header not found|unknown block|block not found|prun|ancient|historical state"
    r"|state[\w\s]* (not |un)available|no state (at|for|available)",
    re.IGNORECASE,
)


def is_unserved(code: int) -> bool:
    """Whether the error says that the node does not offer the method."""
    return code in (_METHOD_NOT_FOUND, _METHOD_NOT_SUPPORTED)


def lacks_history(chain: Chain, code: int, message: str) -> bool:
    """Whether the error to a question about an old block says that the node no longer has it."""
    if code in (_STARKNET_HISTORY if chain is Chain.STARKNET else _ETHEREUM_HISTORY):
        return True
    return code in _GENERAL_CODES and _HISTORY_WORDS.search(message) is not None


def is_not_found(chain: Chain, code: int) -> bool:
    """Whether the error says that there is no such transaction, which a pruned node says of old ones."""
    return chain is Chain.STARKNET and code == 29
