"""Each way in which a server can misbehave: the class, the count, the time, and no hang."""

import gzip
import socket
import time
import zlib

import pytest

from rpcbench.model.samples import Status
from tests.engine.odd_server import Exchange, OddServer, whole


def chunked(*chunks: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    framed = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + framed + end


def untimed(body: bytes, headers: bytes = b"") -> bytes:
    """A reply whose body lasts until the connection closes."""
    return b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n" + body


def large(exchange: Exchange) -> bytes:
    return exchange.result(b'["' + b"x" * 300_000 + b'"]')


def cut(data: bytes) -> bytes:
    return data[:-5]


def no(exchange: Exchange, error: bytes) -> bytes:
    return whole(b'{"jsonrpc":"2.0","id":%d,"error":%b}' % (exchange.id, error))


OK = (Status.OK, 0)
BAD = (Status.BAD_REPLY, 200)
NOT_HTTP = (Status.BAD_REPLY, 0)
RESET = (Status.NETWORK, 104)
RETRY = b"Retry-After: 1\r\n"
GZIP = b"Content-Encoding: gzip\r\n"
DEFLATE = b"Content-Encoding: deflate\r\n"
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"
ERROR = b'{"code":-32000,"message":"cut"}'

# What is sent back, and what the row must say. The connection stays open.
COMPLETE = {
    "as a node should": (lambda x: whole(x.result()), OK),
    "large": (lambda x: whole(large(x)), OK),
    "chunked": (lambda x: chunked(x.result()[:9], x.result()[9:]), OK),
    "chunked, large": (lambda x: chunked(large(x)[:100_000], large(x)[100_000:]), OK),
    "chunk extension": (lambda x: chunked(end=b"2a;a=b\r\n%b\r\n0\r\n\r\n" % x.result()), OK),
    "chunk trailer": (lambda x: chunked(x.result(), end=b"0\r\nX-T: 1\r\n\r\n"), OK),
    "1xx first": (lambda x: INTERIM + whole(x.result()), OK),
    "same length twice": (lambda x: whole(x.result(), headers=b"Content-Length: 42\r\n"), OK),
    "gzip unasked": (lambda x: whole(gzip.compress(x.result()), headers=GZIP), OK),
    "deflate unasked": (lambda x: whole(zlib.compress(x.result()), headers=DEFLATE), OK),
    "null": (lambda x: whole(x.result(b"null")), (Status.NULL_RESULT, 0)),
    "error": (lambda x: no(x, b'{"code":-32601}'), (Status.RPC_ERROR, -32601)),
    "error and result": (lambda x: no(x, b'{"code":-1},"result":1'), (Status.RPC_ERROR, -1)),
    "error behind a large result": (
        lambda x: whole(large(x)[:-1] + b',"error":%b}' % ERROR),
        (Status.RPC_ERROR, -32000),
    ),
    "revert": (lambda x: no(x, b'{"code":3,"data":"0x"}'), (Status.REVERTED, 3)),
    "429": (lambda x: whole(b"slow down", status="429 Too Many Requests"), (Status.RATE_LIMITED, 429)),
    "503 with retry-after": (lambda x: whole(b"", status="503 Busy", headers=RETRY), (Status.RATE_LIMITED, 503)),
    "503": (lambda x: whole(b"", status="503 Busy"), (Status.HTTP_ERROR, 503)),
    "redirect": (lambda x: whole(b"", status="302 Found", headers=b"Location: /\r\n"), (Status.HTTP_ERROR, 302)),
    "304": (lambda x: b"HTTP/1.1 304 Not Modified\r\n\r\n", (Status.HTTP_ERROR, 304)),
    "204": (lambda x: b"HTTP/1.1 204 No Content\r\n\r\n", (Status.BAD_REPLY, 204)),
    "HTML": (lambda x: whole(b"<html>nginx</html>"), BAD),
    "empty": (lambda x: whole(b""), BAD),
    "invalid UTF-8": (lambda x: whole(x.result(b'"\xff\xfe"')), BAD),
    "wrong id": (lambda x: whole(b'{"id":%d,"result":1}' % (x.id + 1)), BAD),
    "no id": (lambda x: whole(b'{"result":1}'), BAD),
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
    "within the body": (lambda x: cut(whole(x.result())), BAD),
    "within a large body": (lambda x: cut(whole(large(x))), BAD),
    "within a chunk": (lambda x: cut(chunked(x.result(), end=b"")), BAD),
    "between chunks": (lambda x: chunked(x.result(), end=b""), BAD),
    "within a body without length": (lambda x: cut(untimed(x.result())), BAD),
    "before the header": (lambda x: b"", (Status.NETWORK, 0)),
}

# The server sends RST afterwards.
WITH_RESET = {
    "before the header": (lambda x: b"", RESET),
    "within the header": (lambda x: b"HTTP/1.1 2", RESET),
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
    "huge header": (lambda x: b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000, NOT_HTTP),
}

SILENT = {
    "at once": lambda x: b"",
    "within the header": lambda x: b"HTTP/1.1 200 OK\r\n",
    "within the body": lambda x: cut(whole(x.result())),
    "after an interim reply": lambda x: INTERIM,
}

ENDS = {"": COMPLETE, "close": CLOSED, "reset": WITH_RESET, "stall": HOPELESS}


@pytest.mark.parametrize(("end", "case"), [(end, case) for end, cases in ENDS.items() for case in cases])
def test_class_and_count(send, end, case):
    make, expected = ENDS[end][case]

    def behave(exchange: Exchange) -> None:
        exchange.send(make(exchange))
        if end:
            time.sleep(0.01 if end == "reset" else 0)  # or the bytes before it would be lost too
            getattr(exchange, end)()

    with OddServer(behave) as server:
        samples = send(server.url, 3)
    assert [(Status(row["status"]), row["code"]) for row in samples.rows] == [expected] * 3
    assert server.counts == {1000: 1, 1001: 1, 1002: 1}
    assert samples.wall_ns < 4_000_000_000


@pytest.mark.parametrize("case", SILENT)
def test_silence_ends_in_time(send, case):
    def behave(exchange: Exchange) -> None:
        exchange.send(SILENT[case](exchange))
        exchange.stall()

    with OddServer(behave) as server:
        samples = send(server.url, 2, timeout_s=0.2)
    assert samples.rows["status"].tolist() == [Status.TIMEOUT] * 2
    assert samples.rows["code"].tolist() == [0] * 2
    assert server.counts == {1000: 1, 1001: 1}
    assert (samples.service_ns >= 200_000_000).all()
    assert (samples.service_ns < 400_000_000).all()


def test_bytes_of_the_body_are_counted(send):
    with OddServer(lambda x: x.send(chunked(x.result()[:5], x.result()[5:]))) as server:
        samples = send(server.url, 2)
    assert samples.rows["bytes_in"].tolist() == [42, 42]
    assert (samples.rows["digest"] > 0).all()


def test_bytes_of_a_cut_body_are_counted(send):
    def behave(exchange):
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b"x" * 40)
        exchange.close()

    with OddServer(behave) as server:
        assert send(server.url).rows["bytes_in"].tolist() == [40]


