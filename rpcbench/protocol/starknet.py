"""Facts about Starknet nodes: where they listen, what to ask them about themselves, how to read the answer.

`rpcbench.protocol.ethereum` answers to the same names. What a parse function cannot read raises ValueError.
"""

from __future__ import annotations

from typing import Any

from rpcbench.protocol.block import Block, BlockChoice, member, parse_hash, parse_hex

WELL_KNOWN_PORTS = {"juno": 6060, "pathfinder": 9545, "devnet": 5050}

# Newest first. A node's root path serves whichever version its maker chose, so it is the last resort.
VERSIONED_PATHS = ("/rpc/v0_10", "/rpc/v0_9", "/rpc/v0_8", "/rpc/v0_7", "/rpc/v0_6")

CHAIN_ID = "starknet_chainId"
BLOCK_NUMBER = "starknet_blockNumber"
SYNCING = "starknet_syncing"
SPEC_VERSION = "starknet_specVersion"
# Outside the specification, each client has its own; the first that answers says which client it is.
CLIENT_VERSIONS = {"juno_version": "Juno", "pathfinder_version": "Pathfinder"}
# Pathfinder keeps its own methods beside the versioned paths of the specification.
CLIENT_VERSION_PATHS = {"pathfinder_version": "/rpc/pathfinder/v0_1"}


def ask_block(block: BlockChoice) -> tuple[str, Any]:
    """Method and parameters that bring height, hash and time of one block."""
    return "starknet_getBlockWithTxHashes", {"block_id": block if block == "latest" else {"block_number": block}}


def parse_block(result: Any) -> Block:
    """The answer to `ask_block`."""
    number, timestamp_s = member(result, "block_number"), member(result, "timestamp")
    return Block(parse_quantity(number), parse_hash(member(result, "block_hash")), parse_quantity(timestamp_s))


def parse_quantity(value: Any) -> int:
    """A block number or the like: an integer; old versions wrote hex in places."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return parse_hex(value)


def parse_syncing(result: Any) -> tuple[bool, int | None]:
    """Whether the node says it is syncing, and the height it strives for."""
    if result is False:
        return False, None
    return True, parse_quantity(member(result, "highest_block_num"))


def chain_name(chain_id: str) -> str:
    """`SN_MAIN` for 0x534e5f4d41494e; the id itself where it spells no name."""
    try:
        name = bytes.fromhex(f"{parse_hex(chain_id):x}").decode("ascii")
    except ValueError:
        return chain_id
    return name if name.isprintable() else chain_id


def spec_family(version: str) -> str:
    """`0.10` of `0.10.2`: patch levels differ in wording only, so they may be compared."""
    return ".".join(version.removeprefix("v").split(".")[:2])
