"""Every request as the bytes that go out, made before the trial's clock starts; and where they go."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

from rpcbench import __version__
from rpcbench.errors import EngineError
from rpcbench.model.node import Node
from rpcbench.model.workload import Call

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SAFE_IN_PATH = "/%:;=@&+$,!~*'()[]?"
_FRAMING = frozenset({"content-length", "transfer-encoding"})


@dataclass(frozen=True, slots=True)
class Target:
    """Where the bytes of a node's URL go. `path` and `authorization` may be secret."""

    host: str
    port: int
    tls: bool
    host_header: str
    path: str = field(repr=False)
    authorization: str | None = field(repr=False)


def target_of(node: Node) -> Target:
    """Take a node's URL apart; EngineError, without the URL, where this engine cannot speak to it."""
    try:
        parts = urlsplit(node.url)
        host, port = parts.hostname, parts.port
        ascii_host = host.encode("idna").decode() if host and not host.isascii() else host
    except ValueError:
        raise EngineError(f"The URL of node {node.name} cannot be read; check its host and port.") from None
    if parts.scheme not in {"http", "https"} or not ascii_host:
        raise EngineError(f"The URL of node {node.name} must be http://host… or https://host… for this engine.")
    tls = parts.scheme == "https"
    bracketed = f"[{ascii_host}]" if ":" in ascii_host else ascii_host
    path = quote(parts.path or "/", safe=_SAFE_IN_PATH)
    if parts.query:
        path += "?" + quote(parts.query, safe=_SAFE_IN_PATH)
    authorization = None
    if parts.username is not None:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = "Basic " + base64.b64encode(user.encode()).decode()
    return Target(
        host=ascii_host,
        port=port or (443 if tls else 80),
        tls=tls,
        host_header=f"{bracketed}:{port}" if port else bracketed,
        path=path,
        authorization=authorization,
    )


def encode_requests(
    node: Node, target: Target, calls: Sequence[Call], used: Iterable[int], *, gzip: bool = False
) -> list[bytes]:
    """One whole POST per call, by position; calls that are not in `used` stay empty."""
    headers = headers_of(node, target, gzip=gzip)
    lines = [f"POST {target.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    prefix = ("\r\n".join(lines) + "\r\n").encode()
    requests = [b""] * len(calls)
    for position in used:
        body = calls[position].body
        requests[position] = b"%bContent-Length: %d\r\n\r\n%b" % (prefix, len(body), body)
    return requests


def headers_of(node: Node, target: Target, *, gzip: bool = False) -> list[tuple[str, str]]:
    """Every header but the length. The node's own replace ours, but cannot change how a body is framed."""
    headers = {
        "host": ("Host", target.host_header),
        "content-type": ("Content-Type", "application/json"),
        "accept": ("Accept", "application/json"),
        "accept-encoding": ("Accept-Encoding", "gzip" if gzip else "identity"),
        "user-agent": ("User-Agent", f"rpcbench/{__version__}"),
    }
    if target.authorization is not None:
        headers["authorization"] = ("Authorization", target.authorization)
    for name, value in node.headers:
        if name.lower() in _FRAMING:
            raise EngineError(
                f"Node {node.name} sets the header {name}, which the engine itself has to set; remove it."
            )
        if not _TOKEN.fullmatch(name) or any(c in value for c in "\r\n\0"):
            raise EngineError(f"A header of node {node.name} has a name or a value that HTTP does not allow.")
        headers[name.lower()] = (name, value)
    return list(headers.values())
