"""What only the httpx engine has: HTTP/2 and proxies."""

import base64
import socket
import ssl
import threading

import pytest

from rpcbench.engine.httpx_engine import HttpxEngine
from rpcbench.errors import EngineError
from rpcbench.model.route import Tls
from rpcbench.model.samples import Status
from tests.engine.engines import Kind
from tests.engine.h2_server import H2Server, Stream
from tests.engine.odd_server import OddServer


@pytest.fixture(scope="module")
def http2(ca_file):
    engine = HttpxEngine(http2=True, tls=Tls(ca_file=ca_file))
    yield Kind("httpx", HttpxEngine, engine)
    engine.close()


def classes(samples):
    return [(Status(row["status"]), int(row["code"])) for row in samples.rows]


def test_all_lanes_share_one_connection(http2):
    with H2Server() as server:
        samples = http2.send(server.url, 60, concurrency=8)
        assert sorted(server.ids) == list(range(1000, 1060))
        assert server.accepted == samples.connects == 1
        assert server.headers[0]["accept-encoding"] == "identity"
    assert classes(samples) == [(Status.OK, 0)] * 60
    assert set(samples.rows["bytes_in"]) == {42}
    assert (samples.rows["sent_ns"] > 0).all()


def test_http2_over_tls(http2, authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    context.set_alpn_protocols(["h2"])
    with H2Server(tls=context) as server:
        samples = http2.send(server.url, 10, concurrency=2)
    assert classes(samples) == [(Status.OK, 0)] * 10


def test_an_open_loop_over_http2(http2):
    with H2Server() as server:
        samples = http2.send(server.url, 30, concurrency=16, due_ns=[n * 5_000_000 for n in range(30)])
    assert classes(samples) == [(Status.OK, 0)] * 30


@pytest.mark.parametrize(
    ("behave", "expected"),
    [
        (lambda s: s.reply(b"slow down", 429), (Status.RATE_LIMITED, 429)),
        (lambda s: s.reply(b"", 500), (Status.HTTP_ERROR, 500)),
        (lambda s: s.reply(b"<html>"), (Status.BAD_REPLY, 200)),
        (lambda s: s.connection.reset_stream(s.number), (Status.NETWORK, 0)),
        (lambda s: (s.reply(b"{", end=False), s.connection.reset_stream(s.number)), (Status.NETWORK, 0)),
    ],
    ids=["429", "500", "HTML", "reset", "reset within the body"],
)
def test_what_a_stream_ends_with(http2, behave, expected):
    with H2Server(behave) as server:
        samples = http2.send(server.url, 3)
    assert classes(samples) == [expected] * 3


def test_a_connection_that_is_closed_with_goaway_is_opened_again(http2):
    def behave(stream: Stream) -> None:
        stream.reply()
        stream.connection.close_connection()

    with H2Server(behave) as server:
        samples = http2.send(server.url, 3, due_ns=[0, 100_000_000, 200_000_000])
        assert server.accepted == 3
    assert classes(samples) == [(Status.OK, 0)] * 3
    assert samples.rows["reconnect"].tolist() == [0, 1, 1]


def test_a_stream_that_is_never_answered(http2):
    with H2Server(lambda stream: None) as server:
        samples = http2.send(server.url, 2, timeout_s=0.3)
    assert classes(samples) == [(Status.TIMEOUT, 0)] * 2


def test_a_server_without_http2_is_not_asked_over_anything_else(http2):
    with Proxy(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n") as server:
        samples = http2.send(f"http://127.0.0.1:{server.port}", 2, timeout_s=0.5)
        assert [head[:3] for head in server.heads] == [b"PRI"] * len(server.heads)
    assert set(samples.rows["status"]) <= {Status.BAD_REPLY, Status.NETWORK}


class Proxy:
    """Forwards whole requests, tunnels CONNECT, or refuses; one exchange of bytes for each connection."""

    def __init__(self, refusal: bytes = b"") -> None:
        self.refusal = refusal
        self.heads: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for each in self._sockets:
            each.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._sockets.append(client)
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(65_536)
        self.heads.append(head)
        if self.refusal:
            client.sendall(self.refusal)
            client.close()
            return
        tunnel = head.startswith(b"CONNECT ")
        where = head.split(b" ")[1].removeprefix(b"http://").partition(b"/")[0].decode()
        host, _, port = where.rpartition(":")
        upstream = socket.create_connection((host, int(port)))
        self._sockets.append(upstream)
        if tunnel:
            client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
        else:
            upstream.sendall(head)
        threading.Thread(target=self._pump, args=(upstream, client), daemon=True).start()
        self._pump(client, upstream)

    def _pump(self, source, sink):
        try:
            while data := source.recv(65_536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


@pytest.mark.parametrize("tunnel", [False, True], ids=["http", "https"])
def test_through_a_proxy(authority, ca_file, tunnel):
    context = None
    if tunnel:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
    with OddServer(tls=context) as server, Proxy() as proxy:
        engine = HttpxEngine(tls=Tls(ca_file=ca_file), proxy=f"http://user:pass@127.0.0.1:{proxy.port}")
        try:
            samples = Kind("httpx", HttpxEngine, engine).send(server.url, 6, concurrency=2)
        finally:
            engine.close()
        assert len(proxy.heads) == samples.connects == 2
        assert base64.b64encode(b"user:pass") in proxy.heads[0]
        assert proxy.heads[0].startswith(b"CONNECT " if tunnel else b"POST http://")
    assert classes(samples) == [(Status.OK, 0)] * 6
    assert (samples.rows["sent_ns"] >= samples.rows["due_ns"] + samples.rows["connect_ns"]).all()


def test_a_proxy_that_refuses_is_a_class_of_its_own(authority, ca_file):
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    with Proxy(refusal) as proxy:
        engine = HttpxEngine(tls=Tls(ca_file=ca_file), proxy=f"http://127.0.0.1:{proxy.port}")
        try:
            samples = Kind("httpx", HttpxEngine, engine).send("https://127.0.0.1:1", 2)
        finally:
            engine.close()
    assert classes(samples) == [(Status.HTTP_ERROR, 407)] * 2
    assert samples.rows["sent_ns"].tolist() == [0, 0]


def test_the_name_says_what_runs_cannot_be_compared_for():
    assert HttpxEngine().name == "httpx"
    assert HttpxEngine(http2=True, gzip=True, proxy="http://u:secret@h").name == "httpx+http2+proxy+gzip"


def test_a_header_that_httpx_does_not_send(kinds):
    with pytest.raises(EngineError, match="A header of the node") as caught, OddServer() as server:
        kinds["httpx"].send(server.url, 1, headers=(("X-Key", " secret\x01"),))
    assert "secret" not in str(caught.value)
