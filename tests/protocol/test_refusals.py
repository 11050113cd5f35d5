"""Errors that speak of a node's set-up, told from those that are answers. Texts are those of real nodes."""

from __future__ import annotations

import pytest

from rpcbench.model.scenario import Chain
from rpcbench.protocol.refusals import is_unserved, lacks_history


@pytest.mark.parametrize(
    ("chain", "code", "message"),
    [
        (Chain.STARKNET, 24, "Block not found"),
        (Chain.STARKNET, 42, "the node doesn't support storage proofs for blocks that are too far in the past"),
        (Chain.STARKNET, -1, "No state at block Number(53); consider running with --state-archive-capacity full"),
        (Chain.ETHEREUM, 4444, "pruned history unavailable"),
        (Chain.ETHEREUM, -32000, "missing trie node 56e8… (path ) state 0x56e8… is not available"),
        (Chain.ETHEREUM, -32000, "header not found"),
        (Chain.ETHEREUM, -32000, "historical state 1234 is not available"),
        (Chain.ETHEREUM, -32001, "block not found: 0x5"),
    ],
)
def test_history_that_a_node_does_not_keep(chain: Chain, code: int, message: str) -> None:
    assert lacks_history(chain, code, message)


@pytest.mark.parametrize(
    ("chain", "code", "message"),
    [
        (Chain.STARKNET, 20, "Contract not found"),
        (Chain.STARKNET, -32603, "Internal error"),
        (Chain.STARKNET, -32602, "Invalid params: block not found in params"),
        (Chain.ETHEREUM, 24, ""),
        (Chain.ETHEREUM, 3, "execution reverted: pruned"),
        (Chain.ETHEREUM, -32000, "insufficient funds for gas * price + value"),
        (Chain.ETHEREUM, -32000, "unknown account"),
    ],
)
def test_errors_that_are_not_about_history(chain: Chain, code: int, message: str) -> None:
    assert not lacks_history(chain, code, message)


def test_methods_that_are_not_served() -> None:
    assert is_unserved(-32601)
    assert is_unserved(-32004)  # Hardhat
    assert not is_unserved(-32602)
