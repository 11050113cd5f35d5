"""What only WebSockets have: the upgrade, frames in all sizes, pings, closing; and where a node takes them."""

import json
import socket
import time

import pytest
from websockets.frames import Opcode

from rpcbench.engine.websocket_engine import _address
from rpcbench.errors import EngineError
from rpcbench.model.node import Node
from rpcbench.model.samples import Status
from tests.engine.engines import Kind
from tests.engine.odd_server import OddServer, frame, whole


@pytest.fixture
def websocket(kinds) -> Kind:
    return kinds["websocket"]


def classes(samples):
    return [(Status(row["status"]), int(row["code"])) for row in samples.rows]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (whole(b"no", status="403 Forbidden"), (Status.HTTP_ERROR, 403)),
        (whole(b"", status="429 Too Many Requests"), (Status.RATE_LIMITED, 429)),
        (whole(b"", status="503 Busy", headers=b"Retry-After: 1\r\n"), (Status.RATE_LIMITED, 503)),
        (whole(b"hello"), (Status.BAD_REPLY, 200)),
        (
            b"HTTP/1.1 101 Go\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
            (Status.BAD_REPLY, 0),
        ),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", (Status.BAD_REPLY, 0)),
        (b"", (Status.NETWORK, 0)),
    ],
    ids=["403", "429", "503", "200", "no accept key", "not HTTP", "closed"],
)
def test_an_upgrade_that_is_refused(websocket, reply, expected):
    def refuse(connection: socket.socket) -> bool:
        connection.sendall(reply)
        connection.shutdown(socket.SHUT_WR)
        time.sleep(0.05)
        return False

    with OddServer(websocket=True, on_upgrade=refuse) as server:
        samples = websocket.send(server.url, 2)
        assert server.arrivals == []
    assert classes(samples) == [expected] * 2
    assert samples.rows["sent_ns"].tolist() == [0, 0]
    assert (samples.rows["connect_ns"] > 0).all()


def test_an_upgrade_that_is_not_answered(websocket):
    def wait(connection: socket.socket) -> bool:
        connection.recv(1)
        return False

    with OddServer(websocket=True, on_upgrade=wait) as server:
        samples = websocket.send(server.url, 2, timeout_s=0.2)
        assert server.peak == 1
    assert classes(samples) == [(Status.TIMEOUT, 0)] * 2
    assert (samples.latency_ns < 400_000_000).all()


def test_connections_are_kept_and_opened_ahead(websocket):
    with OddServer(websocket=True) as server:
        samples = websocket.send(server.url, 50, concurrency=3)
    assert (samples.connects, samples.reconnects, server.accepted) == (3, 0, 3)
    assert samples.rows["connect_ns"].sum() == 0
    assert set(samples.rows["bytes_in"]) == {42}


def test_a_message_in_fragments_with_pings_in_between(websocket):
    def behave(exchange):
        body = exchange.result(b'"' + b"x" * 50_000 + b'"')
        exchange.send(frame(b"ping", opcode=Opcode.PING))
        time.sleep(0.02)
        exchange.send(frame(body[:10], fin=False) + frame(b"", opcode=Opcode.PING))
        exchange.send(frame(body[10:30_000], opcode=Opcode.CONT, fin=False))
        exchange.send(frame(body[30_000:], opcode=Opcode.CONT))

    with OddServer(behave, websocket=True) as server:
        samples = websocket.send(server.url, 3)
    assert classes(samples) == [(Status.OK, 0)] * 3
    assert (samples.rows["bytes_in"] > 50_000).all()
    # A ping is no first byte of a reply.
    assert (samples.rows["first_ns"] - samples.rows["sent_ns"] > 15_000_000).all()


@pytest.mark.parametrize(
    "data",
    [b"\xff\x00", frame(b"a", opcode=Opcode.CONT), frame(b"a", fin=False) + frame(b"b"), b"\x81\x7f" + b"\xff" * 8],
    ids=["no opcode", "continues nothing", "interrupted", "longer than long"],
)
def test_frames_that_cannot_be(websocket, data):
    def behave(exchange):
        exchange.send(data)
        exchange.stall()

    with OddServer(behave, websocket=True) as server:
        samples = websocket.send(server.url, 2, timeout_s=2)
    assert classes(samples) == [(Status.BAD_REPLY, 0)] * 2
    assert samples.wall_ns < 1_500_000_000


def test_a_server_that_says_goodbye_instead_of_answering(websocket):
    """A kept connection that is closed by the book is like any other that was closed: the request is sent once more."""

    def behave(exchange):
        if exchange.nth == 2:
            exchange.send(frame(b"\x03\xe9", opcode=Opcode.CLOSE))
            exchange.stall()
        else:
            exchange.send(frame(exchange.result()))

    with OddServer(behave, websocket=True) as server:
        samples = websocket.send(server.url, 3)
    assert classes(samples) == [(Status.OK, 0)] * 3
    assert samples.rows["reconnect"].tolist() == [0, 1, 1]


def test_a_path_and_headers_reach_the_upgrade(websocket):
    with OddServer(websocket=True) as server:
        url = server.url.replace("://", "://user:pass@") + "/ws/v0_8?key=s"
        websocket.send(url, 1, headers=(("X-Api-Key", "secret"),))
        head = server.heads[0]
    assert head.startswith(b"GET /ws/v0_8?key=s HTTP/1.1\r\n")
    assert b"X-Api-Key: secret\r\n" in head
    assert b"Authorization: Basic dXNlcjpwYXNz\r\n" in head
    assert head.count(b"Host:") == 1
    assert b"Content-Type" not in head
    assert b"Sec-WebSocket-Extensions" not in head


def test_requests_are_whole_masked_frames(websocket):
    bodies = []

    def behave(exchange):
        bodies.append(json.loads(exchange.body))
        exchange.send(frame(exchange.result()))

    with OddServer(behave, websocket=True) as server:
        websocket.send(server.url, 3)
    assert [body["id"] for body in bodies] == [1000, 1001, 1002]


@pytest.mark.parametrize(
    ("url", "ws_url", "address"),
    [
        ("http://h:9545/rpc/v0_8", None, "http://h:9545/rpc/v0_8"),
        ("http://u:p@h:6060/v0_8", None, "http://u:p@h:6061/v0_8"),
        ("http://[::1]:6060/", None, "http://[::1]:6061/"),
        ("https://h/v2/key", None, "https://h/v2/key"),
        ("http://h:6060", "ws://h:6060/ws", "http://h:6060/ws"),
        ("http://h", "wss://other:1/ws", "https://other:1/ws"),
    ],
)
def test_where_a_node_takes_websockets(url, ws_url, address):
    assert _address(Node("n", url, ws_url)) == address


def test_what_cannot_be_sent_to(websocket):
    with pytest.raises(EngineError, match="must begin with ws://"):
        _address(Node("n", "ftp://h/secret"))
    with pytest.raises(EngineError, match="belongs to the WebSocket upgrade"):
        websocket.send("ws://127.0.0.1:1", 1, headers=(("Sec-WebSocket-Version", "8"),))
