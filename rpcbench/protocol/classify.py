"""What one reply means: status, code and a digest of its result.

HTTP 200 carries errors in JSON-RPC, so every reply is judged by its body. Small bodies are parsed whole. Large ones
are hashed as they stream by, without ever being held: only the envelope around the result is kept and parsed, so an
error in front of or behind the result is seen. What lies inside a large result is not parsed: damage there shows as
another digest, and as a bad reply only where the result no longer ends as it began.

The digest is xxh3-64 of the bytes of the result (or of the error object), so it does not depend on the request id,
on the order of the envelope's members, or on which of the two ways a body took.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any, NamedTuple

import msgspec
import xxhash

from rpcbench.model.samples import Status

WHOLE_BYTES = 16_384  # the largest body that is parsed whole
_HEAD_BYTES = 1_024  # where the result of a large body has to begin if it is to be streamed
_TAIL_BYTES = 2_048  # how far from the end an error behind a large result is seen
_NEAR_BYTES = 192  # enough for an id and a version behind the result

_MESSAGE_LENGTH = 512  # of an error message, where a limit would be named

_RATE_CODES = frozenset({429, 402, -32005})
_RATE_MESSAGE = re.compile(
    r"\brate.?limit|too many requests|throughput limit|\b(?:at|over) capacity"
    r"|\b(?:requests?|rate|quota|credits?|units|capacity)\b.{0,60}\bexceeded"
    r"|\bexceeded\b.{0,60}\b(?:requests?|rate|quota|credits?|units|capacity)\b",
    re.IGNORECASE,
)
# Execution reverted (Ethereum 3), contract error and transaction execution error (Starknet 40, 41).
_REVERT_CODES = frozenset({3, 40, 41})

_SPACE = b" \t\r\n"
_ENDS_WITH = {b"{": b"}", b"[": b"]", b'"': b'"'}
# The envelopes that nodes send: nothing here can be mistaken for a result that lies deeper.
_PLAIN_HEAD = re.compile(rb'\{(?:"jsonrpc":"2\.0",|"id":\d+,)*"result":(?=[\[{"])')
_RESULT_KEY = re.compile(rb'"result"[ \t\r\n]*:[ \t\r\n]*(?=[^ \t\r\n])')
_KNOWN_MEMBER = re.compile(rb',(?=[ \t\r\n]*"(?:id|jsonrpc|error)"[ \t\r\n]*:)')
_ANY_MEMBER = re.compile(rb',(?=[ \t\r\n]*")')

Buffer = bytes | bytearray | memoryview


class Reply(NamedTuple):
    """The class of a reply. `code` is the JSON-RPC error code or the HTTP status, 0 for an answer."""

    status: Status
    code: int
    digest: int


_ABSENT = msgspec.Raw(b"")  # compared by identity


class _Envelope(msgspec.Struct, gc=False):
    id: Any = None
    result: msgspec.Raw = _ABSENT
    error: msgspec.Raw = _ABSENT


_decode = msgspec.json.Decoder(_Envelope).decode
_MALFORMED = (ValueError, RecursionError)  # msgspec and UTF-8 errors are ValueErrors
_digest = xxhash.xxh3_64_intdigest
_NULL_DIGEST = _digest(b"null")
_OK = Status.OK
_reply = partial(tuple.__new__, Reply)  # Reply(…) at half the price


def classify(http_status: int, retry_after: bool, body: bytes, call_id: int) -> Reply:
    """Judge a whole reply to the request with id `call_id`."""
    if len(body) > WHOLE_BYTES:
        streamed = StreamedReply(call_id)
        streamed.feed(body)
        return streamed.finish(http_status, retry_after)
    return _judge(http_status, retry_after, body, call_id)


class StreamedReply:
    """Judges a reply that arrives in pieces; gives what `classify` gives for the same bytes, however they are split."""

    __slots__ = ("_before", "_call_id", "_closing", "_hash", "_held", "_parse_whole")

    def __init__(self, call_id: int) -> None:
        self._call_id = call_id
        self._held = bytearray()  # all so far; once the result streams, only what may belong to the envelope's end
        self._parse_whole = False
        self._before = b""  # the envelope up to the result
        self._closing = b""  # what the result must end with
        self._hash: Any = None

    def feed(self, chunk: Buffer) -> None:
        """Take the next piece of the body; `chunk` may be reused by the caller afterwards."""
        if self._hash is not None:
            self._stream(chunk)
        elif self._held or len(chunk) <= WHOLE_BYTES or self._parse_whole:
            self._held += chunk
            if len(self._held) > WHOLE_BYTES and not self._parse_whole:
                held, self._held = self._held, bytearray()
                self._begin(memoryview(held))
        else:
            self._begin(memoryview(chunk))

    def finish(self, http_status: int, retry_after: bool) -> Reply:
        """The body is complete: judge it."""
        if self._hash is None:
            return _judge(http_status, retry_after, bytes(self._held), self._call_id)
        surplus = len(self._held) - _TAIL_BYTES
        if surplus > 0:
            self._hash.update(self._held[:surplus])
            del self._held[:surplus]
        result_end, envelope_end = _split_tail(bytes(self._held), self._closing)
        self._hash.update(result_end)
        envelope = self._before + b"0" + envelope_end
        return _judge(http_status, retry_after, envelope, self._call_id, self._hash.intdigest())

    def _begin(self, start: memoryview) -> None:
        """Find where the result begins in a body that is too large to hold; hold it all the same if it does not."""
        head = bytes(start[:_HEAD_BYTES])
        at = _start_of_result(head)
        if at < 0:
            self._parse_whole = True
            self._held += start
            return
        self._before = head[:at]
        self._closing = _ENDS_WITH.get(head[at : at + 1], b"")
        self._hash = xxhash.xxh3_64()
        self._stream(start[at:])

    def _stream(self, chunk: Buffer) -> None:
        """Hash all that cannot belong to the end of the envelope, hold the rest."""
        size = len(chunk)
        if size >= _TAIL_BYTES:
            view = memoryview(chunk)
            if self._held:
                self._hash.update(self._held)
            self._hash.update(view[: size - _TAIL_BYTES])
            self._held = bytearray(view[size - _TAIL_BYTES :])
            return
        self._held += chunk
        surplus = len(self._held) - _TAIL_BYTES
        if surplus >= _TAIL_BYTES:
            self._hash.update(self._held[:surplus])
            del self._held[:surplus]


def _envelope(body: bytes) -> _Envelope | None:
    """`body` as a JSON object, or None when it is no such thing."""
    try:
        return _decode(body)
    except _MALFORMED:
        return None


def _start_of_result(head: bytes) -> int:
    """Where the result of the envelope begins, -1 when that is not to be seen from the head of the body."""
    plain = _PLAIN_HEAD.match(head)
    if plain:
        return plain.end()
    # The key stands in the envelope, and not deeper or in a string, if the object may end right after its value.
    starts = (key.end() for key in _RESULT_KEY.finditer(head))
    return next((at for at in starts if _envelope(head[:at] + b"0}") is not None), -1)


def _split_tail(tail: bytes, closing: bytes) -> tuple[bytes, bytes]:
    """Split the end of a large body into the end of the result and of the envelope; the latter is empty, and so the
    reply a bad one, where the result does not end with `closing`."""
    near = tail[-_NEAR_BYTES:]
    last_brace = len(tail.rstrip(_SPACE)) - 1
    if b'"error"' in tail:
        end = _first_member(_KNOWN_MEMBER, tail, 0, last_brace)
    elif b'"id"' in near or b'"jsonrpc"' in near:
        end = _first_member(_KNOWN_MEMBER, tail, max(0, len(tail) - _NEAR_BYTES), last_brace)
    else:
        end = last_brace
    result_end = tail[:end].rstrip(_SPACE)
    if not result_end.endswith(closing):
        end = _first_member(_ANY_MEMBER, tail, 0, last_brace)
        result_end = tail[:end].rstrip(_SPACE)
    return (result_end, tail[end:]) if closing and result_end.endswith(closing) else (result_end, b"")


def _first_member(pattern: re.Pattern[bytes], tail: bytes, start: int, otherwise: int) -> int:
    """The first comma from `start` on behind which only members of the envelope come.

    A comma from which the rest reads as the members of an object, up to the last brace, stands in that object: were
    it deeper, a brace would be left over.
    """
    commas = (comma.start() for comma in pattern.finditer(tail, start))
    return next((at for at in commas if _envelope(b"{" + tail[at + 1 :]) is not None), otherwise)


def _judge(http_status: int, retry_after: bool, body: bytes, call_id: int, digest: int | None = None) -> Reply:
    """The first class that fits. `digest` is given where the result was streamed and is not in `body`."""
    try:
        envelope = _decode(body) if body.isascii() or _is_utf8(body) else None
    except _MALFORMED:
        envelope = None
    if envelope is not None and envelope.error is not _ABSENT and not _is_null(envelope.error):
        return _judge_error(http_status, retry_after, envelope, call_id)
    if not 200 <= http_status < 300:
        limited = _is_rate_limit(http_status, retry_after)
        return Reply(Status.RATE_LIMITED if limited else Status.HTTP_ERROR, _int32(http_status), 0)
    if envelope is None or type(envelope.id) is not int or envelope.id != call_id:
        return Reply(Status.BAD_REPLY, http_status, 0)
    result = envelope.result
    if result is _ABSENT:
        return Reply(Status.BAD_REPLY, http_status, 0)
    if digest is None:
        digest = _digest(result)
    return _reply((_OK if digest != _NULL_DIGEST else Status.NULL_RESULT, 0, digest))


def _judge_error(http_status: int, retry_after: bool, envelope: _Envelope, call_id: int) -> Reply:
    """An error member wins over everything beside it."""
    digest = _digest(envelope.error)
    code, message = _code_and_message(envelope.error)
    if _is_rate_limit(http_status, retry_after):
        return Reply(Status.RATE_LIMITED, http_status, digest)
    reverted = code in _REVERT_CODES
    if code in _RATE_CODES or (not reverted and _RATE_MESSAGE.search(message, 0, _MESSAGE_LENGTH)):
        return Reply(Status.RATE_LIMITED, code, digest)
    if not 200 <= http_status < 300:
        return Reply(Status.HTTP_ERROR, _int32(http_status), digest)
    # A node that could not read the id of a request answers with null.
    if envelope.id is not None and (type(envelope.id) is not int or envelope.id != call_id):
        return Reply(Status.BAD_REPLY, http_status, digest)
    return Reply(Status.REVERTED if reverted else Status.RPC_ERROR, code, digest)


def _is_rate_limit(http_status: int, retry_after: bool) -> bool:
    return http_status in {429, 402} or (http_status == 503 and retry_after)


def _is_null(member: msgspec.Raw) -> bool:
    return len(member) == 4 and bytes(member) == b"null"


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _code_and_message(error: msgspec.Raw) -> tuple[int, str]:
    """What an error object says; nodes and gateways send all sorts of things here."""
    try:
        content = msgspec.json.decode(error)
    except _MALFORMED:
        return 0, ""
    if not isinstance(content, dict):
        return 0, str(content)
    code, message = content.get("code"), content.get("message")
    return _int32(code) if isinstance(code, int | float) else 0, message if isinstance(message, str) else ""


def _int32(number: float) -> int:
    return int(max(-(2**31), min(2**31 - 1, number)))