def test_a_dripping_server_times_out(send):
    def drip(exchange):
        for byte in whole(exchange.result()):
            exchange.send(bytes([byte]))
            time.sleep(0.05)

    with OddServer(drip) as server:
        rows = send(server.url, timeout_s=0.3).rows
    assert rows["status"].tolist() == [Status.TIMEOUT]
    assert rows["first_ns"][0] > 0


def test_a_slow_but_steady_reply_is_whole(send):
    def trickle(exchange):
        data = whole(exchange.result())
        for start in range(0, len(data), 7):
            exchange.send(data[start : start + 7])
            time.sleep(0.002)

    with OddServer(trickle) as server:
        rows = send(server.url, 3).rows
    assert rows["status"].tolist() == [Status.OK] * 3
    assert (rows["done_ns"] - rows["first_ns"] > 10_000_000).all()


def test_a_server_that_answers_twice_spoils_no_other_request(send):
    with OddServer(lambda x: x.send(whole(x.result()) * 2)) as server:
        samples = send(server.url, 4)
    assert samples.rows["status"].tolist() == [Status.OK] * 4
    assert samples.reconnects == 3


def test_an_answer_that_nobody_asked_for_spoils_no_other_request(send):
    def twice(exchange):
        exchange.reply()
        time.sleep(0.05)
        exchange.send(whole(exchange.result()))

    gaps = [0, 200_000_000, 400_000_000]
    with OddServer(twice) as server:
        samples = send(server.url, 3, due_ns=gaps)
    assert samples.rows["status"].tolist() == [Status.OK] * 3
    assert server.counts == {1000: 1, 1001: 1, 1002: 1}


def test_refused(send, dead_url):
    samples = send(dead_url, 3)
    assert samples.rows["status"].tolist() == [Status.NETWORK] * 3
    assert samples.rows["code"].tolist() == [111] * 3
    assert samples.rows["sent_ns"].tolist() == [0] * 3
    assert samples.connects == 0


def test_a_name_that_resolves_to_nothing(send):
    samples = send("http://no-such-host.invalid:1", 2, timeout_s=2)
    assert set(samples.rows["status"]) <= {Status.NETWORK, Status.TIMEOUT}
    assert samples.rows["sent_ns"].tolist() == [0] * 2


def test_a_connection_that_never_opens(send):
    """A full backlog leaves the handshake unanswered."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        host, port = listener.getsockname()
        with socket.create_connection((host, port)), socket.socket() as second:
            second.setblocking(False)
            second.connect_ex((host, port))
            samples = send(f"http://{host}:{port}", 2, timeout_s=0.3)
    assert samples.rows["status"].tolist() == [Status.TIMEOUT] * 2
    assert samples.rows["sent_ns"].tolist() == [0, 0]
    assert (samples.rows["connect_ns"] >= 290_000_000).all()
    assert (samples.latency_ns < 500_000_000).all()


def test_ipv6(send):
    with OddServer(family=socket.AF_INET6) as server:
        samples = send(server.url, 2)
        assert f"Host: [::1]:{server.port}\r\n".encode() in server.heads[0]
    assert samples.rows["status"].tolist() == [Status.OK] * 2


def test_a_host_with_several_addresses(send):
    """localhost may be ::1 first, where nobody listens."""
    with OddServer() as server:
        samples = send(f"http://localhost:{server.port}", 2)
    assert samples.rows["status"].tolist() == [Status.OK] * 2
