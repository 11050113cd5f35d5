"""The proxy that the other tests take their truth from: unchanged bytes, exact holds, complete accounts."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from time import monotonic_ns, sleep

import pytest

from tests.real.slow_proxy import SlowProxy

REPLY = b'HTTP/1.1 200 OK\r\nX-odd:  Case \r\nContent-Length: 11\r\n\r\n{"id": 1}\r\n'
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"


class Canned(threading.Thread):
    """A server that answers whatever comes with the same bytes, connection by connection."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.reply = REPLY
        self.hangs_up = False
        self.received: list[bytes] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def run(self) -> None:
        with self.listener, ThreadPoolExecutor(8) as pool:
            while True:
                try:
                    connection, _ = self.listener.accept()
                except OSError:
                    return
                pool.submit(self.serve, connection)

    def serve(self, connection: socket.socket) -> None:
        with connection:
            while data := connection.recv(65536):
                self.received.append(data)
                if data.endswith(b"}"):
                    connection.sendall(self.reply)
                    if self.hangs_up:
                        return

    def stop(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.join()


@pytest.fixture
def server() -> Iterator[Canned]:
    canned = Canned()
    canned.start()
    yield canned
    canned.stop()


def request(call_id: int, agent: str = "test") -> bytes:
    body = b'{"jsonrpc":"2.0","id":%d,"method":"x"}' % call_id
    return b"POST /a?b=c HTTP/1.1\r\nhost: h\r\nUser-AGENT: %b\r\ncontent-length: %d\r\n\r\n%b" % (
        agent.encode(), len(body), body,
    )  # fmt: skip


def connect(proxy: SlowProxy) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", int(proxy.url.rpartition(":")[2])), timeout=5)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def exchange(connection: socket.socket, sent: bytes, length: int) -> bytes:
    connection.sendall(sent)
    received = b""
    while len(received) < length and (data := connection.recv(65536)):
        received += data
    return received


@pytest.mark.parametrize("reply", [REPLY, CHUNKED], ids=["length", "chunked"])
@pytest.mark.parametrize("hold_ms", [0, 2])
def test_bytes_go_through_unchanged(server, reply, hold_ms):
    server.reply = reply
    with SlowProxy(server.port, hold_ms) as proxy, connect(proxy) as connection:
        assert exchange(connection, request(7), len(reply)) == reply
    assert b"".join(server.received) == request(7)


def test_a_request_in_pieces_reaches_the_node_whole(server):
    with SlowProxy(server.port, 0) as proxy, connect(proxy) as connection:
        for piece in (request(7)[:10], request(7)[10:-5]):
            connection.sendall(piece)
            sleep(0.02)
        assert exchange(connection, request(7)[-5:], len(REPLY)) == REPLY
    assert server.received == [request(7)]


def test_a_hold_is_exact_and_truthfully_told(server):
    count = 300
    medians_ms = {}
    for hold_ms in (0, 2):
        waited_ms = []
        with SlowProxy(server.port, hold_ms) as proxy, connect(proxy) as connection:
            for call_id in range(count):
                sent_ns = monotonic_ns()
                exchange(connection, request(call_id), len(REPLY))
                waited_ms.append((monotonic_ns() - sent_ns) / 1e6)
            holds_ms = [told.hold_ms for told in proxy.tell()]
        assert len(holds_ms) == count
        assert all(hold_ms <= told <= waited for told, waited in zip(holds_ms, waited_ms, strict=True))
        medians_ms[hold_ms] = median(holds_ms)
    assert medians_ms[2] - medians_ms[0] == pytest.approx(2, abs=0.05)


def test_every_request_is_counted_with_its_id_and_agent(server):
    def talk(first_id: int) -> None:
        with connect(proxy) as connection:
            for call_id in range(first_id, first_id + 50):
                exchange(connection, request(call_id, agent=f"agent {first_id}"), len(REPLY))

    with SlowProxy(server.port, 0.5) as proxy:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(talk, (0, 100, 200, 300)))
        told = proxy.tell()
        assert proxy.tell() == []
    for first_id in (0, 100, 200, 300):
        mine = [t for t in told if t.agent == f"agent {first_id}"]
        assert [t.id for t in mine] == list(range(first_id, first_id + 50))
        assert {t.path for t in mine} == {"/a?b=c"}
    assert len(told) == 200


def test_a_reply_that_is_cut_off_stays_so_and_has_no_hold(server):
    server.reply, server.hangs_up = REPLY[:20], True
    with SlowProxy(server.port, 1) as proxy, connect(proxy) as connection:
        assert exchange(connection, request(1), len(REPLY)) == REPLY[:20]
        (told,) = proxy.tell()
    assert told.hold_ms is None


def test_a_node_that_is_not_there_gives_no_answer():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with SlowProxy(port, 0) as proxy, connect(proxy) as connection, contextlib.suppress(ConnectionError):
        assert exchange(connection, request(1), 1) == b""
