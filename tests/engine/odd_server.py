"""A server that can misbehave in every way: each request is answered by a function of the test."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol


@dataclass
class Exchange:
    """One request that came in, and what a behaviour can do about it."""

    server: OddServer
    socket: socket.socket
    head: bytes
    body: bytes
    nth: int  # on this connection, from 1
    arrived_ns: int
    open: bool = True

    @property
    def id(self) -> int:
        """Of the call, or of the first one in a batch."""
        content = json.loads(self.body)
        return int((content[0] if isinstance(content, list) else content)["id"])

    def wire(self, body: bytes) -> bytes:
        """A whole reply with this body, as bytes of the server's transport."""
        return frame(body) if self.server.websocket else whole(body)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def reply(self, body: bytes | None = None, *, status: str = "200 OK", headers: bytes = b"") -> None:
        """A whole reply with a length."""
        self.send(whole(self.result() if body is None else body, status=status, headers=headers))

    def result(self, result: bytes = b'"0x1"') -> bytes:
        return b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (self.id, result)

    def close(self) -> None:
        self.open = False

    def reset(self) -> None:
        """RST instead of FIN."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.open = False

    def stall(self) -> None:
        """Say nothing more until the client goes away."""
        with contextlib.suppress(OSError):
            while not self.server.stopping.is_set() and self.socket.recv(1024):
                pass
        self.open = False


Behaviour = Callable[[Exchange], None]


def whole(body: bytes, *, status: str = "200 OK", headers: bytes = b"", version: bytes = b"1.1") -> bytes:
    """A whole reply as bytes."""
    head = b"HTTP/%b %b\r\nContent-Type: application/json\r\n" % (version, status.encode())
    return head + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body


def frame(body: bytes, *, opcode: Opcode = Opcode.TEXT, fin: bool = True) -> bytes:
    """A WebSocket frame as a server sends it."""
    return Frame(opcode, body, fin).serialize(mask=False)


def answer(exchange: Exchange) -> None:
    """As a node should."""
    exchange.send(exchange.wire(exchange.result()))


def held_by_client(connection: socket.socket) -> bool:
    """Whether the client still has its end open, whatever this side's thread has made of it yet."""
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


class OddServer:
    """Listens on loopback, a thread per connection; remembers what arrived and how many were connected."""

    def __init__(
        self,
        behave: Behaviour = answer,
        *,
        tls: ssl.SSLContext | None = None,
        family: socket.AddressFamily = socket.AF_INET,
        websocket: bool = False,
        on_upgrade: Callable[[socket.socket], bool] = lambda connection: True,
    ) -> None:
        self.behave = behave
        self.tls = tls
        self.family = family
        self.websocket = websocket
        self.on_upgrade = on_upgrade  # whether to go on and accept
        self.arrivals: list[tuple[int, int]] = []  # id, monotonic ns
        self.heads: list[bytes] = []
        self.accepted = 0
        self.connected = 0
        self.peak = 0
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(
            ("::1" if family == socket.AF_INET6 else "127.0.0.1", 0), family=family, backlog=1024
        )

    def __enter__(self) -> OddServer:
        self._thread(self._accept)
        return self

    def __exit__(self, *exc: object) -> None:
        self.stopping.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        with self._lock:
            for each in self._sockets:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        self._listener.close()
        assert not any(thread.is_alive() for thread in self._threads)

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    @property
    def url(self) -> str:
        host = "[::1]" if self.family == socket.AF_INET6 else "127.0.0.1"
        scheme = "ws" if self.websocket else "http"
        return f"{scheme}{'s' if self.tls else ''}://{host}:{self.port}"

    @property
    def counts(self) -> Counter[int]:
        """How often each id arrived."""
        return Counter(call for call, _ in self.arrivals)

    def _thread(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self.stopping.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._sockets.add(connection)
                self.accepted += 1
                self.connected += 1
                self.peak = max(self.peak, sum(map(held_by_client, self._sockets)))
            self._thread(self._serve, connection)

    def _serve(self, raw: socket.socket) -> None:
        connection = raw
        try:
            if self.tls:
                connection = self.tls.wrap_socket(raw, server_side=True)
            (self._converse_in_frames if self.websocket else self._converse)(connection)
        except OSError:
            pass
        finally:
            with self._lock:
                self._sockets.discard(raw)
                self.connected -= 1
            connection.close()

    def _converse(self, connection: socket.socket) -> None:
        data = b""
        nth = 0
        while True:
            while b"\r\n\r\n" not in data:
                more = connection.recv(65_536)
                if not more:
                    return
                data += more
            arrived_ns = time.monotonic_ns()
            head, _, data = data.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
            while len(data) < length:
                data += connection.recv(65_536)
            body, data = data[:length], data[length:]
            nth += 1
            if not self._handle(Exchange(self, connection, head, body, nth, arrived_ns)):
                return

    def _handle(self, exchange: Exchange) -> bool:
        """Note what came in and behave; whether the connection stays open."""
        with self._lock:
            self.arrivals.append((exchange.id, exchange.arrived_ns))
            self.heads.append(exchange.head)
        self.behave(exchange)
        return exchange.open

    def _converse_in_frames(self, connection: socket.socket) -> None:
        protocol = ServerProtocol(max_size=None)
        nth = 0
        head = b""
        while data := connection.recv(65_536):
            arrived_ns = time.monotonic_ns()
            head = head or data
            protocol.receive_data(data)
            for event in protocol.events_received():
                if isinstance(event, Request):
                    if not self.on_upgrade(connection):
                        return
                    protocol.send_response(protocol.accept(event))
                elif event.opcode is Opcode.TEXT:
                    nth += 1
                    if not self._handle(Exchange(self, connection, head, bytes(event.data), nth, arrived_ns)):
                        return
            for part in protocol.data_to_send():
                connection.sendall(part)
