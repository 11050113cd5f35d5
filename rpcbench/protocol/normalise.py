"""One form for answers that mean the same: what nodes may write as they like is written one way.

Key order goes with parsing. Hex is brought to one form, optional members that are null or empty are left out, sets
lose their order, packed text is unpacked. What is done to which member of which method stands in a table, with why.
"""

from __future__ import annotations

import binascii
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from rpcbench.protocol.rules import Label
from rpcbench.protocol.starknet import spec_family

# A Cairo 0 program is at most a few megabytes of JSON; more than this is an attack on our memory.
MAX_PROGRAM_BYTES = 64 * 2**20

_HEX = re.compile(r"0[xX][0-9a-fA-F]+")
_SOME_TEXT = "some text"


class Keyed(dict[Label, Any]):
    """A set in an answer: its items by what identifies them, so that an order that means nothing is gone."""


@dataclass(frozen=True, slots=True)
class RpcError:
    """An error in place of an answer. Nodes word the same error differently, so only its code counts."""

    code: int


def normalise(method: str, result: Any) -> Any:
    """The canonical form of a method's result; equal forms mean equal answers. Doing it twice changes nothing.

    Sets come out as `Keyed`. Raises RecursionError for a result that is nested too deeply to be walked.
    """
    value = _Walk(method).result(result)
    return None if value is _DROPPED else value


def not_compared(method: str) -> str | None:
    """Why answers to `method` say nothing about agreement, None where they do."""
    return next((why for pattern, why in _NOT_COMPARED if fnmatchcase(method, pattern)), None)


# What one member's value becomes. Treatments get the raw value and the walk that brings its inside to canonical form.
_Treatment = Callable[[Any, "_Walk"], Any]
_DROPPED = object()


class _Walk:
    """Brings one method's values to canonical form."""

    def __init__(self, method: str) -> None:
        self._whole, self._members = _treatments(method)
        self._leaf = minimal if _is_starknet(method) else _lower

    def result(self, value: Any) -> Any:
        """A whole result."""
        return self(value) if self._whole is None else self._whole(value, self)

    def __call__(self, value: Any) -> Any:
        """Any value inside it."""
        if isinstance(value, dict):
            return self._object(value)
        if isinstance(value, list):
            return [self(item) for item in value]
        return self._leaf(value) if isinstance(value, str) else value

    def _object(self, value: dict[str, Any]) -> dict[str, Any]:
        treated = ((key, self._member(key, item)) for key, item in value.items())
        return {key: item for key, item in treated if item is not _DROPPED}

    def _member(self, key: str, value: Any) -> Any:
        treatment = self._members.get(key)
        return self(value) if treatment is None else treatment(value, self)


def _is_starknet(method: str) -> bool:
    return method.startswith(("starknet_", "juno_", "pathfinder_", "devnet_"))


def minimal(text: str) -> str:
    """Hex as a number: lower case, no leading zeros. Other text is left alone."""
    return f"0x{text[2:].lower().lstrip('0') or '0'}" if _HEX.fullmatch(text) else text


def _lower(text: str) -> str:
    """Hex as bytes: leading zeros count."""
    return text.lower() if _HEX.fullmatch(text) else text


# --- treatments ---------------------------------------------------------------------------------------------------


def _dropped(_value: Any, _walk: _Walk) -> Any:
    return _DROPPED


def _optional(value: Any, walk: _Walk) -> Any:
    """Absent, null and empty are one."""
    inside = walk(value)
    return _DROPPED if _is_empty(inside) else inside


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str | list | dict) and not value)


def _presence(value: Any, _walk: _Walk) -> Any:
    """That there is a text counts, not which."""
    return _DROPPED if _is_empty(value) else _SOME_TEXT


def _finality(value: Any, walk: _Walk) -> Any:
    return "ACCEPTED_ON_L2" if value == "ACCEPTED_ON_L1" else walk(value)


