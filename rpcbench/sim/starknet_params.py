"""Decoding Starknet parameters as Juno (lenient) and Pathfinder (strict) do, each with its own complaints."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from rpcbench.sim.answer import Refusal

_FELT = re.compile(r"0x[0-9a-fA-F]{1,64}")
_TOKEN = re.compile(r"(\d{1,12})-(\d{1,12})")
_FILTER_FIELDS = ("from_block", "to_block", "address", "keys", "chunk_size", "continuation_token")


@dataclass(frozen=True, slots=True)
class BlockId:
    """What the client named: a number, a hash or a tag; the other two are None."""

    number: int | None = None
    hash: int | None = None
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class EventFilter:
    """A decoded getEvents filter. None in `addresses` or at a position of `keys` lets everything through."""

    from_block: BlockId | None
    to_block: BlockId | None
    addresses: frozenset[str] | None
    keys: tuple[frozenset[str] | None, ...]
    chunk_size: int
    token: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Decoder:
    """One node's way with parameters, for one version of the specification (0.8 is 8)."""

    strict: bool
    spec: int

    def bind(self, required: tuple[str, ...], optional: tuple[str, ...], params: Any) -> dict[str, Any]:
        """Parameters by name, from an object or from an array in the specification's order."""
        names = required + optional
        if params is None:
            params = {}
        if not names and params:
            raise self.invalid("This method takes no inputs" if self.strict else "missing/unexpected params in list")
        if isinstance(params, list):
            if len(params) > len(names):
                raise self.invalid("too many fields" if self.strict else "missing/unexpected params in list")
            params = dict(zip(names, params, strict=False))
        if not isinstance(params, dict):
            raise self.invalid("invalid type, expected a struct")
        if missing := [name for name in required if name not in params]:
            raise self.missing(missing[0])
        if unexpected := sorted(set(params) - set(names)):
            listed = _quoted(unexpected)
            raise self.invalid(f"unexpected {listed}" if self.strict else f"unexpected params: {', '.join(unexpected)}")
        return dict(params)

    def invalid(self, reason: str) -> Refusal:
        """-32602 in this node's words."""
        if self.strict:
            return Refusal(-32602, "Invalid params", {"reason": reason})
        return Refusal(-32602, "Invalid Params", reason)

    def missing(self, name: str) -> Refusal:
        """-32602 for a parameter that is not there."""
        return self.invalid(f'missing field: "{name}"' if self.strict else f"missing non-optional param: {name}")

    def block_id(self, value: Any) -> BlockId:
        """A block by number, hash or tag; which tags there are depends on node and version."""
        tags = {"latest", "pending" if self.spec <= 8 else "pre_confirmed"}
        if self.strict or self.spec > 8:
            tags.add("l1_accepted")
        if isinstance(value, str) and value in tags:
            return BlockId(tag=value)
        if isinstance(value, dict) and (len(value) == 1 or not self.strict):
            number, block_hash = value.get("block_number"), value.get("block_hash")
            if type(number) is int and number >= 0:
                return BlockId(number=number)
            if isinstance(block_hash, str):
                return BlockId(hash=int(self.felt(block_hash), 16))
        raise self.invalid("Invalid block id" if self.strict else "unknown block id")

    def felt(self, value: Any) -> str:
        """A felt in canonical form: lower case, no leading zeros."""
        if not isinstance(value, str) or not _FELT.fullmatch(value):
            raise self.invalid("invalid hex string" if self.strict else "invalid felt")
        return hex(int(value, 16))

    def index(self, value: Any) -> int:
        """A position in a block."""
        if type(value) is not int or value < 0:
            raise self.invalid("invalid index" if self.strict else "Invalid transaction index")
        return value

    def event_filter(self, value: Any) -> EventFilter:
        """A getEvents filter: the strict node refuses unknown fields, the lenient one never looks at them."""
        if not isinstance(value, dict):
            raise self.invalid("expected a struct" if self.strict else "json: cannot unmarshal into EventsArg")
        if self.strict and (unexpected := sorted(set(value) - set(_FILTER_FIELDS))):
            raise self.invalid(f'unexpected {_quoted(unexpected)} for "filter"')
        keys = value.get("keys") or []
        first, last = value.get("from_block"), value.get("to_block")
        chunk_size = self._chunk_size(value)
        if not isinstance(keys, list) or not all(isinstance(position, list) for position in keys):
            raise self.invalid("invalid keys")
        self._check_key_count(keys)
        return EventFilter(
            from_block=None if first is None else self.block_id(first),
            to_block=None if last is None else self.block_id(last),
            addresses=self._addresses(value.get("address")),
            keys=tuple(frozenset(map(self.felt, position)) or None for position in keys),
            chunk_size=chunk_size,
            token=self._token(value.get("continuation_token")),
        )

    def _chunk_size(self, value: dict[str, Any]) -> int:
        size = value.get("chunk_size", None if self.strict else 0)
        if size is None:
            raise self.missing("chunk_size")
        if type(size) is not int or size < 0:
            raise self.invalid("invalid chunk_size")
        if size == 0 and self.strict:
            reason = "requested page size is too small, supported minimum is 1"
            raise Refusal(-32603, "Internal error", {"error": reason})
        if size == 0:
            key = "EventsArg.ResultPageRequest.ChunkSize"
            raise self.invalid(f"Key: '{key}' Error:Field validation for 'ChunkSize' failed on the 'min' tag")
        if size > (1024 if self.strict else 10240):
            raise Refusal(31, "Requested page size is too big")
        return size

    def _check_key_count(self, keys: list[list[Any]]) -> None:
        count = len(keys) if self.strict else len(keys) + sum(map(len, keys))
        limit = 16 if self.strict else 1024
        if count > limit:
            data = {"limit": limit, "requested": count} if self.strict else None
            raise Refusal(34, "Too many keys provided in a filter", data)

    def _addresses(self, value: Any) -> frozenset[str] | None:
        if value is None:
            return None
        if isinstance(value, list) and self.spec >= 10:
            return frozenset(map(self.felt, value)) or None
        return frozenset({self.felt(value)})

    def _token(self, value: Any) -> tuple[int, int] | None:
        if value is None or (value == "" and not self.strict):
            return None
        match = _TOKEN.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            spec_text = "The supplied continuation token is invalid or unknown"
            raise Refusal(33, spec_text if self.strict else "Invalid continuation token")
        return int(match[1]), int(match[2])


def _quoted(names: list[str]) -> str:
    listed = ", ".join(f'"{name}"' for name in names)
    return f"field{'s' if len(names) > 1 else ''}: {listed}"
