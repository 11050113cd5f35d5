"""A lane: one place in flight. It sends one request at a time and sees that each ends in exactly one row."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from time import monotonic_ns

from rpcbench.engine.connection import Connection, Connector, UpgradeRefusedError
from rpcbench.engine.ring import RingWriter
from rpcbench.engine.traffic import Driver, Lane, Traffic, pack_row
from rpcbench.model.samples import Status
from rpcbench.protocol.classify import Reply

_NOBODY = Reply(Status.NETWORK, 0, 0)
_TOO_LATE = Reply(Status.TIMEOUT, 0, 0)


class SocketTraffic(Traffic):
    """Lanes that write ready-made bytes to sockets. `requests` are by position in the workload's calls."""

    def __init__(
        self, connector: Connector, requests: Sequence[bytes], ids: Sequence[int], timeout_ns: int, rows: RingWriter
    ) -> None:
        super().__init__(ids, timeout_ns, rows)
        self.connector = connector
        self.requests = requests

    def _make_lane(self, driver: Driver) -> Lane:
        return SocketLane(self, driver)

    @property
    def opened(self) -> int:
        return self.connector.opened

    async def close(self) -> None:
        await self.connector.close()


class SocketLane:
    """At most one request, over at most one connection, which is opened anew when it was lost.

    `sent_ns` stays at the first attempt when a request is sent once more, so that all the time is charged.
    """

    __slots__ = (
        "_append_row",
        "_closing",
        "_connector",
        "_driver",
        "_had_connection",
        "_ids",
        "_opening",
        "_position",
        "_requests",
        "_resent",
        "busy",
        "call",
        "connect_ns",
        "connection",
        "due_ns",
        "failures",
        "first_ns",
        "reconnect",
        "reconnects",
        "sent_ns",
    )

    def __init__(self, traffic: SocketTraffic, driver: Driver) -> None:
        self._driver = driver
        self._connector = traffic.connector
        self._requests = traffic.requests
        self._ids = traffic.ids
        self._append_row = traffic.rows.append
        self._position = 0
        self._opening: asyncio.Task[None] | None = None
        self._closing = False  # the row is written, the connection is still going down
        self._had_connection = False
        self._resent = False
        self.connection: Connection | None = None
        self.busy = False
        self.failures = 0  # requests in a row that reached nobody
        self.reconnects = 0
        self.call = 0
        self.due_ns = self.sent_ns = self.first_ns = self.connect_ns = self.reconnect = 0

    @property
    def connected(self) -> bool:
        return self.connection is not None

    def start(self, position: int, due_ns: int, now_ns: int) -> None:
        """Send the call at `position` now, opening a connection first where there is none."""
        self.busy = True
        self.call = self._ids[position]
        self.due_ns = due_ns
        self.first_ns = self.connect_ns = self.reconnect = 0
        self._position = position
        self._resent = False
        connection = self.connection
        if connection is not None:
            self.sent_ns = now_ns
            connection.transport.write(self._requests[position])
        else:
            self.sent_ns = 0
            self._open()

    def answered(self, reply: Reply, done_ns: int, received: int, keep: bool) -> None:
        """A whole reply is there, good or bad."""
        self._record(reply, done_ns, received)
        self.failures = 0
        if keep:
            self._driver.ready(self)
        else:
            self._drop_connection()

    def disconnected(self, connection: Connection, exc: Exception | None, now_ns: int) -> None:
        """The connection is gone, by our doing or not."""
        self.connection = None
        if self._closing:
            self._closing = False
            self._driver.ready(self)
        elif not self.busy:
            self._driver.idle_lost(self)
        elif connection.served and not self._resent and not self.first_ns:
            # The server closed a kept connection while the request was on its way. It may be sent once more.
            self._resent = True
            self.reconnect = 1
            self._open()
        else:
            self.failures += 1
            self._record(_nobody(exc), now_ns, connection.received)
            self._driver.ready(self)

    def expire(self, now_ns: int) -> None:
        """The time for this request is over."""
        if self._opening is not None:
            self._opening.cancel()
            return
        connection = self.connection
        received = 0 if connection is None else connection.received
        self._record(_TOO_LATE, now_ns, received)
        self._drop_connection()

    async def open_ahead(self) -> None:
        """Open the connection before there is a request for it; that it fails is no matter here."""
        try:
            connection = await self._connector.open()
        except (OSError, UnicodeError):
            return
        self._adopt(connection)

    def _open(self) -> None:
        self._opening = asyncio.get_running_loop().create_task(self._connect())

    async def _connect(self) -> None:
        """Open a connection for the request that waits, and send it; the time is the request's."""
        began_ns = monotonic_ns()
        failure: Reply | None = None  # and not the exception, whose traceback would hold this frame in a cycle
        try:
            connection = await self._connector.open()
        except asyncio.CancelledError:  # only `expire` cancels
            failure = _TOO_LATE
        except (OSError, UnicodeError) as exc:
            failure = _nobody(exc)
            self.failures += 1
        self._opening = None
        now_ns = monotonic_ns()
        if failure is not None:
            self.connect_ns += now_ns - began_ns
            self._record(failure, now_ns, 0)
            self._driver.ready(self)
            return
        self.connect_ns += connection.opened_ns - began_ns
        if self._had_connection:
            self.reconnect = 1
            self.reconnects += 1
        self._adopt(connection)
        self.sent_ns = self.sent_ns or now_ns
        connection.transport.write(self._requests[self._position])

    def _adopt(self, connection: Connection) -> None:
        connection.lane = self
        self.connection = connection
        self._had_connection = True

    def _record(self, reply: Reply, done_ns: int, received: int) -> None:
        """The one row of this request."""
        status, code, digest = reply
        self.busy = False
        self._append_row(
            pack_row(
                self.due_ns,
                self.sent_ns,
                self.first_ns,
                done_ns,
                self.connect_ns,
                digest,
                self.call,
                code,
                received,
                status,
                self.reconnect,
                0,
            )
        )

    def _drop_connection(self) -> None:
        """Close for good; the lane is ready again once the connection is gone, so lanes bound open connections."""
        if self.connection is None:
            self._driver.ready(self)
        else:
            self._closing = True
            self.connection.transport.abort()


def _nobody(error: Exception | None) -> Reply:
    """Why no reply came, as the system's error number where it has one."""
    if isinstance(error, UpgradeRefusedError):
        return error.reply
    if isinstance(error, OSError) and not isinstance(error, ssl.SSLError):
        return _NOBODY._replace(code=error.errno or 0)
    return _NOBODY
