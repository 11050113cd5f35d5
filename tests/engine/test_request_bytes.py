"""What goes over the wire, and what must never reach a message."""

import pytest

from rpcbench import __version__
from rpcbench.engine.request_bytes import encode_requests, target_of
from rpcbench.errors import EngineError
from rpcbench.model.node import Node
from rpcbench.model.workload import Call
from tests.engine.odd_server import OddServer

BODY = b'{"jsonrpc":"2.0","id":1,"method":"m"}'


def encoded(url: str, *headers: tuple[str, str]) -> bytes:
    node = Node("n", url, headers=headers)
    return encode_requests(node, target_of(node), [Call(1, 0, BODY)], [0])[0]


def test_a_whole_request():
    assert encoded("http://localhost:6060/rpc/v0_10") == (
        b"POST /rpc/v0_10 HTTP/1.1\r\nHost: localhost:6060\r\nContent-Type: application/json\r\n"
        b"Accept: application/json\r\nAccept-Encoding: identity\r\nUser-Agent: rpcbench/%b\r\n"
        b"Content-Length: 37\r\n\r\n%b" % (__version__.encode(), BODY)
    )


def test_that_is_what_arrives(send):
    with OddServer() as server:
        send(server.url + "/a?b=c", headers=(("X-Key", "k"),))
        head = server.heads[0]
        assert head.startswith(b"POST /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % server.port)
    assert b"\r\nX-Key: k\r\n" in head


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("http://h", b"POST / HTTP/1.1"),
        ("http://h?key=1", b"POST /?key=1 HTTP/1.1"),
        ("http://h/v2/K%20ey+=~/x;y?a=b&c=%2F#frag", b"POST /v2/K%20ey+=~/x;y?a=b&c=%2F HTTP/1.1"),
        ("http://h/ä b", b"POST /%C3%A4%20b HTTP/1.1"),
    ],
)
def test_path_and_query_are_kept(url, line):
    assert encoded(url).split(b"\r\n")[0] == line


@pytest.mark.parametrize(
    ("url", "host", "port", "header"),
    [
        ("http://Node.example", "node.example", 80, "node.example"),
        ("https://h", "h", 443, "h"),
        ("https://h:8443", "h", 8443, "h:8443"),
        ("http://[::1]:5050/x", "::1", 5050, "[::1]:5050"),
        ("http://bücher.example", "xn--bcher-kva.example", 80, "xn--bcher-kva.example"),
    ],
)
def test_where_it_goes(url, host, port, header):
    target = target_of(Node("n", url))
    assert (target.host, target.port, target.host_header, target.tls) == (host, port, header, url.startswith("https"))


def test_userinfo_becomes_basic_authorization():
    request = encoded("http://us%40er:p%3Aw@h:1/")
    assert b"\r\nAuthorization: Basic dXNAZXI6cDp3\r\n" in request
    assert b"\r\nHost: h:1\r\n" in request


def test_the_nodes_headers_override_ours():
    request = encoded("http://u:p@h", ("authorization", "Bearer t"), ("ACCEPT-encoding", "gzip"), ("X-A", "ä"))
    assert request.lower().count(b"authorization:") == request.lower().count(b"accept-encoding:") == 1
    assert b"\r\nauthorization: Bearer t\r\n" in request
    assert "\r\nX-A: ä\r\n".encode() in request


@pytest.mark.parametrize(
    "url",
    ["ftp://h/secret", "h:80/secret", "http:///secret", "http://h:99999/secret", "http://[::1/secret", "ws://h/secret"],
)
def test_urls_this_engine_cannot_speak_to(url):
    with pytest.raises(EngineError, match="node n ") as caught:
        target_of(Node("n", url))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "header", [("X-Key", "secret\r\nHost: x"), ("X Key", "secret"), ("", "secret"), ("Content-Length", "secret")]
)
def test_headers_that_would_break_the_request(header):
    with pytest.raises(EngineError, match="ode n ") as caught:
        encoded("http://h", header)
    assert "secret" not in str(caught.value)


def test_secrets_are_not_in_the_targets_repr():
    assert "secret" not in repr(target_of(Node("n", "http://secret:secret@h/secret?secret")))


def test_calls_that_are_not_used_are_not_encoded():
    node = Node("n", "http://h")
    first, second = encode_requests(node, target_of(node), [Call(1, 0, BODY), Call(2, 0, BODY)], [1])
    assert first == b""
    assert second.endswith(BODY)
