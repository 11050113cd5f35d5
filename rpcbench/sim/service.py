"""From a JSON-RPC body to the bytes of its reply, and how long that takes: the embedded node without its sockets."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

import msgspec

from rpcbench.sim.answer import Keep, Refusal
from rpcbench.sim.backends import backend_of
from rpcbench.sim.chain import Growth
from rpcbench.sim.counters import Counters
from rpcbench.sim.dialects import JSON_TYPE, TEXT_TYPE, dialect_of
from rpcbench.sim.laws import Laws
from rpcbench.sim.spec import Failure, Faults, SimSpec

_REMEMBERED_BYTES = 96 * 2**20
_FALSIFIED: Mapping[Failure, Callable[[bytes], bytes]] = {
    Failure.EMPTY_RESULT: lambda result: b'{"events":[]}' if result[:10] == b'{"events":' else result[:1] + result[-1:],
    Failure.ALTERED: lambda result: result.replace(b'"0x', b'"0x1', 1),
    Failure.PADDED: lambda result: result[:1] + b" " * (2 * len(result)) + result[1:],
}
_REFUSALS = {
    Failure.RPC_ERROR: Refusal(-32603, "Internal error"),
    Failure.REVERTED: Refusal(40, "Contract error"),
}
_IN_BODY = frozenset((Failure.NULL_RESULT, Failure.CONSTANT, Failure.WRONG_ID, *_REFUSALS, *_FALSIFIED))
_NOT_JSON = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_RETRY = b"Retry-After: 1\r\n"


@dataclass(slots=True)
class Reply:
    """An HTTP reply to be sent once `service_ns` of a worker's time have passed; `failure` spoils it on the way."""

    status: int
    body: bytes
    content_type: bytes | None = JSON_TYPE
    headers: bytes = b""
    service_ns: int = 0
    failure: Failure | None = None


class _Plain(msgspec.Struct):
    """The request that a load generator sends; whatever is not one goes the slow way."""

    jsonrpc: Literal["2.0"]
    id: int
    method: str
    params: msgspec.Raw = msgspec.Raw(b"null")


@dataclass(slots=True)
class _Item:
    """One JSON-RPC reply. `body` is empty for a notification."""

    body: bytes
    service_ns: int
    failure: Failure | None = None