def _quantity(value: Any, walk: _Walk) -> Any:
    if isinstance(value, list):
        return [_quantity(item, walk) for item in value]
    return minimal(value) if isinstance(value, str) else walk(value)


def _optional_quantity(value: Any, walk: _Walk) -> Any:
    return _DROPPED if _is_empty(value) else _quantity(value, walk)


def _unless_zero(value: Any, walk: _Walk) -> Any:
    inside = _optional_quantity(value, walk)
    return _DROPPED if _is_zero(inside) else inside


def _set_of(*names: str) -> _Treatment:
    """A list without order, whose items are told apart by the members `names`, or by themselves."""

    def treat(value: Any, walk: _Walk) -> Any:
        if not isinstance(value, list | Keyed):
            return walk(value)
        return _keyed((walk(item) for item in _items(value)), names)

    return treat


def _optional_set_of(*names: str) -> _Treatment:
    treat_set = _set_of(*names)

    def treat(value: Any, walk: _Walk) -> Any:
        inside = treat_set(value, walk)
        return _DROPPED if _is_empty(inside) else inside

    return treat


def _sets_of(*names: str) -> _Treatment:
    """A list without order of such sets."""
    treat_set = _set_of(*names)

    def treat(value: Any, walk: _Walk) -> Any:
        return sorted((treat_set(item, walk) for item in value), key=_text) if isinstance(value, list) else walk(value)

    return treat


def _items(value: list[Any] | Keyed) -> Iterable[Any]:
    return value.values() if isinstance(value, Keyed) else value


def _keyed(items: Iterable[Any], names: tuple[str, ...]) -> Keyed:
    """A set as a mapping. Equal items count once; different ones with one name are numbered."""
    different = {_text(item): item for item in items}
    keyed = Keyed()
    times: dict[str, int] = {}
    for _, item in sorted(different.items()):
        name = _name(item, names)
        times[name] = times.get(name, 0) + 1
        keyed[Label(name if times[name] == 1 else f"{name}#{times[name]}")] = item
    return keyed


def _name(item: Any, names: tuple[str, ...]) -> str:
    if isinstance(item, dict):
        return ",".join(f"{name}={_bare(item[name])}" for name in names if name in item)
    return _bare(item)


def _bare(value: Any) -> str:
    return value if isinstance(value, str) else _text(value)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _program(value: Any, walk: _Walk) -> Any:
    """The program in base64 of gzip of JSON; text that is none of that, or is far too long, stays what it is."""
    packed = _from_base64(value) if isinstance(value, str) else b""
    unpacked = _gunzipped(packed, MAX_PROGRAM_BYTES) if packed else None
    program = None if unpacked is None else _json_inside(unpacked)
    return value if isinstance(value, str) and program is None else walk(value if program is None else program)


def _from_base64(text: str) -> bytes:
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        return b""


def _gunzipped(packed: bytes, limit_bytes: int) -> bytes | None:
    """One whole gzip stream, None for anything else and for what would grow beyond the limit."""
    stream = zlib.decompressobj(wbits=31)
    try:
        unpacked = stream.decompress(packed, limit_bytes)
    except zlib.error:
        return None
    return unpacked if stream.eof and not stream.unused_data else None


