"""A small HTTP/2 server on h2 (prior knowledge, or over TLS), each request answered by a function of the test."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived, StreamEnded
from h2.exceptions import H2Error


@dataclass
class Stream:
    """One request."""

    connection: H2Connection
    number: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def result(self) -> bytes:
        return b'{"jsonrpc":"2.0","id":%d,"result":"0x1"}' % json.loads(self.body)["id"]

    def reply(self, body: bytes | None = None, status: int = 200, *, end: bool = True) -> None:
        self.connection.send_headers(self.number, [(":status", str(status)), ("content-type", "application/json")])
        self.connection.send_data(self.number, self.result if body is None else body, end_stream=end)


class H2Server:
    """Listens on loopback, a thread per connection."""

    def __init__(self, behave: Callable[[Stream], None] = Stream.reply, tls: ssl.SSLContext | None = None) -> None:
        self.behave = behave
        self.tls = tls
        self.accepted = 0
        self.ids: list[int] = []
        self.headers: list[dict[str, str]] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> H2Server:
        self._start(self._accept)
        return self

    def __exit__(self, *exc: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        self._listener.close()

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.accepted += 1
                self._sockets.append(connection)
                self._start(self._serve, connection)

    def _serve(self, raw: socket.socket) -> None:
        with contextlib.suppress(OSError, H2Error), contextlib.closing(raw):
            sock = self.tls.wrap_socket(raw, server_side=True) if self.tls else raw
            with contextlib.closing(sock):
                self._converse(sock)

    def _converse(self, sock: socket.socket) -> None:
        connection = H2Connection(H2Configuration(client_side=False))
        connection.initiate_connection()
        streams: dict[int, Stream] = {}
        sock.sendall(connection.data_to_send())
        while data := sock.recv(65_536):
            for event in connection.receive_data(data):
                if isinstance(event, RequestReceived):
                    names = {name.decode(): value.decode() for name, value in event.headers}
                    streams[event.stream_id] = Stream(connection, event.stream_id, names)
                elif isinstance(event, DataReceived):
                    streams[event.stream_id].body += event.data
                    connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, StreamEnded):
                    stream = streams.pop(event.stream_id)
                    self.ids.append(json.loads(stream.body)["id"])
                    self.headers.append(stream.headers)
                    self.behave(stream)
            sock.sendall(connection.data_to_send())
