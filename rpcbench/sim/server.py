"""HTTP/1.1 in front of a Service: keep-alive, replies held until they are due, and the admin path `/_sim`."""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import json
import socket
import struct
import sys
from collections import deque
from collections.abc import Callable, Coroutine
from time import monotonic_ns
from typing import Any, NamedTuple, cast

import httptools

from rpcbench.errors import UsageError
from rpcbench.sim.holds import Holds, Workers
from rpcbench.sim.service import Reply, Service
from rpcbench.sim.spec import Failure, SimSpec

_REASONS = {
    200: b"OK",
    400: b"Bad Request",
    401: b"Unauthorized",
    404: b"Not Found",
    405: b"Method Not Allowed",
    413: b"Payload Too Large",
    415: b"Unsupported Media Type",
    429: b"Too Many Requests",
    503: b"Service Unavailable",
}
_LINGER_NOT = struct.pack("ii", 1, 0)
_PREPARE_AFTER_S, _PREPARE_EVERY_S = 1.0, 0.004


class _Request(NamedTuple):
    http_method: bytes
    target: str
    content_type: bytes
    credential: bytes
    body: bytes
    arrived_ns: int
    keep_alive: bool


class Server:
    """One listening node: a service, its workers, the replies it holds back, and its connections."""

    def __init__(self, spec: SimSpec, loop: asyncio.AbstractEventLoop) -> None:
        self.spec = spec
        self.service = Service(spec)
        self.holds = Holds(loop)
        self.workers = Workers(spec.workers)
        self.connections: set[_Connection] = set()
        self.credential_header = b""
        self._loop = loop
        self._listener: asyncio.Server | None = None
        self._prepared = 0

    async def start(self) -> str:
        """Listen and return the base URL. Raises UsageError when the address cannot be had."""
        self._read_credential_header()
        host, port = self.spec.host, self.spec.port
        try:
            self._listener = await self._loop.create_server(lambda: _Connection(self), host, port, backlog=2048)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "no such address"
            sentence = f"the embedded node cannot listen on {host}:{port}: {reason}; choose another port"
            raise UsageError(sentence) from None
        self._loop.call_later(_PREPARE_AFTER_S, self._prepare)
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self._listener.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        """Close the listener and every connection; what is held is dropped."""
        if self._listener is not None:
            self._listener.close()
        self.holds.close()
        for connection in list(self.connections):
            connection.abort()

    def admin(self, request: _Request) -> Reply:
        """GET reads the counters (`?ids=1` with request ids), POST switches faults, DELETE counts from nought."""
        service = self.service
        try:
            if request.http_method == b"POST":
                service.set_faults(service.faults.changed(json.loads(request.body)))
                self._read_credential_header()
            elif request.http_method == b"DELETE":
                service.counters = service.counters.restarted()
        except (ValueError, TypeError, AttributeError, UsageError) as error:
            return Reply(400, json.dumps({"error": str(error)}).encode())
        report = service.counters.report(with_ids="ids=1" in request.target)
        about = {"personality": self.spec.personality, "head": service.head, "lateness_us": self.holds.lateness_us()}
        return Reply(200, json.dumps(about | report).encode())

    def _read_credential_header(self) -> None:
        required = self.service.faults.required_header
        self.credential_header = required[0].lower().encode() if required else b""

    def _prepare(self) -> None:
        """Make the old blocks one by one in the quiet after the start."""
        if self.service.prepare(self._prepared):
            self._prepared += 1
            self._loop.call_later(_PREPARE_EVERY_S, self._prepare)