def _json_inside(text: str | bytes) -> Any:
    """A JSON object or list, None for anything else."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _abi(value: Any, walk: _Walk) -> Any:
    inside = _json_inside(value) if isinstance(value, str) else value
    return _optional(value if inside is None else inside, walk)


def _resources(value: Any, walk: _Walk) -> Any:
    return _without_zeros(walk(value))


def _without_zeros(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    inside = {key: _without_zeros(item) for key, item in value.items()}
    return {key: item for key, item in inside.items() if not (_is_zero(item) or _is_empty(item))}


def _is_zero(value: Any) -> bool:
    return value == "0x0" or (isinstance(value, int | float) and not isinstance(value, bool) and value == 0)


def _block(value: Any, walk: _Walk) -> Any:
    """A header without the commitments that blocks before Starknet 0.13.2 do not really have."""
    block = walk(value)
    if not isinstance(block, dict) or not _is_old(block.get("starknet_version")):
        return block
    return {key: item for key, item in block.items() if not key.endswith("_commitment")}


def _is_old(version: Any) -> bool:
    numbers = re.findall(r"\d+", version)[:3] if isinstance(version, str) else ["1"]
    return tuple(int(number[:9]) for number in numbers) < (0, 13, 2)


def _family(value: Any, walk: _Walk) -> Any:
    return spec_family(value) if isinstance(value, str) and re.match(r"v?\d", value) else walk(value)


# --- the table ----------------------------------------------------------------------------------------------------

_WHOLE = "$"
_HASH_MAPS = "nodes iterate hash maps: the order is random, even on one node"
_ORDERLESS = "the specification gives no order"
_MAY_LACK = "optional: some write null or an empty value, some nothing"
_WORDING = "free text: every virtual machine words it in its own way"
_PADDING = "a quantity: leading zeros mean nothing"

# Methods, members, treatment, why. `$` is the whole result. The first row that names a member decides.
_TABLE: tuple[tuple[str, str, _Treatment, str], ...] = (
    ("starknet_*", "storage_diffs", _set_of("address"), _HASH_MAPS),
    ("starknet_*", "storage_entries", _set_of("key"), _HASH_MAPS),
    ("starknet_*", "nonces replaced_classes", _set_of("contract_address"), _HASH_MAPS),
    ("starknet_*", "deployed_contracts", _set_of("address"), _HASH_MAPS),
    ("starknet_*", "declared_classes", _set_of("class_hash"), _HASH_MAPS),
    ("starknet_*", "deprecated_declared_classes", _set_of(), _HASH_MAPS),
    ("starknet_*", "migrated_compiled_classes", _optional_set_of("class_hash"), "new in specification 0.10"),
    ("starknet_*", "storage", _set_of("contract_address", "key"), _HASH_MAPS),  # in initial_reads, as the next two
    ("starknet_*", "class_hashes", _set_of("contract_address"), _HASH_MAPS),
    ("starknet_*", "declared_contracts", _set_of("class_hash"), _HASH_MAPS),
    ("starknet_getStorageProof", "classes_proof nodes", _set_of("node_hash"), _ORDERLESS),
    ("starknet_getStorageProof", "contracts_storage_proofs", _sets_of("node_hash"), "Juno iterates a map"),
    ("starknet_getStorageProof", "storage_root", _optional, _MAY_LACK),
    ("starknet_getClass*", "program", _program, "gzip in base64: every node has its own compressor"),
    ("starknet_getClass*", "abi", _abi, "JSON inside a string, spaced as the node likes; optional"),
    ("starknet_getClass*", "inputs outputs members stateMutability debug_info", _optional, _MAY_LACK),
    ("starknet_getClass*", "CONSTRUCTOR EXTERNAL L1_HANDLER", _optional, "no entry points, or an empty list of them"),
    ("starknet_getCompiledCasm", "pythonic_hints bytecode_segment_lengths compiler_version", _optional, _MAY_LACK),
    ("starknet_getEvents", "continuation_token", _dropped, "every node has its own tokens"),
    ("starknet_trace*", "execution_resources", _dropped, "versions of the virtual machine count differently"),
    ("starknet_simulate*", "execution_resources", _dropped, "versions of the virtual machine count differently"),
    ("starknet_*", "execution_resources", _resources, "zero counters are written or left out"),
    ("starknet_*", "revert_reason revert_error failure_reason", _presence, _WORDING),
    ("starknet_*", "finality_status status", _finality, "each node polls L1 in its own time"),
    ("starknet_*", "block_hash block_number proof_facts last_update_block", _optional, _MAY_LACK),
    ("starknet_*", "state_diff validate_invocation fee_transfer_invocation initial_reads", _optional, _MAY_LACK),
    ("starknet_getBlockWith*", _WHOLE, _block, "Pathfinder gives 0x0 for commitments of old blocks"),
    ("starknet_specVersion", _WHOLE, _family, "patch levels change wording only"),
    ("eth_getBlock*", "totalDifficulty", _dropped, "left the specification; some still send it"),
    ("eth_*", "blockTimestamp", _dropped, "follows from the block; not every client repeats it"),
    ("eth_*Receipt*", "blobGasPrice", _dropped, "follows from the block; some give it for every transaction"),
    ("eth_*Receipt*", "blobGasUsed", _unless_zero, "zero unless the transaction carries blobs"),
    ("eth_createAccessList", "accessList", _set_of("address"), _ORDERLESS),
    ("eth_createAccessList", "storageKeys", _set_of(), _ORDERLESS),
    ("eth_*", "to contractAddress accessList blobVersionedHashes authorizationList", _optional, _MAY_LACK),
    ("eth_*", "withdrawals root blockHash", _optional, _MAY_LACK),
    ("eth_*", "yParity chainId reward", _optional_quantity, _MAY_LACK),
    (
        "eth_*",
        "number difficulty gasLimit gasUsed timestamp size baseFeePerGas blobGasUsed excessBlobGas blockNumber "
        "transactionIndex logIndex cumulativeGasUsed effectiveGasPrice gas gasPrice maxFeePerGas maxPriorityFeePerGas "
        "maxFeePerBlobGas nonce value v r s type status index validatorIndex amount balance key oldestBlock "
        "baseFeePerBlobGas",
        _quantity,
        _PADDING,
    ),
    ("eth_getBalance", _WHOLE, _quantity, _PADDING),
    ("eth_get*Count*", _WHOLE, _quantity, _PADDING),
    ("eth_getStorageAt", _WHOLE, _quantity, "a word of 32 bytes, which some shorten"),
    ("eth_chainId", _WHOLE, _quantity, _PADDING),
    ("eth_estimateGas", _WHOLE, _quantity, _PADDING),
    ("eth_createAccessList", "error", _presence, _WORDING),
    ("debug_trace*", "gas gasUsed value", _quantity, _PADDING),
    ("debug_trace*", "error revertReason", _presence, _WORDING),
    ("trace_*", "gas gasUsed value", _quantity, _PADDING),
    ("trace_*", "error", _presence, _WORDING),
)

_NOT_COMPARED = (
    ("*_syncing", "tells the node's own progress"),
    ("*_blockNumber", "tells the node's own head"),
    ("starknet_blockHashAndNumber", "tells the node's own head"),
    ("eth_gasPrice", "is the node's own advice"),
    ("eth_maxPriorityFeePerGas", "is the node's own advice"),
    ("eth_blobBaseFee", "is that of the node's own next block"),
    ("eth_accounts", "lists the node's own accounts"),
    ("net_listening", "tells the node's own network"),
    ("net_peerCount", "tells the node's own network"),
    ("txpool_*", "shows the node's own pool"),
    ("*_clientVersion", "names the client"),
    ("juno_version", "names the client"),
    ("pathfinder_version", "names the client"),
    ("devnet_getConfig", "tells the node's own settings"),
)


@lru_cache(maxsize=512)
def _treatments(method: str) -> tuple[_Treatment | None, dict[str, _Treatment]]:
    """What is done to a method's whole result, and to its members by name."""
    members: dict[str, _Treatment] = {}
    for name, treatment in _rows(method):
        members.setdefault(name, treatment)
    return members.pop(_WHOLE, None), members


def _rows(method: str) -> Iterator[tuple[str, _Treatment]]:
    for pattern, names, treatment, _why in _TABLE:
        if fnmatchcase(method, pattern):
            yield from ((name, treatment) for name in names.split())
