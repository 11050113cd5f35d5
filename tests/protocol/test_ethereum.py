"""How Ethereum nodes are asked about themselves, and how their answers are read."""

from typing import Any

import pytest

from rpcbench.protocol import ethereum
from rpcbench.protocol.block import Block


def test_a_block_is_asked_for_by_height_or_as_the_latest() -> None:
    assert ethereum.ask_block(27) == ("eth_getBlockByNumber", ["0x1b", False])
    assert ethereum.ask_block("latest") == ("eth_getBlockByNumber", ["latest", False])


def test_a_block_is_read() -> None:
    reply = {"number": "0x2", "hash": "0x0b", "timestamp": "0x6553f100", "transactions": []}
    assert ethereum.parse_block(reply) == Block(2, "0xb", 1_700_000_000)


@pytest.mark.parametrize("reply", [None, {"number": "2", "hash": "0xb", "timestamp": "0x1"}, {"number": 2}])
def test_what_is_no_block_is_refused(reply: Any) -> None:
    with pytest.raises(ValueError, match=r"reply has no|hex string"):
        ethereum.parse_block(reply)


def test_syncing_is_read() -> None:
    assert ethereum.parse_syncing(False) == (False, None)
    assert ethereum.parse_syncing({"currentBlock": "0x1", "highestBlock": "0x64"}) == (True, 100)


def test_chains_have_names_or_numbers() -> None:
    assert [ethereum.chain_name(c) for c in ("0x1", "0xaa36a7", "0x2105", "odd")] == [
        "mainnet",
        "Sepolia",
        "8453",
        "odd",
    ]
