"""HTTP as the embedded nodes speak it, over raw sockets."""

from __future__ import annotations

import json
import socket
import time
from itertools import pairwise
from typing import Any

import pytest


def request(identity: int, *, method: str = "starknet_blockNumber", extra: str = "") -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "id": identity, "method": method, "params": []}).encode()
    head = f"POST /rpc/v0_10 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{extra}"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def receive(connection: Any, replies: int) -> list[Any]:
    """Parse so many replies off the connection."""
    data, parsed = b"", []
    while len(parsed) < replies:
        head, separator, rest = data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]) if separator else 0
        if separator and len(rest) >= length:
            parsed.append(json.loads(rest[:length]))
            data = rest[length:]
            continue
        received = connection.recv(65536)
        assert received, "the node closed the connection"
        data += received
    return parsed


def test_a_connection_is_kept(juno: Any) -> None:
    before = juno.node.stats()["connections"]
    with juno.connected() as connection:
        for identity in range(5):
            connection.sendall(request(identity))
            assert receive(connection, 1)[0]["id"] == identity
    assert juno.node.stats()["connections"] == before + 2  # ours, and the one that asks


@pytest.mark.parametrize("pace", [0, 2])
def test_requests_in_one_packet_are_answered_in_order(node: Any, pace: float) -> None:
    slow_then_quick = [request(i, method="starknet_getEvents" if i % 2 == 0 else "starknet_chainId") for i in range(20)]
    with node(pace=pace).connected() as connection:
        connection.sendall(b"".join(slow_then_quick))
        assert [reply["id"] for reply in receive(connection, 20)] == list(range(20))


def test_a_request_may_come_in_pieces(pathfinder: Any) -> None:
    whole = request(9)
    with pathfinder.connected() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start, end in pairwise((0, 3, 9, 40, len(whole) - 5, len(whole))):
            connection.sendall(whole[start:end])
            time.sleep(0.01)
        assert receive(connection, 1)[0]["id"] == 9


def test_connection_close_is_honoured(juno: Any) -> None:
    with juno.connected() as connection:
        connection.sendall(request(1, extra="Connection: close\r\n"))
        data = b""
        while received := connection.recv(65536):
            data += received
    assert data.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\r\nConnection: close\r\n" in data


def test_what_is_not_http_is_refused(juno: Any) -> None:
    with juno.connected() as connection:
        connection.sendall(b"\x16\x03\x01\x02\x00nonsense\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
        assert connection.recv(100) == b""


def test_a_body_beyond_the_limit_is_refused(geth: Any) -> None:
    with geth.connected() as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\n\r\n")
        try:
            for _ in range(90):
                connection.sendall(b" " * 100_000)
        except (BrokenPipeError, ConnectionResetError):
            return
        assert b" 413 " in connection.recv(100)


@pytest.mark.parametrize(
    ("personality", "verb", "path", "status"),
    [
        ("juno", "GET", "/", 200),
        ("juno", "GET", "/rpc/v0_10", 404),
        ("juno", "GET", "/ready/sync", 200),
        ("juno", "PUT", "/", 405),
        ("pathfinder", "GET", "/", 200),
        ("pathfinder", "GET", "/rpc/v0_10", 405),
        ("geth", "GET", "/", 200),
        ("geth", "DELETE", "/", 405),
    ],
)
def test_other_verbs(by_name: dict[str, Any], personality: str, verb: str, path: str, status: int) -> None:
    assert by_name[personality].send(b"", path, verb).status == status


@pytest.mark.parametrize(
    ("personality", "content_type", "status"),
    [
        ("juno", "text/plain", 200),
        ("pathfinder", "text/plain", 415),
        ("pathfinder", "application/json; charset=utf-8", 200),
        ("pathfinder", "application/vnd.api+json", 200),
        ("geth", "text/plain", 415),
        ("geth", "application/json; charset=utf-8", 200),
    ],
)
def test_content_type_matters_where_it_does(
    by_name: dict[str, Any], personality: str, content_type: str, status: int
) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "web3_clientVersion"}
    assert by_name[personality].send(body, Content_Type=content_type).status == status


def test_nothing_is_compressed_and_everything_has_a_length(by_name: dict[str, Any]) -> None:
    for client in by_name.values():
        answer = client.send({"jsonrpc": "2.0", "id": 1, "method": "nope"}, Accept_Encoding="gzip")
        assert "content-encoding" not in answer.headers
        assert int(answer.headers["content-length"]) == len(answer.body)
        assert answer.headers["content-type"] == "application/json"
