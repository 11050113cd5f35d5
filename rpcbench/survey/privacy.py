"""What a node says, made fit to print: without the secrets we hold for it, without control characters, cut.

A provider may echo the key it was called with. Every text that came from a node passes through here before it is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from rpcbench.model.node import Node

# Hiding shorter strings would garble every other word and protect nothing.
_SHORTEST_SECRET = 4


def printable(text: str, node: Node, limit: int = 200) -> str:
    """`text` of `node` as one line of at most `limit` characters in which none of the node's secrets is left."""
    for secret in sorted(set(_secrets(node)), key=len, reverse=True):
        text = text.replace(secret, "…")
    text = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _secrets(node: Node) -> Iterator[str]:
    """Every part of the node's URL and headers that `place` does not show, as written and as a server reads it."""
    parts = urlsplit(node.url)
    for secret in (*_url_secrets(node, parts), *_header_secrets(node)):
        yield from (form for form in (secret, unquote(secret)) if len(form) >= _SHORTEST_SECRET)


def _url_secrets(node: Node, parts: SplitResult) -> Iterator[str]:
    yield from (part for part in (parts.username, parts.password, parts.query) if part)
    yield from (value for _, value in parse_qsl(parts.query))
    segments = [segment for segment in parts.path.split("/") if segment]
    yield from (own for own, shown in zip(segments, node.place.split("/")[1:], strict=True) if shown == "…")


def _header_secrets(node: Node) -> Iterator[str]:
    for _, value in node.headers:
        yield value
        yield value.split(" ")[-1]  # the token of `Bearer token`
