"""JSON-RPC batches: several calls in one body, and what the reply to one means.

A batch is one request and gets one class: the worst of its items', items being matched by id and never by position.
It is held and parsed whole, whatever its size. The digest is of the results' digests in the order of the calls, so it
does not depend on the order in which a node answers.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import xxhash

from rpcbench.model.samples import Status
from rpcbench.protocol.classify import Buffer, Reply, classify

_ID_STEP = 2**32  # ids of items stay below 2**53, which every JSON reader keeps exact


class _Item(msgspec.Struct):
    id: int


_decode_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_item = msgspec.json.Decoder(_Item).decode


def item_id(call_id: int, index: int) -> int:
    """The id of one call in the batch that is the run's call `call_id`; the first one's is `call_id` itself."""
    return call_id + index * _ID_STEP


def encode_batch(items: Iterable[bytes]) -> bytes:
    """A body of several encoded requests."""
    return b"[" + b",".join(items) + b"]"


class BatchReply:
    """Judges the reply to a batch of `size` calls, in whatever pieces it arrives."""

    __slots__ = ("_body", "_call_id", "_size")

    def __init__(self, call_id: int, size: int) -> None:
        self._call_id = call_id
        self._size = size
        self._body = bytearray()

    def feed(self, chunk: Buffer) -> None:
        """Take the next piece of the body; `chunk` may be reused by the caller afterwards."""
        self._body += chunk

    def finish(self, http_status: int, retry_after: bool) -> Reply:
        """The body is complete: judge it."""
        return classify_batch(http_status, retry_after, bytes(self._body), self._call_id, self._size)


def classify_batch(http_status: int, retry_after: bool, body: bytes, call_id: int, size: int) -> Reply:
    """Judge a whole reply to the batch `call_id` of `size` calls."""
    items = _items(body) if 200 <= http_status < 300 else None
    if items is None:  # an error for the whole batch, or something that is no reply to one
        reply = classify(http_status, retry_after, body, call_id)
        return reply if reply.status > Status.NULL_RESULT else Reply(Status.BAD_REPLY, http_status, 0)
    if len(items) == 1 and size > 1:
        # One element for all: geth refuses a batch so, under the id of its first call.
        reply = classify(http_status, retry_after, items[0], call_id)
        refused = reply.status in (Status.RPC_ERROR, Status.RATE_LIMITED)
        return reply if refused else Reply(Status.BAD_REPLY, http_status, reply.digest)
    by_id = _by_id(items)
    wanted = [item_id(call_id, index) for index in range(size)]
    if len(items) != size or by_id is None or by_id.keys() != set(wanted):
        return Reply(Status.BAD_REPLY, http_status, 0)
    replies = [classify(http_status, retry_after, by_id[one], one) for one in wanted]
    worst = max(replies, key=lambda reply: reply.status)  # the first of several
    digests = b"".join(reply.digest.to_bytes(8, "little") for reply in replies)
    return worst._replace(digest=xxhash.xxh3_64_intdigest(digests))


def _items(body: bytes) -> list[bytes] | None:
    """The elements of an array; None for what is no array, or not JSON."""
    try:
        body.decode()
        return [bytes(item) for item in _decode_items(body)]
    except (ValueError, RecursionError):
        return None


def _by_id(items: list[bytes]) -> dict[int, bytes] | None:
    """Elements by their ids; None where one has no integer for an id. Of two with one id the last stays."""
    try:
        return {_decode_item(item).id: item for item in items}
    except (ValueError, RecursionError):
        return None
