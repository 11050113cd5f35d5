"""One connection to the node, and opening them. Timestamps are taken here, in the socket's callbacks."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from time import monotonic_ns
from typing import TYPE_CHECKING, Any, cast

from rpcbench.engine.reply_body import Bodies
from rpcbench.engine.reply_reader import BatchReplyReader, ReplyReader
from rpcbench.engine.request_bytes import Target
from rpcbench.model.samples import Status
from rpcbench.protocol.classify import Reply

if TYPE_CHECKING:
    from rpcbench.engine.lane import SocketLane

# One buffer for all connections: it is filled and read out within one callback. Its size is what one read can take;
# a block of 200 kB should fit.
_BUFFER = memoryview(bytearray(262_144))
_BAD_REPLY = Status.BAD_REPLY
_CLOSING_S = 1.0


class Connection(asyncio.BufferedProtocol):
    """One TCP or TLS connection. It carries one request at a time, never two."""

    __slots__ = ("_choked", "_connector", "lane", "opened_ns", "reader", "served", "transport")

    def __init__(self, connector: Connector) -> None:
        self._connector = connector
        self._choked = False  # part of a request is still to be written
        self.lane: SocketLane | None = None
        self.opened_ns = 0
        self.reader = (BatchReplyReader if connector.bodies.batches else ReplyReader)(connector.bodies)
        self.served = 0
        self.transport: asyncio.Transport

    @property
    def received(self) -> int:
        """Bytes so far of a body that is not complete."""
        return self.reader.received if self.reader.begun else 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.opened_ns = monotonic_ns()
        self.transport = cast(asyncio.Transport, transport)  # uvloop's do not say that they are
        if not self._connector.tls:
            self.transport.set_write_buffer_limits(0)  # uvloop then writes at once and not at the end of the tick
        self._connector.joined(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        return _BUFFER

    def buffer_updated(self, nbytes: int) -> None:
        now = monotonic_ns()
        lane = self.lane
        if lane is None or not lane.busy:  # nobody asked: what comes next on here is not to be trusted
            self.transport.abort()
            return
        if not lane.first_ns:
            lane.first_ns = now
        reader = self.reader
        reply = reader.feed(_BUFFER[:nbytes], lane.call)
        if reply is not None:
            self.served += 1
            keep = reader.keep_alive and not self._choked and reply[0] is not _BAD_REPLY
            lane.answered(reply, now, reader.received, keep)

    def eof_received(self) -> None:
        now = monotonic_ns()
        if self.lane is not None and self.lane.busy:
            reply = self.reader.end()
            if reply is not None:
                self.lane.answered(reply, now, self.reader.received, keep=False)

    def pause_writing(self) -> None:
        self._choked = True

    def resume_writing(self) -> None:
        self._choked = False

    def connection_lost(self, exc: Exception | None) -> None:
        now = monotonic_ns()
        self._connector.left(self)
        if self.lane is not None:
            self.lane.disconnected(self, exc, now)


class UpgradeRefusedError(OSError):
    """The server took the connection, and would not speak the protocol; `reply` says how."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self.reply = reply


class Connector:
    """Opens connections to one target, and knows which are open."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, target: Target, tls: ssl.SSLContext | None, bodies: Bodies
    ) -> None:
        self._loop = loop
        self._target = target
        self.tls = tls
        self.bodies = bodies
        self._addresses: list[tuple[Any, ...]] = []
        self._live: set[Connection] = set()
        self._all_gone = asyncio.Event()
        self.opened = 0

    async def open(self) -> Connection:
        """A new connection, TLS included; OSError or UnicodeError (a host name that cannot be one) when it fails."""
        if not self._addresses:
            self._addresses = await self._loop.getaddrinfo(
                self._target.host, self._target.port, type=socket.SOCK_STREAM
            )
        *others, last = self._addresses
        for address in others:
            with contextlib.suppress(OSError):
                return await self._open_at(address)
        return await self._open_at(last)

    async def close(self) -> None:
        """Drop every connection and wait until they are gone."""
        for connection in list(self._live):
            connection.transport.abort()
        if self._live:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._all_gone.wait(), _CLOSING_S)

    def joined(self, connection: Connection) -> None:
        """A connection is open."""
        self._live.add(connection)
        self._all_gone.clear()

    def left(self, connection: Connection) -> None:
        """A connection is gone."""
        self._live.discard(connection)
        if not self._live:
            self._all_gone.set()

    def _new_connection(self) -> Connection:
        return Connection(self)

    async def _greet(self, connection: Connection) -> None:
        """What has to be said before the first request: nothing in HTTP."""

    async def _open_at(self, address: tuple[Any, ...]) -> Connection:
        connection = self._new_connection()
        host, port = address[4][:2]
        await self._loop.create_connection(
            lambda: connection, host, port, ssl=self.tls, server_hostname=self._target.host if self.tls else None
        )
        if connection not in self._live:
            raise ConnectionResetError  # lost again before this coroutine was told of it
        await self._greet(connection)
        self._addresses = [address]  # this one answers
        self.opened += 1
        return connection
