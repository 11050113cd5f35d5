"""Facts about Ethereum nodes: where they listen, what to ask them about themselves, how to read the answer.

`rpcbench.protocol.starknet` answers to the same names. What a parse function cannot read raises ValueError.
"""

from __future__ import annotations

from typing import Any

from rpcbench.protocol.block import Block, BlockChoice, member, parse_hash, parse_hex

WELL_KNOWN_PORTS = {"geth": 8545, "reth": 8545, "erigon": 8545, "nethermind": 8545, "anvil": 8545}

CHAIN_ID = "eth_chainId"
BLOCK_NUMBER = "eth_blockNumber"
SYNCING = "eth_syncing"
CLIENT_VERSION = "web3_clientVersion"

_CHAIN_NAMES = {1: "mainnet", 17000: "Holesky", 11155111: "Sepolia", 560048: "Hoodi", 1337: "dev", 31337: "dev"}


def ask_block(block: BlockChoice) -> tuple[str, Any]:
    """Method and parameters that bring height, hash and time of one block."""
    return "eth_getBlockByNumber", [block if block == "latest" else hex(block), False]


def parse_block(result: Any) -> Block:
    """The answer to `ask_block`; a node that lacks the block answers null, which is no block."""
    number, timestamp_s = member(result, "number"), member(result, "timestamp")
    return Block(parse_quantity(number), parse_hash(member(result, "hash")), parse_quantity(timestamp_s))


def parse_quantity(value: Any) -> int:
    """A number as Ethereum writes it: 0x1b."""
    return parse_hex(value)


def parse_syncing(result: Any) -> tuple[bool, int | None]:
    """Whether the node says it is syncing, and the height it strives for."""
    if result is False:
        return False, None
    return True, parse_quantity(member(result, "highestBlock"))


def chain_name(chain_id: str) -> str:
    """`mainnet` for 0x1; the number where the chain has no well-known name."""
    try:
        number = parse_hex(chain_id)
    except ValueError:
        return chain_id
    return _CHAIN_NAMES.get(number, str(number))
