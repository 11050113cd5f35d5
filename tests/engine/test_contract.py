"""One contract for all engines: what a server may send back, and the class that it must get.

Where an engine differs by its nature, the table at the end of the cases says so, and why. Connections that fail are
in `test_contract_connections`, certificates in `test_tls`.
"""

import gzip
import time
import zlib

import pytest

from rpcbench.model.samples import Status
from tests.engine.odd_server import Exchange, OddServer, whole

RETRY = b"Retry-After: 1\r\n"
GZIP = b"Content-Encoding: gzip\r\n"
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"
ERROR = b'{"code":-32000,"message":"cut"}'

OK = (Status.OK, 0)
BAD = (Status.BAD_REPLY, 200)
NOT_HTTP = (Status.BAD_REPLY, 0)
LOST = (Status.NETWORK, 0)
RESET = (Status.NETWORK, 104)


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    framed = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + framed + end


def untimed(body: bytes, headers: bytes = b"") -> bytes:
    """A reply whose body lasts until the connection closes."""
    return b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n" + body


def large(x: Exchange) -> bytes:
    return x.result(b'["' + b"x" * 300_000 + b'"]')


def cut(data: bytes) -> bytes:
    return data[:-5]


def no(x: Exchange, error: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%d,"error":%b}' % (x.id, error)


# What the body of a whole reply is, and what the row must say. In every transport.
MESSAGES = {
    "as a node should": (lambda x: x.result(), OK),
    "large": (large, OK),
    "null result": (lambda x: x.result(b"null"), (Status.NULL_RESULT, 0)),
    "error": (lambda x: no(x, b'{"code":-32601}'), (Status.RPC_ERROR, -32601)),
    "error and result": (lambda x: no(x, b'{"code":-1},"result":1'), (Status.RPC_ERROR, -1)),
    "error behind a large result": (lambda x: large(x)[:-1] + b',"error":%b}' % ERROR, (Status.RPC_ERROR, -32000)),
    "revert": (lambda x: no(x, b'{"code":3,"data":"0x"}'), (Status.REVERTED, 3)),
    "limit in the body": (lambda x: no(x, b'{"code":429}'), (Status.RATE_LIMITED, 429)),
    "HTML": (lambda x: b"<html>nginx</html>", BAD),
    "empty": (lambda x: b"", BAD),
    "invalid JSON": (lambda x: x.result(b"{,}"), BAD),
    "invalid UTF-8": (lambda x: x.result(b'"\xff\xfe"'), BAD),
    "wrong id": (lambda x: b'{"id":%d,"result":1}' % (x.id + 1), BAD),
    "no id": (lambda x: b'{"result":1}', BAD),
    "neither result nor error": (lambda x: b'{"id":%d}' % x.id, BAD),
}

# Whole replies in HTTP's many forms. The connection stays open.
COMPLETE = {
    "chunked": (lambda x: chunked(x.result()[:9], x.result()[9:]), OK),
    "chunked, large": (lambda x: chunked(large(x)[:100_000], large(x)[100_000:]), OK),
    "chunk extension": (lambda x: chunked(end=b"2a;a=b\r\n%b\r\n0\r\n\r\n" % x.result()), OK),
    "chunk trailer": (lambda x: chunked(x.result(), end=b"0\r\nX-T: 1\r\n\r\n"), OK),
    "1xx first": (lambda x: INTERIM + whole(x.result()), OK),
    "same length twice": (lambda x: whole(x.result(), headers=b"Content-Length: 42\r\n"), OK),
    "gzip unasked": (lambda x: whole(gzip.compress(x.result()), headers=GZIP), OK),
    "deflate unasked": (lambda x: whole(zlib.compress(x.result()), headers=b"Content-Encoding: deflate\r\n"), OK),
    "429": (lambda x: whole(b"slow down", status="429 Too Many", headers=RETRY), (Status.RATE_LIMITED, 429)),
    "503 with retry-after": (lambda x: whole(b"", status="503 Busy", headers=RETRY), (Status.RATE_LIMITED, 503)),
    "503": (lambda x: whole(b"", status="503 Busy"), (Status.HTTP_ERROR, 503)),
    "500 with an error": (lambda x: whole(no(x, ERROR), status="500 Oh"), (Status.HTTP_ERROR, 500)),
    "redirect": (lambda x: whole(b"", status="302 Found", headers=b"Location: /\r\n"), (Status.HTTP_ERROR, 302)),
    "304": (lambda x: b"HTTP/1.1 304 Not Modified\r\n\r\n", (Status.HTTP_ERROR, 304)),
    "204": (lambda x: b"HTTP/1.1 204 No Content\r\n\r\n", (Status.BAD_REPLY, 204)),
    "brotli": (lambda x: whole(b"\x8b\x02", headers=b"Content-Encoding: br\r\n"), BAD),
    "gzip that is none": (lambda x: whole(b"nonsense", headers=GZIP), BAD),
    "gzip cut": (lambda x: whole(cut(gzip.compress(x.result())), headers=GZIP), BAD),
}

