"""How each personality speaks around its results: paths, HTTP refusals, envelopes, and odd requests."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Any, ClassVar

import msgspec

from rpcbench.sim.answer import Refusal
from rpcbench.sim.spec import STARKNET_SPECS

JSON_TYPE = b"application/json"
TEXT_TYPE = b"text/plain; charset=utf-8"

HttpRefusal = tuple[int, bytes | None, bytes]  # status, content type, body
_MEDIA_TYPE = re.compile(rb"application/([\w.-]+\+)?json\s*(;.*)?", re.I)


class Dialect(ABC):
    """One node's manners. A version is Starknet's minor number (10 for 0.10), or 0 where there are none."""

    name: ClassVar[str]
    client_version: ClassVar[str]
    version_methods: ClassVar[frozenset[str]]
    sorted_keys: ClassVar[bool] = False
    runs_notifications: ClassVar[bool] = True
    null_id_is_notification: ClassVar[bool] = False
    batch_in_order: ClassVar[bool] = True
    body_limit_bytes: ClassVar[int] = 10 * 2**20

    parse_error: ClassVar[str]
    invalid_request: ClassVar[str]

    def __init__(self) -> None:
        self._encoder = msgspec.json.Encoder(order="sorted" if self.sorted_keys else None)

    @abstractmethod
    def paths(self, specs: Collection[str]) -> dict[str, int]:
        """Which path serves which version, when only these of the Starknet versions are to be served."""

    @abstractmethod
    def method_not_found(self, method: str) -> Refusal:
        """The answer to a method that does not exist, or not at this path."""

    @abstractmethod
    def http_refusal(self, http_method: bytes, known_path: bool, path: str, content_type: bytes) -> HttpRefusal | None:
        """What is answered before the body is looked at, None to go on."""

    def encode(self, value: Any) -> bytes:
        """A result as JSON, its keys in this node's order."""
        return self._encoder.encode(value)

    def ok(self, id_json: bytes, result: bytes) -> bytes:
        """A reply with a result."""
        return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (id_json, result)

    def error(self, id_json: bytes, refusal: Refusal) -> bytes:
        """A reply with an error."""
        return b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (id_json, self.encode(refusal.json()))

    def malformed(self, body: bytes, reason: str) -> bytes:
        """The reply to what is not JSON."""
        return self.error(b"null", Refusal(-32700, self.parse_error))

    @abstractmethod
    def check(self, request: Any) -> tuple[bytes, Refusal | None]:
        """The id to answer with, and what is wrong with the envelope, if anything."""

    @abstractmethod
    def empty_batch(self) -> Refusal:
        """The single answer to a batch of nothing."""


class Pathfinder(Dialect):
    """Strict, alphabetical, one version per path; the root serves 0.8."""

    name = "pathfinder"
    client_version = "v0.22.3+rpcbench-sim"
    version_methods = frozenset({"pathfinder_version"})
    sorted_keys = True
    runs_notifications = False
    parse_error = "Parse error"
    invalid_request = "Invalid request"

    def paths(self, specs: Collection[str]) -> dict[str, int]:
        served = _versions(specs)
        root = 8 if 8 in served else served[-1]
        return {"/": root, "/rpc/pathfinder/v0_1": 0, **{f"/rpc/v0_{v}": v for v in served}}

    def method_not_found(self, method: str) -> Refusal:
        return Refusal(-32601, "Method not found")

    def http_refusal(self, http_method: bytes, known_path: bool, path: str, content_type: bytes) -> HttpRefusal | None:
        if not known_path:
            return 404, None, b""
        if http_method != b"POST":
            return (200 if path == "/" and http_method == b"GET" else 405), None, b""
        return None if _MEDIA_TYPE.fullmatch(content_type) else (415, None, b"")

    def ok(self, id_json: bytes, result: bytes) -> bytes:
        return b'{"id":%b,"jsonrpc":"2.0","result":%b}' % (id_json, result)

    def error(self, id_json: bytes, refusal: Refusal) -> bytes:
        return b'{"error":%b,"id":%b,"jsonrpc":"2.0"}' % (self.encode(refusal.json()), id_json)

    def malformed(self, body: bytes, reason: str) -> bytes:
        cut = "truncated" in reason or not body.strip()
        what, column = ("EOF while parsing a value", len(body)) if cut else ("expected value", 1)
        where = f"{what} at line 1 column {column}"
        return self.error(b"null", Refusal(-32700, self.parse_error, {"reason": where}))

    def check(self, request: Any) -> tuple[bytes, Refusal | None]:
        id_json, reason = b"null", ""
        if not isinstance(request, dict):
            reason = "invalid type: expected struct RpcRequest"
        elif not _is_id(identity := request.get("id")):
            reason = "data did not match any variant of untagged enum IdHelper"
        elif request.get("jsonrpc") != "2.0":
            reason = "Jsonrpc version must be 2.0"
        elif not isinstance(request.get("method"), str):
            reason = "missing field `method`"
        else:
            id_json = msgspec.json.encode(identity)
        return id_json, self._invalid(reason) if reason else None

    def empty_batch(self) -> Refusal:
        return self._invalid("A batch request must contain at least one request")

    def _invalid(self, reason: str) -> Refusal:
        return Refusal(-32600, self.invalid_request, {"reason": reason})


