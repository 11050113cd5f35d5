"""A node under test, and how to speak of it without giving its secrets away."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

# Path segments that are part of a node's public interface. Anything else may be an API key.
_PUBLIC_SEGMENT = re.compile(r"(rpc|ws|http|jsonrpc|starknet|ethereum|eth|v\d{1,2}([._]\d{1,2}){0,2})", re.I)


@dataclass(frozen=True, slots=True)
class Node:
    """One endpoint. `url`, `ws_url` and `headers` may hold secrets and are kept out of `repr`; print `place`."""

    name: str
    url: str = field(repr=False)
    ws_url: str | None = field(default=None, repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    tags: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Host, port and the public part of the path: `localhost:6060/rpc/v0_10`."""
        return public_place(self.url)

    @property
    def is_local(self) -> bool:
        """Whether the host is this machine's loopback, which needs no politeness."""
        host = urlsplit(self.url).hostname or ""
        if host == "localhost" or host.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


def public_place(url: str) -> str:
    """`url` without scheme, user, query, fragment or any path segment that could be a key."""
    parts: SplitResult = urlsplit(url)
    host = parts.hostname or "?"
    if ":" in host:
        host = f"[{host}]"
    port = f":{parts.port}" if parts.port else ""
    segments = [s if _PUBLIC_SEGMENT.fullmatch(s) else "…" for s in parts.path.split("/") if s]
    return "/".join([host + port, *segments])