class Service:
    """One node's answers: a dialect over a backend, with remembered replies, laws of latency, and faults."""

    def __init__(self, spec: SimSpec) -> None:
        self.counters = Counters()
        self.faults = spec.faults
        self._spec = spec
        self._growth = Growth(spec.epoch_unix_s, spec.start_blocks, spec.block_interval_s)
        self._dialect = dialect_of(spec.personality)
        self._laws = Laws(spec.personality, spec.seed, spec.pace)
        self._rng = Random(f"failures/{spec.seed}")
        self._plain = msgspec.json.Decoder(_Plain)
        self._items = msgspec.json.Decoder(list[msgspec.Raw])
        self._backend = backend_of(spec, self._dialect, self._growth)
        self._frozen_head: int | None = None
        self._head_seen = -1
        self.set_faults(spec.faults)

    def set_faults(self, faults: Faults) -> None:
        """Be faulty in this way from now on; nothing that was remembered stays."""
        if not faults.freeze_head:
            self._frozen_head = None
        elif self._frozen_head is None:
            self._frozen_head = self._growth.head(time.time())
        self.faults = faults
        self._reply_headers = b"".join(f"{name}: {value}\r\n".encode() for name, value in faults.reply_headers.items())
        self._backend.set_faults(faults)
        self._paths = self._dialect.paths(faults.spec_versions)
        self._shares = [(Failure(kind), share) for kind, share in faults.failures.items() if share > 0]
        self._for_ever: dict[tuple[int, str, bytes], bytes | Refusal] = {}
        self._for_this_head: dict[tuple[int, str, bytes], bytes | Refusal] = {}
        self._remembered_bytes = 0
        self._constants: dict[str, bytes] = {}

    @property
    def head(self) -> int:
        """The highest block this node knows of."""
        head = self._growth.head(time.time()) if self._frozen_head is None else self._frozen_head
        return max(0, head - self.faults.lag_blocks)

    @property
    def delay_ns(self) -> int:
        """The constant hold on top of service and queueing."""
        return round((self._spec.delay_ms + self.faults.delay_ms) * 1e6)

    @property
    def body_limit_bytes(self) -> int:
        """Longer requests are refused unread."""
        return self._dialect.body_limit_bytes

    def prepare(self, number: int) -> bool:
        """Make block `number` ahead of the first request for it; False when that is no use any more."""
        if number >= min(self._spec.start_blocks, 500):
            return False
        self._backend.prepare(number)
        return True

    def reply(self, http_method: bytes, target: str, content_type: bytes, credential: bytes, body: bytes) -> Reply:
        """Answer one HTTP request; `credential` is what came in the header that the faults require."""
        reply = self._reply(http_method, target, content_type, credential, body)
        if self._reply_headers:
            reply.headers += self._reply_headers
        return reply

    def _reply(self, http_method: bytes, target: str, content_type: bytes, credential: bytes, body: bytes) -> Reply:
        counters = self.counters
        counters.http_requests += 1
        required = self.faults.required_header
        if required is not None and credential != required[1].encode():
            return Reply(401, b"unauthorized\n", TEXT_TYPE)
        path = target.partition("?")[0]
        version = self._paths.get(path)
        refusal = self._dialect.http_refusal(http_method, version is not None, path, content_type)
        if refusal is not None or version is None:
            status, refused_type, refused_body = refusal or (404, None, b"")
            return Reply(status, refused_body, refused_type)
        if body[:1] == b"[" or body.lstrip()[:1] == b"[":
            return self._batch(body, version)
        item = self._item(body, version)
        return self._http(item.body, item.service_ns, item.failure)

    def _http(self, body: bytes, service_ns: int, failure: Failure | None) -> Reply:
        """The reply around a body, changed where a failure is one of HTTP."""
        if failure is None:
            return Reply(200, body, service_ns=service_ns)
        if failure in (Failure.HTTP_429, Failure.HTTP_503):
            status = 429 if failure is Failure.HTTP_429 else 503
            return Reply(status, b"Too many requests\n", TEXT_TYPE, _RETRY, service_ns)
        if failure is Failure.HTML:
            page = b"<!DOCTYPE html><html><body><h1>It works!</h1></body></html>\n"
            return Reply(200, page, b"text/html", service_ns=service_ns)
        if failure is Failure.EMPTY:
            return Reply(200, b"", service_ns=service_ns)
        if failure is Failure.CUT_JSON:
            return Reply(200, body[: len(body) // 2], service_ns=service_ns)
        return Reply(200, body, service_ns=service_ns, failure=failure)

    def _batch(self, body: bytes, version: int) -> Reply:
        try:
            raws = self._items.decode(body)
        except _NOT_JSON as error:
            self.counters.malformed += 1
            return Reply(200, self._dialect.malformed(body, str(error)))
        if not raws:
            return Reply(200, self._dialect.error(b"null", self._dialect.empty_batch()))
        items = [self._item(bytes(raw), version) for raw in raws]
        if self._dialect.batch_in_order:
            service_ns = sum(item.service_ns for item in items)
        else:
            items.sort(key=lambda item: item.service_ns)
            service_ns = items[-1].service_ns
        answered = [item.body for item in items if item.body]
        failure = next((item.failure for item in items if item.failure is not None), None)
        return self._http(b"[%b]" % b",".join(answered) if answered else b"", service_ns, failure)

    def _item(self, body: bytes, version: int) -> _Item:
        """Answer one request; the usual kind is decoded in one step."""
        try:
            plain = self._plain.decode(body)
        except _NOT_JSON:
            return self._odd_item(body, version)
        params = bytes(plain.params)
        if params[:1] not in (b"{", b"[", b"n"):
            return self._odd_item(body, version)
        return self._ask(b"%d" % plain.id, plain.id, plain.method, params, version)

    def _odd_item(self, body: bytes, version: int) -> _Item:
        """Answer a notification, an odd id, a malformed request."""
        try:
            request = msgspec.json.decode(body)
        except _NOT_JSON as error:
            self.counters.malformed += 1
            return _Item(self._dialect.malformed(body, str(error)), 0)
        id_json, refusal = self._dialect.check(request)
        if refusal is not None:
            self.counters.malformed += 1
            return _Item(self._dialect.error(id_json, refusal), 0)
        params = msgspec.json.encode(request.get("params"))
        silent = "id" not in request or (request["id"] is None and self._dialect.null_id_is_notification)
        if not silent:
            return self._ask(id_json, request["id"], request["method"], params, version)
        self.counters.notifications += 1
        if not self._dialect.runs_notifications:
            return _Item(b"", 0)
        return _Item(b"", self._ask(b"null", None, request["method"], params, version).service_ns)

    def _ask(self, id_json: bytes, identity: Any, method: str, params: bytes, version: int) -> _Item:
        counters = self.counters
        counters.requests += 1
        counters.by_method[method] += 1
        if identity is not None:
            counters.ids[identity] += 1
        if self.faults.stop_after is not None and counters.requests > self.faults.stop_after:
            os._exit(0)
        answer = self._remembered(version, method, params)
        failure = self._draw_failure(method) if self._shares else None
        if failure is not None:
            counters.failures[failure] += 1
            answer, id_json = self._spoil(failure, method, answer, id_json)
        if isinstance(answer, Refusal):
            body = self._dialect.error(id_json, answer)
        else:
            body = self._dialect.ok(id_json, answer)
        return _Item(body, self._laws.service_ns(method, len(body)), failure if failure not in _IN_BODY else None)

    def _draw_failure(self, method: str) -> Failure | None:
        if self.faults.methods and method not in self.faults.methods:
            return None
        draw = self._rng.random()
        for kind, share in self._shares:
            if draw < share:
                return kind
            draw -= share
        return None

    def _spoil(
        self, failure: Failure, method: str, answer: bytes | Refusal, id_json: bytes
    ) -> tuple[bytes | Refusal, bytes]:
        """What becomes of an answer and its id under a failure that is inside the body."""
        if failure in _REFUSALS:
            return _REFUSALS[failure], id_json
        if failure is Failure.NULL_RESULT:
            return b"null", id_json
        if failure in _FALSIFIED and isinstance(answer, bytes) and answer[:1] in (b"{", b"[", b'"'):
            return _FALSIFIED[failure](answer), id_json
        if failure is Failure.CONSTANT and isinstance(answer, bytes):
            return self._constants.setdefault(method, answer), id_json
        if failure is Failure.WRONG_ID:
            return answer, b"%d" % (int(id_json) + 1) if id_json.isdigit() else b'"wrong"'
        return answer, id_json

    def _remembered(self, version: int, method: str, params: bytes) -> bytes | Refusal:
        """The answer, from memory where it was given before and still holds."""
        key = (version, method, params)
        known = self._for_ever.get(key)
        if known is not None:
            return known
        head = self.head
        if head != self._head_seen:
            self._for_this_head.clear()
            self._head_seen = head
        known = self._for_this_head.get(key)
        if known is not None:
            return known
        value, keep = self._backend.answer(version, method, params, head)
        answer = value if isinstance(value, Refusal) else self._dialect.encode(value)
        if keep is Keep.FOREVER:
            self._remember(key, answer)
        elif keep is Keep.THIS_HEAD:
            self._for_this_head[key] = answer
        return answer

    def _remember(self, key: tuple[int, str, bytes], answer: bytes | Refusal) -> None:
        size = len(key[2]) + (200 if isinstance(answer, Refusal) else len(answer))
        if self._remembered_bytes + size > _REMEMBERED_BYTES:
            self._for_ever.clear()
            self._remembered_bytes = 0
        self._for_ever[key] = answer
        self._remembered_bytes += size
