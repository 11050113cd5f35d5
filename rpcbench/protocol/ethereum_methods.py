"""The Ethereum methods and their parameters, as the execution API and its clients take them. Always positional."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rpcbench.protocol.kinds import (
    Kind,
    Path,
    Problem,
    anything,
    boolean,
    hex_string,
    integer,
    is_integer,
    list_of,
    mapping,
    one_of,
    shown,
    struct,
)

_TAGS = ("latest", "safe", "finalized", "earliest", "pending")
_BLOCK_FORMS = f'a height in quotes without leading zeros, such as "0x1b", or a tag ({", ".join(_TAGS)})'
_MAX_TOPICS = 4


_DIGIT = "[0-9a-fA-F]"
_NUMBER = f"0|[1-9a-fA-F]{_DIGIT}*"
_quantity = hex_string(_NUMBER, 'a quantity in quotes without leading zeros, such as "0x1b"')
_height = hex_string(_NUMBER, _BLOCK_FORMS)
_data = hex_string(f"({_DIGIT}{{2}})*", 'bytes in quotes, 0x and two hex digits each, such as "0x70a08231"')
_slot = hex_string(f"{_DIGIT}{{1,64}}", 'a storage slot in quotes, such as "0x0"')
_address = hex_string(f"{_DIGIT}{{40}}", "an address in quotes, 0x and 40 hex digits")
_hash = hex_string(f"{_DIGIT}{{64}}", "a hash in quotes, 0x and 64 hex digits")


def _block(value: Any, path: Path) -> Iterator[Problem]:
    """A height or a tag."""
    if isinstance(value, str) and not value.startswith("0x"):
        if value not in _TAGS:
            yield Problem(path, f"is {shown(value)}; write {_BLOCK_FORMS}")
    else:
        yield from _height(value, path)


def _state_block(value: Any, path: Path) -> Iterator[Problem]:
    """What state methods take as a block: also a hash, bare or as EIP-1898 writes it."""
    if isinstance(value, Mapping):
        yield from _BLOCK_OBJECT(value, path)
        if ("blockHash" in value) == ("blockNumber" in value):
            yield Problem(path, "needs either `blockHash` or `blockNumber`")
    elif not (isinstance(value, str) and len(value) == 66):
        yield from _block(value, path)
    else:
        yield from _hash(value, path)


def _or_list(kind: Kind, what: str) -> Kind:
    """One, or a list of alternatives."""
    several = list_of(kind, what)
    return lambda value, path: (several if isinstance(value, list) else kind)(value, path)


def _or_null(kind: Kind) -> Kind:
    return lambda value, path: iter(()) if value is None else kind(value, path)


def _filter(value: Any, path: Path) -> Iterator[Problem]:
    """The filter of getLogs: a range or one block's hash."""
    yield from _LOG_FILTER(value, path)
    if not isinstance(value, Mapping):
        return
    if "blockHash" in value and ("fromBlock" in value or "toBlock" in value):
        yield Problem((*path, "blockHash"), "excludes `fromBlock` and `toBlock`; write one or the other")
    low, high = (_number(value.get(k)) for k in ("fromBlock", "toBlock"))
    if low is not None and high is not None and low > high:
        yield Problem((*path, "toBlock"), f"is block {high}, below `fromBlock` {low}; no log can match")


def _number(block: Any) -> int | None:
    try:
        return int(block, 16) if isinstance(block, str) else None
    except ValueError:
        return None


def _percentiles(value: Any, path: Path) -> Iterator[Problem]:
    right = "a rising list of percentages, such as [25, 75]"
    numbers = isinstance(value, list) and all(is_integer(v) or isinstance(v, float) for v in value)
    if not numbers or sorted(value) != value or any(not 0 <= v <= 100 for v in value):
        yield Problem(path, f"is {shown(value)}; write {right}")


