"""What a person may write for the address and the name of a node.

A URL may hold a key, so no sentence here repeats any part of one. Each begins with a verb: put a subject before it.
"""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class AddressError(ValueError):
    """`str(error)` is the rest of a sentence, such as `names no host; write …`."""


def http_url(text: str) -> str:
    """The URL to send requests to; without a scheme it is http. Raises AddressError."""
    url = text if "://" in text else f"http://{text}"
    scheme = url.partition("://")[0].lower()
    if scheme in {"ws", "wss"}:
        raise AddressError(
            "is a WebSocket address, and requests go over HTTP; give the http:// or https:// address, "
            "and this one as `ws_url` in nodes.yaml"
        )
    if scheme not in _DEFAULT_PORTS:
        raise AddressError("begins with neither http:// nor https://; write http://host:port")
    _split(url)
    return url


def websocket_url(text: str) -> str:
    """The URL to subscribe at. Raises AddressError."""
    if text.partition("://")[0].lower() not in {"ws", "wss"}:
        raise AddressError("begins with neither ws:// nor wss://; write ws://host:port")
    _split(text)
    return text


def host_and_port(url: str) -> str:
    """What a node is called that was given no name: `localhost:8545`."""
    parts = _split(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


def same_address(url: str) -> tuple[str, str | None, int | None, str, str, str]:
    """Equal for two URLs that lead to the same place."""
    parts = _split(url)
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    account = parts.netloc.rpartition("@")[0]
    return parts.scheme, parts.hostname, port, account, parts.path.rstrip("/"), parts.query


def check_name(name: str) -> None:
    """Raises AddressError for a name that could not stand in a table, a file name and on the command line."""
    if not name:
        raise AddressError("is empty; write a name before the `=`, such as a=http://localhost:8545")
    if not _NAME.fullmatch(name):
        raise AddressError(
            "is no name for a node; use up to 64 letters, digits, `.`, `_` and `-`, a letter or digit first"
        )


def check_header(name: str, value: str) -> None:
    """Raises AddressError for a header that could not be sent."""
    if not _HEADER_NAME.fullmatch(name):
        raise AddressError("is no name for a header; use letters, digits and `-`")
    if not value.isascii() or not value.isprintable():
        raise AddressError("holds a line break, a control character or a letter outside ASCII; remove it")


def _split(url: str) -> SplitResult:
    """The parts of a URL that has a host and a sound port. Raises AddressError."""
    if not url.isprintable() or " " in url:
        raise AddressError("holds a space or a control character; remove it")
    if "#" in url:
        raise AddressError("holds `#`; write %23 where it belongs to a password or a key")
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        raise AddressError("is no URL; write http://host:port") from None
    if not host:
        raise AddressError("names no host; write http://host:port")
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise AddressError("has no sound port; write a number from 1 to 65535 after the host")
    return parts
