"""Reading one HTTP/1.x reply after another out of whatever pieces the socket gives. No sockets here.

A small reply that comes in one piece is judged at once. Any other body is streamed through `StreamedReply`; nothing
is kept of it beyond what the judgement needs. What breaks HTTP, or exceeds the caps, is a bad reply.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple

from rpcbench.engine.reply_body import Bodies, Body, MalformedReplyError
from rpcbench.model.samples import Status
from rpcbench.protocol.classify import Reply, classify

MAX_HEAD_BYTES = 16_384
_MAX_LINE_BYTES = 1_024  # chunk sizes and trailers

_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-9]\d\d)(?: [^\n]*)?")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,12})[ \t]*(?:;.*)?", re.DOTALL)

CHUNKED = -1
UNTIL_CLOSE = -2


class Head(NamedTuple):
    """What the head of a reply says of its body. `simple` is `length` where the body can be judged in one piece."""

    status: int
    length: int  # or CHUNKED, UNTIL_CLOSE
    simple: int
    keep_alive: bool
    retry_after: bool
    coding: bytes


# The heads of one node differ by date and length only, so most are parsed once.
@lru_cache(maxsize=512)
def parse_head(head: bytes) -> Head:
    """The head without its empty line; raises MalformedReplyError."""
    status_line, *lines = head.split(b"\r\n")
    match = _STATUS_LINE.fullmatch(status_line)
    if match is None:
        raise MalformedReplyError
    status = int(match[2])
    headers = _headers(lines)
    connection = _tokens(headers.get(b"connection", b""))
    keep_alive = b"close" not in connection if match[1] == b"1" else b"keep-alive" in connection
    lengths = set(_tokens(headers.get(b"content-length", b"")))
    transfer = [token for token in _tokens(headers.get(b"transfer-encoding", b"")) if token != b"identity"]
    if len(lengths) > 1 or not all(length.isdigit() for length in lengths) or transfer not in ([], [b"chunked"]):
        raise MalformedReplyError
    if status in {204, 304}:
        length = 0
    elif transfer:
        length = CHUNKED
        keep_alive = keep_alive and not lengths  # both: one of the two is a lie
    elif lengths:
        length = int(lengths.pop())
    else:
        length, keep_alive = UNTIL_CLOSE, False
    coding = headers.get(b"content-encoding", b"").lower()
    coding = b"" if coding == b"identity" else coding
    simple = length if status >= 200 and not coding else CHUNKED
    return Head(status, length, simple, keep_alive, b"retry-after" in headers, coding)


def _headers(lines: list[bytes]) -> dict[bytes, bytes]:
    """Values by lower-case name; several of one name are joined by commas."""
    headers: dict[bytes, bytes] = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not name or name != name.strip() or b"\n" in line or b"\0" in line:
            raise MalformedReplyError
        key, value = name.lower(), value.strip(b" \t")
        headers[key] = headers[key] + b"," + value if key in headers else value
    return headers


def _tokens(value: bytes) -> list[bytes]:
    return [token.strip().lower() for token in value.split(b",")] if value else []


class _Expect(Enum):
    """What comes next in a chunked body."""

    SIZE = auto()
    DATA = auto()
    DATA_END = auto()
    TRAILER = auto()


class ReplyReader:
    """Takes the pieces of a connection in order; gives one Reply for each reply that is complete."""

    __slots__ = ("_bodies", "_body", "_expect", "_head", "_left", "_line", "_text", "keep_alive", "received")

    def __init__(self, bodies: Bodies) -> None:
        self.keep_alive = True  # of the last reply
        self.received = 0  # body bytes of the last reply, or of the one being read
        self._text = b""  # an incomplete head
        self._head: Head | None = None
        self._body: Body
        self._bodies = bodies
        self._left = 0
        self._line = b""
        self._expect = _Expect.SIZE

    def feed(self, data: memoryview, call_id: int) -> Reply | None:
        """Take the next piece; the reply to request `call_id` once it is complete. `data` may be reused afterwards."""
        if self._head is None and not self._text and len(data) <= MAX_HEAD_BYTES:
            text, end, body = bytes(data).partition(b"\r\n\r\n")
            if end:
                try:
                    status, _, simple, keep_alive, retry_after, _ = parse_head(text)
                except MalformedReplyError:
                    return self._malformed()
                if len(body) == simple:
                    self.keep_alive = keep_alive
                    self.received = simple
                    return classify(status, retry_after, body, call_id)
        return self._feed_on(data, call_id)

    def end(self) -> Reply | None:
        """The server closed its side: the reply if that completes or cuts it, None if none had begun."""
        head = self._head
        if head is None:
            return self._malformed() if self._text else None
        if head.length != UNTIL_CLOSE:
            return self._malformed()
        try:
            return self._complete(head, surplus=0)
        except MalformedReplyError:
            return self._malformed()

    @property
    def begun(self) -> bool:
        """Whether a reply is being read."""
        return self._head is not None or bool(self._text)

    def _feed_on(self, data: memoryview, call_id: int) -> Reply | None:
        """Any piece of any reply."""
        if self._head is None:
            self.received = 0
        try:
            return self._feed(data, call_id)
        except MalformedReplyError:
            return self._malformed()

    def _feed(self, data: memoryview, call_id: int) -> Reply | None:
        while self._head is None:
            known = len(self._text)
            self._text += bytes(data[: MAX_HEAD_BYTES - known])
            end = self._text.find(b"\r\n\r\n")
            if end < 0:
                if len(self._text) >= MAX_HEAD_BYTES or not self._text.startswith(b"HTTP/1."[: len(self._text)]):
                    raise MalformedReplyError
                return None
            head = parse_head(self._text[:end])
            data = data[end + 4 - known :]
            self._text = b""
            if head.status == 101:
                raise MalformedReplyError
            if head.status >= 200:
                self._begin_body(head, call_id)
        return self._feed_body(self._head, data)

    def _begin_body(self, head: Head, call_id: int) -> None:
        if head.length > self._bodies.max_bytes:
            raise MalformedReplyError
        self._head = head
        self._left = max(0, head.length)
        self._expect = _Expect.SIZE
        self._body = self._bodies.new(call_id, head.coding)

    def _feed_body(self, head: Head, data: memoryview) -> Reply | None:
        if head.length == CHUNKED:
            return self._feed_chunks(head, data)
        if head.length == UNTIL_CLOSE:
            self._take(data)
            return None
        part = data[: self._left]
        self._left -= len(part)
        self._take(part)
        return None if self._left else self._complete(head, len(data) - len(part))

    def _feed_chunks(self, head: Head, data: memoryview) -> Reply | None:
        while len(data):
            if self._expect is _Expect.DATA:
                part = data[: self._left]
                data = data[len(part) :]
                self._left -= len(part)
                self._take(part)
                if not self._left:
                    self._expect = _Expect.DATA_END
                continue
            line, data = self._read_line(data)
            if line is None:
                break
            if self._expect is _Expect.TRAILER:
                if not line:
                    return self._complete(head, len(data))
            elif self._expect is _Expect.DATA_END:
                if line:
                    raise MalformedReplyError
                self._expect = _Expect.SIZE
            else:
                self._left = _chunk_size(line)
                self._expect = _Expect.DATA if self._left else _Expect.TRAILER
        return None

    def _read_line(self, data: memoryview) -> tuple[bytes | None, memoryview]:
        """The next whole line and what follows it; None while it is incomplete."""
        known = len(self._line)
        text = self._line + bytes(data[:_MAX_LINE_BYTES])
        end = text.find(b"\r\n")
        if end >= 0:
            self._line = b""
            return text[:end], data[end + 2 - known :]
        if len(text) >= _MAX_LINE_BYTES:
            raise MalformedReplyError
        self._line = text
        return None, data[len(data) :]

    def _take(self, part: memoryview) -> None:
        self.received += len(part)
        if self.received > self._bodies.max_bytes:
            raise MalformedReplyError
        self._body.feed(part)

    def _complete(self, head: Head, surplus: int) -> Reply:
        reply = self._body.finish(head.status, head.retry_after)
        self._head = None
        self.keep_alive = head.keep_alive and not surplus  # more than was asked for: what comes next is not ours
        return reply

    def _malformed(self) -> Reply:
        status = self._head.status if self._head is not None else 0
        self.keep_alive = False
        return Reply(Status.BAD_REPLY, status, 0)


class BatchReplyReader(ReplyReader):
    """For workloads that hold batches, whose replies are no single objects."""

    __slots__ = ()

    def feed(self, data: memoryview, call_id: int) -> Reply | None:
        """As in every reader; replies to batches are never judged in one piece."""
        if call_id in self._bodies.batches:
            return self._feed_on(data, call_id)
        return super().feed(data, call_id)


def _chunk_size(line: bytes) -> int:
    match = _CHUNK_SIZE.fullmatch(line)
    if match is None:
        raise MalformedReplyError
    return int(match[1], 16)