_KINDS: dict[str, Kind] = {
    "any": anything,
    "boolean": boolean,
    "object": mapping,
    "integer": integer(0, None, "a whole number from 0 on"),
    "quantity": _quantity,
    "data": _data,
    "address": _address,
    "maybe_address": _or_null(_address),
    "addresses": _or_list(_address, "addresses"),
    "hash": _hash,
    "topics": list_of(_or_null(_or_list(_hash, "topics")), "topics", _MAX_TOPICS),
    "slot": _slot,
    "slots": list_of(_slot, "storage slots"),
    "block": _block,
    "percentiles": _percentiles,
    "trace_types": list_of(one_of("trace", "stateDiff", "vmTrace"), "trace types"),
    "list_of_addresses": list_of(_address, "addresses"),
}
_LOG_FILTER = struct(
    "a log filter", "fromBlock?:block toBlock?:block blockHash?:hash address?:addresses topics?:topics", _KINDS
)
_BLOCK_OBJECT = struct("a block", "blockHash?:hash blockNumber?:quantity requireCanonical?:boolean", _KINDS)
_TRANSACTION = (
    "from?:address to?:maybe_address gas?:quantity gasPrice?:quantity maxFeePerGas?:quantity "
    "maxPriorityFeePerGas?:quantity value?:quantity data?:data input?:data nonce?:quantity type?:quantity "
    "chainId?:quantity accessList?:any authorizationList?:any maxFeePerBlobGas?:quantity blobVersionedHashes?:any"
)
KINDS: dict[str, Kind] = {
    **_KINDS,
    "state": _state_block,
    "filter": _filter,
    "call": struct("a call", _TRANSACTION, _KINDS),
    "trace_filter": struct(
        "a trace filter",
        "fromBlock?:block toBlock?:block fromAddress?:list_of_addresses toAddress?:list_of_addresses "
        "after?:integer count?:integer mode?:any",
        _KINDS,
    ),
}

METHODS: dict[str, str] = {
    "eth_blockNumber": "",
    "eth_chainId": "",
    "eth_syncing": "",
    "eth_gasPrice": "",
    "eth_maxPriorityFeePerGas": "",
    "eth_blobBaseFee": "",
    "eth_accounts": "",
    "eth_feeHistory": "blocks:quantity newest:block percentiles?:percentiles",
    "eth_getBlockByNumber": "block:block full_transactions:boolean",
    "eth_getBlockByHash": "hash:hash full_transactions:boolean",
    "eth_getBlockReceipts": "block:state",
    "eth_getBlockTransactionCountByNumber": "block:block",
    "eth_getBlockTransactionCountByHash": "hash:hash",
    "eth_getUncleCountByBlockNumber": "block:block",
    "eth_getUncleCountByBlockHash": "hash:hash",
    "eth_getTransactionByHash": "hash:hash",
    "eth_getTransactionByBlockNumberAndIndex": "block:block index:quantity",
    "eth_getTransactionByBlockHashAndIndex": "hash:hash index:quantity",
    "eth_getTransactionReceipt": "hash:hash",
    "eth_getTransactionCount": "address:address block:state",
    "eth_getBalance": "address:address block:state",
    "eth_getCode": "address:address block:state",
    "eth_getStorageAt": "address:address slot:slot block:state",
    "eth_getProof": "address:address slots:slots block:state",
    "eth_getLogs": "filter:filter",
    "eth_call": "call:call block?:state state_overrides?:object block_overrides?:object",
    "eth_estimateGas": "call:call block?:state state_overrides?:object block_overrides?:object",
    "eth_createAccessList": "call:call block?:state state_overrides?:object",
    "eth_simulateV1": "payload:object block?:state",
    "eth_sendRawTransaction": "transaction:data",
    "eth_sendTransaction": "transaction:call",
    "net_version": "",
    "net_listening": "",
    "net_peerCount": "",
    "web3_clientVersion": "",
    "web3_sha3": "data:data",
    "txpool_status": "",
    "txpool_content": "",
    "debug_traceTransaction": "hash:hash options?:object",
    "debug_traceBlockByNumber": "block:block options?:object",
    "debug_traceBlockByHash": "hash:hash options?:object",
    "debug_traceCall": "call:call block?:state options?:object",
    "trace_block": "block:block",
    "trace_transaction": "hash:hash",
    "trace_call": "call:call types:trace_types block?:state",
    "trace_filter": "filter:trace_filter",
    "trace_replayBlockTransactions": "block:block types:trace_types",
    "trace_replayTransaction": "hash:hash types:trace_types",
    "anvil_mine": "blocks?:quantity interval?:quantity",
    "evm_mine": "",
}
