"""Lanes on httpx. Times are those of httpx's own steps: a little later than the socket's, by what httpx spends.

With HTTP/1.1 every lane keeps one connection of its own, with HTTP/2 all lanes share one. Connections are opened by
the requests that need them, as httpx cannot open them ahead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic_ns
from typing import Any

import h2.exceptions
import httpx

from rpcbench.engine.reply_body import Bodies, MalformedReplyError
from rpcbench.engine.ring import RingWriter
from rpcbench.engine.traffic import Driver, Lane, Traffic, pack_row
from rpcbench.errors import EngineError
from rpcbench.model.samples import Status
from rpcbench.protocol.classify import Reply

_TOO_LATE = Reply(Status.TIMEOUT, 0, 0)
_FAILURES = (httpx.TransportError, h2.exceptions.H2Error, OSError, UnicodeError)
_CLOSED_SILENTLY = "Server disconnected"  # how httpcore begins to say so


class Pool:
    """A place for connections: one lane's own over HTTP/1.1, that of all lanes over HTTP/2."""

    def __init__(self, transport: httpx.AsyncHTTPTransport) -> None:
        self.transport = transport
        self.opened = 0


class HttpxTraffic(Traffic):
    """What the lanes of one trial share. `bodies` are by position in the workload's calls."""

    def __init__(
        self,
        *,
        new_transport: Callable[[], httpx.AsyncHTTPTransport],
        shared: bool,
        url: httpx.URL,
        headers: Sequence[tuple[str, str]],
        bodies: Sequence[bytes],
        ids: Sequence[int],
        timeout_ns: int,
        rows: RingWriter,
        judged: Bodies,
    ) -> None:
        super().__init__(ids, timeout_ns, rows)
        self._new_transport = new_transport
        self._pools: list[Pool] = []
        self.shared = shared
        self.url = url
        self.headers = list(headers)
        self.bodies = bodies
        self.judged = judged

    def pool(self) -> Pool:
        """Where one more lane keeps its connection."""
        if not (self.shared and self._pools):
            self._pools.append(Pool(self._new_transport()))
        return self._pools[-1]

    def _make_lane(self, driver: Driver) -> Lane:
        return HttpxLane(self, driver)

    @property
    def opened(self) -> int:
        return sum(pool.opened for pool in self._pools)

    async def close(self) -> None:
        for pool in self._pools:
            await pool.transport.aclose()


