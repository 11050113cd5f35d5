"""The Starknet methods and their parameters, after specifications 0.8 to 0.10."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rpcbench.protocol.kinds import (
    Kind,
    Path,
    Problem,
    anything,
    hex_string,
    integer,
    is_integer,
    list_of,
    mapping,
    one_of,
    shown,
    struct,
    text,
)

# Pathfinder refuses larger pages and more key positions; Juno's limits are higher, so these are what both answer.
MAX_CHUNK_SIZE = 1024
MAX_KEY_POSITIONS = 16
MAX_PROOF_KEYS = 100

_TAGS = ("latest", "pre_confirmed", "l1_accepted", "pending")  # `pending` up to specification 0.8


_felt = hex_string("[0-9a-fA-F]{1,64}", 'a field element in quotes, such as "0x49d3"')
_l1_hash = hex_string("[0-9a-fA-F]{64}", "an Ethereum transaction hash in quotes, 0x and 64 hex digits")
_block_number = integer(0, None, "a whole number from 0 on, not hex and not in quotes")


def _block(value: Any, path: Path) -> Iterator[Problem]:
    forms = '{block_number: 5}, {block_hash: "0x…"} or latest'
    if is_integer(value):
        yield Problem(path, f"is a bare number; write {{block_number: {value}}}")
    elif isinstance(value, str):
        if value.startswith("0x"):
            yield Problem(path, f'is a bare hash; write {{block_hash: "{value}"}}')
        elif value not in _TAGS:
            yield Problem(path, f"is {shown(value)}; write {forms} (tags: {', '.join(_TAGS)})")
    elif not isinstance(value, Mapping) or len(value) != 1 or not set(value) <= {"block_number", "block_hash"}:
        yield Problem(path, f"is {shown(value)}; write {forms}")
    elif "block_hash" in value:
        yield from _felt(value["block_hash"], (*path, "block_hash"))
    else:
        yield from _block_number(value["block_number"], (*path, "block_number"))


def _addresses(value: Any, path: Path) -> Iterator[Problem]:
    yield from _felts(value, path) if isinstance(value, list) else _felt(value, path)


def _filter(value: Any, path: Path) -> Iterator[Problem]:
    """The filter of getEvents, with the names of its older versions explained."""
    if isinstance(value, Mapping):
        for old in ("page_size", "page_number"):
            if old in value:
                yield Problem(
                    (*path, old),
                    f"unknown field `{old}`; pages are asked for with `chunk_size` and `continuation_token`",
                )
        value = {k: v for k, v in value.items() if k not in {"page_size", "page_number"}}
    yield from _EVENT_FILTER(value, path)
    if isinstance(value, Mapping):
        low, high = (_number(value.get(k)) for k in ("from_block", "to_block"))
        if low is not None and high is not None and low > high:
            yield Problem((*path, "to_block"), f"is block {high}, below `from_block` {low}; no event can match")


def _number(block: Any) -> int | None:
    number = block.get("block_number") if isinstance(block, Mapping) else None
    return number if isinstance(number, int) else None


_felts = list_of(_felt, "field elements")
_KINDS: dict[str, Kind] = {
    "felt": _felt,
    "felts": _felts,
    "l1_hash": _l1_hash,
    "block": _block,
    "index": integer(0, None, "a whole number from 0 on"),
    "chunk": integer(1, MAX_CHUNK_SIZE, f"a whole number from 1 to {MAX_CHUNK_SIZE}, the most that all nodes take"),
    "keys": list_of(_felts, "lists, one for each key position", MAX_KEY_POSITIONS),
    "addresses": _addresses,
    "text": text,
    "object": mapping,
    "objects": list_of(mapping, "mappings"),
    "any": anything,
    "response_flags": list_of(one_of("INCLUDE_PROOF_FACTS", "INCLUDE_LAST_UPDATE_BLOCK"), "flags"),
    "simulation_flags": list_of(one_of("SKIP_VALIDATE", "SKIP_FEE_CHARGE", "RETURN_INITIAL_READS"), "flags"),
}
_EVENT_FILTER = struct(
    "an event filter",
    "from_block?:block to_block?:block address?:addresses keys?:keys chunk_size:chunk continuation_token?:text",
    _KINDS,
)
_STORAGE_KEYS = struct("an entry", "contract_address:felt storage_keys:felts", _KINDS)
KINDS: dict[str, Kind] = {
    **_KINDS,
    "filter": _filter,
    "call": struct("a call", "contract_address:felt entry_point_selector:felt calldata:felts", _KINDS),
    "message": struct(
        "an L1 message", "from_address:felt to_address:felt entry_point_selector:felt payload:felts", _KINDS
    ),
    "storage_keys": list_of(_STORAGE_KEYS, "{contract_address, storage_keys}", MAX_PROOF_KEYS),
}

METHODS: dict[str, str] = {
    "starknet_specVersion": "",
    "starknet_chainId": "",
    "starknet_blockNumber": "",
    "starknet_blockHashAndNumber": "",
    "starknet_syncing": "",
    "starknet_getBlockWithTxHashes": "block_id:block",
    "starknet_getBlockWithTxs": "block_id:block response_flags?:response_flags",
    "starknet_getBlockWithReceipts": "block_id:block response_flags?:response_flags",
    "starknet_getBlockTransactionCount": "block_id:block",
    "starknet_getStateUpdate": "block_id:block contract_addresses?:felts",
    "starknet_getTransactionByHash": "transaction_hash:felt response_flags?:response_flags",
    "starknet_getTransactionByBlockIdAndIndex": "block_id:block index:index response_flags?:response_flags",
    "starknet_getTransactionReceipt": "transaction_hash:felt",
    "starknet_getTransactionStatus": "transaction_hash:felt",
    "starknet_getMessagesStatus": "transaction_hash:l1_hash",
    "starknet_getStorageAt": "contract_address:felt key:felt block_id:block response_flags?:response_flags",
    "starknet_getNonce": "block_id:block contract_address:felt",
    "starknet_getClass": "block_id:block class_hash:felt",
    "starknet_getClassAt": "block_id:block contract_address:felt",
    "starknet_getClassHashAt": "block_id:block contract_address:felt",
    "starknet_getCompiledCasm": "class_hash:felt",
    "starknet_getEvents": "filter:filter",
    "starknet_getStorageProof": (
        "block_id:block class_hashes?:felts contract_addresses?:felts contracts_storage_keys?:storage_keys"
    ),
    "starknet_call": "request:call block_id:block",
    "starknet_estimateFee": "request:objects simulation_flags:simulation_flags block_id:block",
    "starknet_estimateMessageFee": "message:message block_id:block",
    "starknet_simulateTransactions": "block_id:block transactions:objects simulation_flags:simulation_flags",
    "starknet_traceTransaction": "transaction_hash:felt",
    "starknet_traceBlockTransactions": "block_id:block trace_flags?:simulation_flags",
    "starknet_addInvokeTransaction": "invoke_transaction:object",
    "starknet_addDeclareTransaction": "declare_transaction:object",
    "starknet_addDeployAccountTransaction": "deploy_account_transaction:object",
    "juno_version": "",
    "pathfinder_version": "",
    "devnet_getConfig": "",
    "devnet_createBlock": "",
    "devnet_mint": "address:felt amount:any unit?:text",
}