# The server closes afterwards.
CLOSED = {
    "until close": (lambda x: untimed(x.result()), OK),
    "connection: close": (lambda x: whole(x.result(), headers=b"Connection: close\r\n"), OK),
    "HTTP/1.0": (lambda x: whole(x.result(), version=b"1.0"), OK),
    "408": (lambda x: whole(b"", status="408 Request Timeout"), (Status.HTTP_ERROR, 408)),
    "413": (lambda x: whole(b"too large", status="413 Content Too Large"), (Status.HTTP_ERROR, 413)),
    "within the header": (lambda x: b"HTTP/1.1 200", NOT_HTTP),
    "after the header": (lambda x: b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", BAD),
    "within the body": (lambda x: cut(whole(x.result())), BAD),
    "within a large body": (lambda x: cut(whole(large(x))), BAD),
    "within a chunk": (lambda x: cut(chunked(x.result(), end=b"")), BAD),
    "between chunks": (lambda x: chunked(x.result(), end=b""), BAD),
    "within a body without length": (lambda x: cut(untimed(x.result())), BAD),
}

# The server sends RST afterwards.
WITH_RESET = {
    "within the header": (lambda x: b"HTTP/1.1 2", RESET),
    "after the header": (lambda x: b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", RESET),
    "within the body": (lambda x: cut(whole(x.result())), RESET),
}

# The server says nothing more and waits; it is for the engine to see that this cannot become a reply.
HOPELESS = {
    "two lengths": (lambda x: whole(x.result(), headers=b"Content-Length: 7\r\n"), NOT_HTTP),
    "length that is no number": (lambda x: b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", NOT_HTTP),
    "length beyond the cap": (lambda x: b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n{", NOT_HTTP),
    "bad chunk size": (lambda x: chunked(end=b"zz\r\n"), BAD),
    "endless chunk size": (lambda x: chunked(end=b"0" * 3000), BAD),
    "chunk longer than it says": (lambda x: chunked(end=b"2\r\nabcdef\r\n"), BAD),
    "not HTTP": (lambda x: b"SSH-2.0-OpenSSH_9.2\r\n", NOT_HTTP),
    "HTTP/2": (lambda x: b"HTTP/2 200 OK\r\n\r\n", NOT_HTTP),
    "101": (lambda x: b"HTTP/1.1 101 Switching\r\n\r\n", NOT_HTTP),
    "huge header": (lambda x: b"HTTP/1.1 200 OK\r\nX: " + b"x" * 120_000, NOT_HTTP),
}

ENDS = {"": COMPLETE, "close": CLOSED, "reset": WITH_RESET, "stall": HOPELESS}

# h11, on which httpx stands, judges a line or a head when it is whole, or longer than 100 kB. And a connection that is
# closed within the head is to httpcore one that was closed before it.
TIMEOUT = (Status.TIMEOUT, 0)
HTTPX_DIFFERS = {
    ("close", "within the header"): LOST,
    ("stall", "endless chunk size"): TIMEOUT,
    ("stall", "not HTTP"): TIMEOUT,
}


def classes(samples):
    return [(Status(row["status"]), int(row["code"])) for row in samples.rows]


def each_once(server: OddServer, count: int) -> bool:
    return server.counts == dict.fromkeys(range(1000, 1000 + count), 1)


@pytest.mark.parametrize("case", MESSAGES)
def test_what_a_whole_reply_says(kind, case):
    make, expected = MESSAGES[case]
    if kind.websocket and expected is BAD:
        expected = (Status.BAD_REPLY, 200)
    with kind.server(lambda x: x.send(x.wire(make(x)))) as server:
        samples = kind.send(server.url, 3)
    assert classes(samples) == [expected] * 3
    assert each_once(server, 3)


@pytest.mark.parametrize(("end", "case"), [(end, case) for end, cases in ENDS.items() for case in cases])
def test_what_http_carries(http, end, case):
    make, expected = ENDS[end][case]
    if http.name == "httpx":
        expected = HTTPX_DIFFERS.get((end, case), expected)

    def behave(exchange: Exchange) -> None:
        exchange.send(make(exchange))
        if end:
            time.sleep(0.01 if end == "reset" else 0)  # or the bytes before it would be lost too
            getattr(exchange, end)()

    with http.server(behave) as server:
        samples = http.send(server.url, 3, timeout_s=0.3 if expected is TIMEOUT else 2)
    assert classes(samples) == [expected] * 3
    assert each_once(server, 3)
    assert samples.wall_ns < 1_800_000_000