class Juno(Dialect):
    """Lenient, struct order, the id last; the root serves the newest version; batches in order of completion."""

    name = "juno"
    client_version = "v0.16.1-rpcbench-sim"
    version_methods = frozenset({"juno_version"})
    null_id_is_notification = True
    batch_in_order = False
    parse_error = "Parse error"
    invalid_request = "Invalid Request"

    def paths(self, specs: Collection[str]) -> dict[str, int]:
        served = _versions(specs)
        versioned = {f"{prefix}/v0_{v}": v for v in served for prefix in ("", "/rpc")}
        return {"/": served[-1], "/rpc": served[-1], **versioned}

    def method_not_found(self, method: str) -> Refusal:
        return Refusal(-32601, "Method Not Found")

    def http_refusal(self, http_method: bytes, known_path: bool, path: str, content_type: bytes) -> HttpRefusal | None:
        if http_method == b"GET" and path in ("/", "/live", "/ready", "/ready/sync"):
            return 200, None, b""
        if not known_path or http_method == b"GET":
            return 404, TEXT_TYPE, b"404 page not found\n"
        return None if http_method == b"POST" else (405, None, b"")

    def ok(self, id_json: bytes, result: bytes) -> bytes:
        return b'{"jsonrpc":"2.0","result":%b,"id":%b}' % (result, id_json)

    def error(self, id_json: bytes, refusal: Refusal) -> bytes:
        return b'{"jsonrpc":"2.0","error":%b,"id":%b}' % (self.encode(refusal.json()), id_json)

    def malformed(self, body: bytes, reason: str) -> bytes:
        detail = "EOF" if "truncated" in reason or not body.strip() else "invalid character"
        return self.error(b"null", Refusal(-32700, self.parse_error, detail))

    def check(self, request: Any) -> tuple[bytes, Refusal | None]:
        if not isinstance(request, dict):
            return b"null", self._invalid("request should be an object")
        identity = request.get("id")
        if not _is_id(identity):
            return b"null", self._invalid("id should be a string or an integer")
        reason = ""
        if request.get("jsonrpc") != "2.0":
            reason = "unsupported RPC request version"
        elif not request.get("method") or not isinstance(request["method"], str):
            reason = "no method specified"
        elif not isinstance(request.get("params"), list | dict | None):
            reason = "params should be an array or an object"
        return msgspec.json.encode(identity), self._invalid(reason) if reason else None

    def empty_batch(self) -> Refusal:
        return self._invalid("empty batch")

    def _invalid(self, reason: str) -> Refusal:
        return Refusal(-32600, self.invalid_request, reason)


class Geth(Dialect):
    """Ethereum: only the root path, id before result, errors without data."""

    name = "geth"
    client_version = "Geth/v1.17.7-rpcbench-sim/linux-amd64/go1.26"
    version_methods = frozenset[str]()
    body_limit_bytes = 5 * 2**20
    parse_error = "parse error"
    invalid_request = "invalid request"

    def paths(self, specs: Collection[str]) -> dict[str, int]:
        return {"/": 0}

    def method_not_found(self, method: str) -> Refusal:
        return Refusal(-32601, f"the method {method} does not exist/is not available")

    def http_refusal(self, http_method: bytes, known_path: bool, path: str, content_type: bytes) -> HttpRefusal | None:
        if not known_path:
            return 404, TEXT_TYPE, b"404 page not found\n"
        if http_method == b"GET":
            return 200, None, b""
        if http_method != b"POST":
            return 405, TEXT_TYPE, b"method not allowed\n"
        if content_type.split(b";")[0].strip().lower() != JSON_TYPE:
            return 415, TEXT_TYPE, b"invalid content type, only application/json is supported\n"
        return None

    def malformed(self, body: bytes, reason: str) -> bytes:
        return b"" if not body.strip() else super().malformed(body, reason)

    def check(self, request: Any) -> tuple[bytes, Refusal | None]:
        identity = request.get("id") if isinstance(request, dict) else None
        sound = (
            isinstance(request, dict)
            and request.get("jsonrpc") == "2.0"
            and isinstance(request.get("method"), str)
            and isinstance(identity, str | int | float | None)
        )
        shown = identity if isinstance(identity, str | int | float) else None
        return msgspec.json.encode(shown), None if sound else Refusal(-32600, self.invalid_request)

    def empty_batch(self) -> Refusal:
        return Refusal(-32600, "empty batch")


def dialect_of(personality: str) -> Dialect:
    """The dialect of one of `spec.PERSONALITIES`."""
    return {kind.name: kind for kind in (Juno, Pathfinder, Geth)}[personality]()


def _versions(specs: Collection[str]) -> list[int]:
    return [int(spec.split(".")[1]) for spec in STARKNET_SPECS if not specs or spec in specs]


def _is_id(identity: Any) -> bool:
    """Integers, strings and null; True and 1.0 are none."""
    return identity is None or type(identity) in (int, str)