class _Connection(asyncio.Protocol):
    """One client. Requests that come while one is being answered wait, so that replies keep their order."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._parser = httptools.HttpRequestParser(self)
        self._waiting: deque[_Request] = deque()
        self._busy = False
        self._arrived_ns = 0
        self._transport: asyncio.Transport
        self._target = ""
        self._content_type = self._credential = self._body = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._server.connections.add(self)
        counters = self._server.service.counters
        counters.connections += 1
        counters.open_connections += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self)
        self._server.service.counters.open_connections -= 1
        self._waiting.clear()
        del self._parser  # it holds this connection as this holds it, and nobody collects cycles here

    def data_received(self, data: bytes) -> None:
        self._arrived_ns = monotonic_ns()
        if self._transport.is_closing():
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            return  # the request was answered as if it had not asked for one
        except httptools.HttpParserError:
            self._send(Reply(400, b"", None), keep_alive=False)

    def on_url(self, url: bytes) -> None:
        self._target += url.decode("latin-1")  # it comes in pieces when the packets do

    def on_header(self, name: bytes, value: bytes) -> None:
        lowered = name.lower()
        if lowered == b"content-type":
            self._content_type = value
        elif lowered == b"expect":
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if lowered == self._server.credential_header:
            self._credential = value

    def on_body(self, body: bytes) -> None:
        self._body = self._body + body if self._body else body
        if len(self._body) > self._server.service.body_limit_bytes and not self._transport.is_closing():
            self._send(Reply(413, b"", None), keep_alive=False)

    def on_message_complete(self) -> None:
        if self._transport.is_closing():
            return
        request = _Request(
            self._parser.get_method(),
            self._target,
            self._content_type,
            self._credential,
            self._body,
            self._arrived_ns,
            self._parser.should_keep_alive(),
        )
        self._target = ""
        self._content_type = self._credential = self._body = b""
        if self._busy:
            self._waiting.append(request)
        else:
            self._answer(request)

    def abort(self) -> None:
        """Close at once."""
        self._transport.abort()

    def _answer(self, request: _Request) -> None:
        server = self._server
        if request.target.partition("?")[0] == "/_sim" and self._is_local():
            self._send(server.admin(request), keep_alive=request.keep_alive)
            return
        reply = server.service.reply(
            request.http_method, request.target, request.content_type, request.credential, request.body
        )
        due_ns = server.workers.done_at(request.arrived_ns, reply.service_ns) + server.service.delay_ns
        if due_ns <= monotonic_ns():
            self._deliver(reply, request.keep_alive)
        else:
            self._busy = True
            server.holds.until(due_ns, functools.partial(self._held_long_enough, reply, request.keep_alive))

    def _held_long_enough(self, reply: Reply, keep_alive: bool) -> None:
        if self._transport.is_closing():
            return
        self._busy = False
        self._deliver(reply, keep_alive)
        while self._waiting and not self._busy and not self._transport.is_closing():
            self._answer(self._waiting.popleft())

    def _deliver(self, reply: Reply, keep_alive: bool) -> None:
        if reply.failure is None:
            self._send(reply, keep_alive=keep_alive)
        elif reply.failure is Failure.SILENT:
            self._busy = True  # for ever
        elif reply.failure is Failure.TRUNCATED:
            self._transport.write(_head(reply, keep_alive) + reply.body[: len(reply.body) // 2])
            self._transport.close()
        elif reply.failure is Failure.RESET:
            self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
            self._transport.abort()

    def _send(self, reply: Reply, *, keep_alive: bool) -> None:
        self._transport.write(_head(reply, keep_alive) + reply.body)
        if not keep_alive:
            self._transport.close()

    def _is_local(self) -> bool:
        return ipaddress.ip_address(self._transport.get_extra_info("peername")[0]).is_loopback


def _head(reply: Reply, keep_alive: bool) -> bytes:
    content_type = b"" if reply.content_type is None else b"Content-Type: %b\r\n" % reply.content_type
    connection = b"" if keep_alive else b"Connection: close\r\n"
    return b"HTTP/1.1 %d %b\r\n%b%b%bContent-Length: %d\r\n\r\n" % (
        reply.status,
        _REASONS[reply.status],
        content_type,
        connection,
        reply.headers,
        len(reply.body),
    )


def run_loop(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run `main` on the event loop that suits the machine: uvloop with our timerfd on Linux, else asyncio's own."""
    if sys.platform == "linux":
        import uvloop

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(main())
    else:
        asyncio.run(main())