class HttpxLane:
    """At most one request. `sent_ns` stays at the first attempt when a request is sent once more."""

    def __init__(self, traffic: HttpxTraffic, driver: Driver) -> None:
        self._traffic = traffic
        self._driver = driver
        self._pool = traffic.pool()
        self._task: asyncio.Task[None] | None = None
        self._position = 0
        self._fresh = False  # this attempt opened a connection
        self._tunnelling = False  # what is being sent is a CONNECT to a proxy
        self._connecting_since_ns = 0
        self._http_status = 0
        self._received = 0
        self.busy = False
        self.failures = 0
        self.reconnects = 0
        self.due_ns = self.sent_ns = self.first_ns = self.connect_ns = self.reconnect = 0

    @property
    def connected(self) -> bool:
        return self._pool.opened > 0

    async def open_ahead(self) -> None:
        """httpx opens connections for requests only."""

    def start(self, position: int, due_ns: int, now_ns: int) -> None:
        self.busy = True
        self.due_ns = due_ns
        self.sent_ns = self.first_ns = self.connect_ns = self.reconnect = 0
        self._position = position
        self._http_status = self._received = 0
        self._task = asyncio.get_running_loop().create_task(self._exchange())

    def expire(self, now_ns: int) -> None:
        self._charge_connecting(now_ns)
        self._record(_TOO_LATE, now_ns)
        if self._task is not None:
            self._task.cancel()

    async def _exchange(self) -> None:
        """The request's whole life; the lane is ready again once its connection is at rest."""
        try:
            reply = await self._attempt()
            if reply is None:
                self.reconnect = 1
                reply = await self._attempt() or Reply(Status.NETWORK, 0, 0)
            now_ns = monotonic_ns()
            if self.busy:
                self.failures = self.failures + 1 if reply.status is Status.NETWORK else 0
                self._record(reply, now_ns)
            if reply.status is Status.BAD_REPLY and not self._traffic.shared:
                await self._pool.transport.aclose()  # what comes next on there is not to be trusted; it opens again
        except asyncio.CancelledError:  # only `expire` cancels, and it has written the row
            pass
        except Exception as error:
            if not self._driver.finished.done():
                self._driver.finished.set_exception(error)
            return
        self._driver.ready(self)

    async def _attempt(self) -> Reply | None:
        """Send and read; None when a kept connection proved closed, so that the request may be sent once more."""
        self._fresh = False
        request = httpx.Request(
            "POST",
            self._traffic.url,
            headers=self._traffic.headers,
            content=self._traffic.bodies[self._position],
            extensions={"trace": self._trace},
        )
        try:
            response = await self._pool.transport.handle_async_request(request)
            try:
                return await self._read(response)
            finally:
                await response.aclose()
        except _FAILURES as error:
            self._charge_connecting(monotonic_ns())
            reply = self._failure(error)
        except MalformedReplyError:
            return Reply(Status.BAD_REPLY, self._http_status, 0)
        may_try_again = self.sent_ns and not self.first_ns and not self._fresh and not self.reconnect
        return None if may_try_again and reply.status is Status.NETWORK else reply

    async def _read(self, response: httpx.Response) -> Reply:
        length = response.headers.get("content-length", "")
        if response.status_code == 101 or (length.isdigit() and int(length) > self._traffic.judged.max_bytes):
            raise MalformedReplyError
        self._http_status = response.status_code
        coding = response.headers.get("content-encoding", "").lower().encode()
        call = self._traffic.ids[self._position]
        body = self._traffic.judged.new(call, b"" if coding == b"identity" else coding)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        async for part in response.stream:
            self._received += len(part)
            if self._received > self._traffic.judged.max_bytes:
                raise MalformedReplyError
            body.feed(part)
        return body.finish(response.status_code, "retry-after" in response.headers)

    async def _trace(self, event: str, info: dict[str, Any]) -> None:
        """httpx tells of each of its steps."""
        now_ns = monotonic_ns()
        step = event.partition(".")[2]
        if step == "connect_tcp.started":
            self._connecting_since_ns = now_ns
        elif step == "send_request_headers.started":
            self._tunnelling = info["request"].method == b"CONNECT"
            if not self._tunnelling:
                self._sending(now_ns)
        elif step == "receive_response_headers.complete" and not self._tunnelling:
            self.first_ns = now_ns

    def _sending(self, now_ns: int) -> None:
        """The connection is there, and the request goes out."""
        self.sent_ns = self.sent_ns or now_ns
        if self._connecting_since_ns:
            self._charge_connecting(now_ns)
            self._fresh = True
            if self._pool.opened:
                self.reconnect = 1
                self.reconnects += 1
            self._pool.opened += 1

    def _charge_connecting(self, now_ns: int) -> None:
        if self._connecting_since_ns:
            self.connect_ns += now_ns - self._connecting_since_ns
            self._connecting_since_ns = 0

    def _failure(self, error: Exception) -> Reply:
        """What an exception of httpx says of the node."""
        said = error.__cause__.args[0] if error.__cause__ is not None and error.__cause__.args else ""
        if isinstance(error, httpx.LocalProtocolError) and not isinstance(said, h2.exceptions.H2Error):
            raise EngineError("A header of the node has a value that httpx does not send; remove or change it.")
        if isinstance(error, httpx.ProxyError):
            code = str(said)[:3]
            return Reply(Status.HTTP_ERROR, int(code) if code.isdigit() else 0, 0)
        if isinstance(error, httpx.ProtocolError | h2.exceptions.H2Error):
            # HTTP/2 has events of its own for a stream that is reset and a connection that is closed.
            gone = said.startswith(_CLOSED_SILENTLY) if isinstance(said, str) else not isinstance(said, Exception)
            if not gone:
                return Reply(Status.BAD_REPLY, self._http_status, 0)
            return Reply(Status.NETWORK, 0, 0)
        return Reply(Status.NETWORK, _errno(error), 0)

    def _record(self, reply: Reply, done_ns: int) -> None:
        """The one row of this request."""
        self.busy = False
        self._traffic.rows.append(
            pack_row(
                self.due_ns,
                self.sent_ns,
                self.first_ns,
                done_ns,
                self.connect_ns,
                reply.digest,
                self._traffic.ids[self._position],
                reply.code,
                self._received,
                reply.status,
                self.reconnect,
                0,
            )
        )


def _errno(error: BaseException | None) -> int:
    """The system's error number at the root of an exception, 0 where there is none."""
    number = 0
    while error is not None:
        if isinstance(error, OSError) and error.errno and not _is_tls(error):
            number = error.errno
        error = error.__cause__ or error.__context__
    return number


def _is_tls(error: OSError) -> bool:
    return type(error).__module__ == "ssl"
