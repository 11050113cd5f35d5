"""The body of one reply as it streams in: uncompressed if need be, judged, and held to a cap. No sockets here."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Protocol

from rpcbench.model.workload import Call
from rpcbench.protocol.batch import BatchReply
from rpcbench.protocol.classify import Buffer, Reply, StreamedReply

_INFLATE_BYTES = 65_536


class MalformedReplyError(Exception):
    """The bytes are no HTTP reply, or one beyond the caps."""


class Body(Protocol):
    """Takes the pieces of a body, then gives the judgement."""

    def feed(self, chunk: Buffer) -> None:
        """The next piece; `chunk` may be reused afterwards."""

    def finish(self, http_status: int, retry_after: bool) -> Reply:
        """The body is complete."""


class Bodies:
    """The replies that one trial's calls are to have: up to `max_bytes` of body, and for batches as many items."""

    def __init__(self, calls: Iterable[Call], max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.batches = {call.id: call.batch for call in calls if call.batch > 1}

    def new(self, call_id: int, coding: bytes = b"") -> Body:
        """For a reply to request `call_id` with this Content-Encoding; MalformedReplyError where that is not known."""
        size = self.batches.get(call_id)
        body: Body = StreamedReply(call_id) if size is None else BatchReply(call_id, size)
        return _Inflated(body, coding, self.max_bytes) if coding else body


class _Inflated:
    """A compressed body: gzip and deflate are undone, within the cap."""

    __slots__ = ("_body", "_inflater", "_max_bytes", "_size")

    def __init__(self, body: Body, coding: bytes, max_bytes: int) -> None:
        if coding not in {b"gzip", b"x-gzip", b"deflate"}:
            raise MalformedReplyError
        self._body = body
        self._inflater = zlib.decompressobj(wbits=47)  # gzip or zlib, as the data says
        self._max_bytes = max_bytes
        self._size = 0

    def feed(self, chunk: Buffer) -> None:
        rest: Buffer = chunk
        while len(rest):
            rest = self._inflate(rest)

    def finish(self, http_status: int, retry_after: bool) -> Reply:
        self._inflate(b"")
        if not self._inflater.eof:
            raise MalformedReplyError
        return self._body.finish(http_status, retry_after)

    def _inflate(self, rest: Buffer) -> bytes:
        """Pass on what `rest` yields, up to a bound; what is left of it for the next time."""
        try:
            data = self._inflater.decompress(rest, _INFLATE_BYTES)
        except zlib.error:
            raise MalformedReplyError from None
        self._size += len(data)
        if self._size > self._max_bytes or self._inflater.unused_data:
            raise MalformedReplyError
        self._body.feed(data)
        return self._inflater.unconsumed_tail
