"""From an HTTP reply to a JSON-RPC result, or to the trouble that stands in its place. No I/O.

The survey needs the result itself and a sentence for the person; the classes that a measured reply falls into are the
business of `rpcbench.protocol.classify`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from rpcbench.model.node import Node
from rpcbench.survey.privacy import printable
from rpcbench.survey.trouble import Kind, Trouble


@dataclass(frozen=True, slots=True)
class HttpReply:
    """One whole reply. `retry_after` tells that the header was there; `latency_ms` does not hold connecting."""

    http_status: int
    retry_after: bool
    body: bytes
    bytes_in: int
    latency_ms: float


# Codes in a JSON-RPC error that mean "too often", whatever the HTTP status says.
_LIMITED_CODES = {429, 402, -32005}


def result_of(node: Node, method: str, request_id: int, reply: HttpReply) -> Any:
    """The `result` in `reply`; raises Trouble when there is none."""
    document = _parsed(reply.body)
    code, message = rpc_error(document)
    if (trouble := _turned_away(node, reply.http_status, code)) is not None:
        raise trouble
    if code is not None:
        said = f' "{printable(message, node)}"' if message else ""
        raise Trouble(node, f"answers {method} with error {code}{said}: see what its log says of it", Kind.RPC_ERROR)
    if not 200 <= reply.http_status < 300:
        raise _strange_status(node, reply.http_status)
    if not isinstance(document, dict) or "result" not in document or document.get("id") != request_id:
        raise Trouble(node, _not_a_result(reply.body, document), Kind.ELSEWHERE)
    return document["result"]


def rpc_error(document: Any) -> tuple[int | None, str]:
    """Code and text of the error in a parsed JSON-RPC reply; the code is None when there is no error."""
    error = document.get("error") if isinstance(document, dict) else None
    if not isinstance(error, dict) or not isinstance(error.get("code"), int):
        return None, ""
    data = error.get("data")
    reason = data.get("reason") if isinstance(data, dict) else data
    texts = [text for text in (error.get("message"), reason) if isinstance(text, str) and text]
    return error["code"], ": ".join(texts)


def error_text(body: bytes) -> str:
    """What a node's error reply says in its own words, of a batch the first; empty when it says nothing readable."""
    document = _parsed(body)
    items = document if isinstance(document, list) else [document]
    return next((text for item in items if (text := rpc_error(item)[1])), "")


def _turned_away(node: Node, http_status: int, code: int | None) -> Trouble | None:
    if http_status in (401, 403):
        advice = "check its headers and the key in its URL"
        return Trouble(node, f"does not let us in (HTTP {http_status}): {advice}", Kind.UNWILLING)
    if http_status in (402, 429) or code in _LIMITED_CODES:
        says = f"HTTP {http_status}" if code is None else f"error {code}"
        return Trouble(node, f"limits our rate ({says}): wait a while, or raise its limit", Kind.UNWILLING)
    if http_status >= 500 and code is None:
        advice = "look into its log, or try again when it has started"
        return Trouble(node, f"fails with HTTP {http_status}: {advice}", Kind.UNWILLING)
    return None


def _strange_status(node: Node, http_status: int) -> Trouble:
    if 300 <= http_status < 400:
        predicate = f"redirects elsewhere (HTTP {http_status}), and redirects are not followed: give the final URL"
    elif http_status == 404:
        predicate = "has nothing at this path (HTTP 404): correct the path of its URL"
    else:
        predicate = f"answers HTTP {http_status} instead of JSON-RPC: check its URL"
    return Trouble(node, predicate, Kind.ELSEWHERE)


def _not_a_result(body: bytes, document: Any) -> str:
    if not body.strip():
        return "sends an empty reply: check that its URL leads to a JSON-RPC endpoint"
    if document is None and body.lstrip()[:1] == b"<":
        return "answers with a web page (HTML), not JSON: check host, port and path of its URL"
    if document is None:
        return "answers with something that is not JSON: check host, port and path of its URL"
    return "answers with JSON that is not a JSON-RPC reply to our request: check its URL"


def _parsed(body: bytes) -> Any:
    """The JSON value in `body`, or None; a bare `null` is as useless as no JSON at all."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
