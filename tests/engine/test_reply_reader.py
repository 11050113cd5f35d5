"""HTTP framing without sockets: any split of the bytes gives the same reply."""

import gzip

import httptools
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpcbench.engine import reply_body
from rpcbench.engine.reply_body import Bodies
from rpcbench.engine.reply_reader import CHUNKED, UNTIL_CLOSE, MalformedReplyError, ReplyReader, parse_head
from rpcbench.model.samples import Status
from rpcbench.protocol.classify import Reply, classify

SMALL = b'{"jsonrpc":"2.0","id":1,"result":"0x1"}'
LARGE = b'{"jsonrpc":"2.0","id":1,"result":["' + b"x" * 40_000 + b'"]}'
splits = st.lists(st.integers(0, 45_000), max_size=6)


def read(
    data: bytes,
    at: list[int] = [],  # noqa: B006
    *,
    close: bool = False,
    cap: int = 2**28,
) -> tuple[list[Reply], ReplyReader]:
    """The replies in `data`, given in pieces cut at `at` out of a buffer that is used again and again."""
    reader = ReplyReader(Bodies((), cap))
    replies = []
    start = 0
    for end in [*sorted(min(cut, len(data)) for cut in at), len(data)]:
        buffer = bytearray(data[start:end])
        reply = reader.feed(memoryview(buffer), 1) if buffer else None
        buffer[:] = b"#" * len(buffer)
        start = end
        if reply is not None:
            replies.append(reply)
            if not reader.keep_alive:
                return replies, reader
    if close:
        last = reader.end()
        replies += [] if last is None else [last]
    return replies, reader


def with_length(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


def in_chunks(body: bytes, sizes: list[int]) -> bytes:
    data = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    start = 0
    for size in [*sizes, len(body)]:
        chunk = body[start : start + size]
        start += size
        if chunk:
            data += b"%X;ext=1\r\n%b\r\n" % (len(chunk), chunk)
    return data + b"0\r\nTrailer: x\r\n\r\n"


@given(
    body=st.sampled_from([SMALL, LARGE, b"", b"<html>"]), at=splits, sizes=st.lists(st.integers(1, 30_000), max_size=5)
)
@settings(max_examples=120, deadline=None)
def test_every_framing_in_every_split_is_one_reply(body, at, sizes):
    expected = classify(200, False, body, 1)
    packed = gzip.compress(body)
    framings = [
        with_length(body),
        in_chunks(body, sizes),
        b"HTTP/1.1 102 Wait\r\n\r\n" + with_length(body),
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b" % (len(packed), packed),
    ]
    for framing in framings:
        replies, reader = read(framing, at)
        assert replies == [expected]
        assert reader.keep_alive
        assert not reader.begun
    assert read(b"HTTP/1.1 200 OK\r\n\r\n" + body, at, close=True)[0] == [expected]


@given(bodies=st.lists(st.sampled_from([SMALL, LARGE, b"x"]), min_size=1, max_size=4))
@settings(max_examples=20, deadline=None)
def test_one_reply_after_another(bodies):
    reader = ReplyReader(Bodies((), 2**28))
    for body in bodies:
        for framed in (with_length(body), in_chunks(body, [10])):
            assert reader.feed(memoryview(framed), 1) == classify(200, False, body, 1)
            assert reader.received == len(body)


@given(
    data=st.binary(max_size=60),
    at=splits,
    start=st.sampled_from([b"", b"HTTP/1.1 200 OK\r\n", in_chunks(SMALL, [5])[:60]]),
)
@settings(max_examples=200, deadline=None)
def test_no_bytes_raise(data, at, start):
    replies, reader = read(start + data, at, close=True)
    assert len(replies) <= 1 or reader.keep_alive


@given(body=st.binary(max_size=200), sizes=st.lists(st.integers(1, 50), max_size=8), at=splits)
@settings(max_examples=60, deadline=None)
def test_chunks_are_read_as_llhttp_reads_them(body, sizes, at):
    framed = in_chunks(body, sizes)
    taken = b""

    class Theirs:
        def on_body(self, part: bytes) -> None:
            nonlocal taken
            taken += part

    httptools.HttpResponseParser(Theirs()).feed_data(framed)
    assert taken == body
    replies, reader = read(framed, at)
    assert reader.received == len(taken)
    assert replies == [classify(200, False, taken, 1)]


@pytest.mark.parametrize(
    ("head", "length", "keep_alive"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5", 5, True),
        (b"HTTP/1.1 200\r\ncontent-length:5  ", 5, True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5", 5, True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5, 5", 5, True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive, Close", 5, False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 5", 5, False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: Keep-Alive", 5, True),
        (b"HTTP/1.1 200 OK\r\nTRANSFER-ENCODING: Chunked", CHUNKED, True),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5", CHUNKED, False),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 5", 5, True),
        (b"HTTP/1.1 200 OK", UNTIL_CLOSE, False),
        (b"HTTP/1.1 204 No Content", 0, True),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5", 0, True),
    ],
)
def test_heads(head, length, keep_alive):
    parsed = parse_head(head)
    assert (parsed.length, parsed.keep_alive) == (length, keep_alive)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"HTTP/2 200 OK",
        b"HTTP/1.1 20 OK",
        b"HTTP/1.1 2000 OK",
        b"http/1.1 200 OK",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0x5",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5 5",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked",
        b"HTTP/1.1 200 OK\r\nno colon",
        b"HTTP/1.1 200 OK\r\n: no name",
        b"HTTP/1.1 200 OK\r\nSpaced : x",
        b"HTTP/1.1 200 OK\r\nA: b\r\n folded",
        b"HTTP/1.1 200 OK\r\nA: b\nC: d",
    ],
)
def test_broken_heads(head):
    with pytest.raises(MalformedReplyError):
        parse_head(head)


def test_more_than_one_reply_ends_the_connection():
    replies, reader = read(with_length(SMALL) + b"H")
    assert [reply.status for reply in replies] == [Status.OK]
    assert not reader.keep_alive


@pytest.mark.parametrize("framing", [with_length, lambda body: in_chunks(body, [1000] * 40)])
def test_bodies_beyond_the_cap_are_not_read_on(framing):
    replies, reader = read(framing(LARGE), list(range(0, 45_000, 500)), cap=30_000)
    assert [reply.status for reply in replies] == [Status.BAD_REPLY]
    assert reader.received <= 30_500


def test_a_gzip_bomb_stops_at_the_cap(monkeypatch):
    bomb = gzip.compress(bytes(50_000_000))
    inflated = []
    take = reply_body.StreamedReply.feed
    monkeypatch.setattr(
        reply_body.StreamedReply, "feed", lambda self, part: (inflated.append(len(part)), take(self, part))
    )
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    replies, _ = read(head + bomb, cap=1_000_000)
    assert replies == [Reply(Status.BAD_REPLY, 200, 0)]
    assert sum(inflated) <= 1_100_000


@pytest.mark.parametrize("data", [b"G", b"HTTP/2", b"HTTP/1.1 200 OK\r\nA: " + b"x" * 20_000])
def test_what_cannot_become_a_reply_is_refused_at_once(data):
    replies, reader = read(data)
    assert replies == [Reply(Status.BAD_REPLY, 0, 0)]
    assert not reader.keep_alive
