"""The options that say how nodes are reached, and the engine that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from rpcbench.cli.options import NODE_PANEL
from rpcbench.errors import UsageError
from rpcbench.model.route import Route, Tls

if TYPE_CHECKING:
    from rpcbench.engine.base import Engine


class EngineName(StrEnum):
    """What sends the load."""

    ASYNCIO = "asyncio"
    HTTPX = "httpx"


class Transport(StrEnum):
    """What carries the requests."""

    HTTP = "http"
    WS = "ws"


class Compression(StrEnum):
    """What replies may be packed in."""

    NONE = "none"
    GZIP = "gzip"


Insecure = Annotated[
    bool, typer.Option("--insecure", rich_help_panel=NODE_PANEL, help="Accept any certificate, unverified.")
]
CertFile = Annotated[
    Path | None,
    typer.Option(
        "--cert",
        exists=True,
        dir_okay=False,
        rich_help_panel=NODE_PANEL,
        help="Our own certificate (PEM), for nodes that ask for one.",
        show_default=False,
    ),
]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key",
        exists=True,
        dir_okay=False,
        rich_help_panel=NODE_PANEL,
        help="The key of --cert, where it is in a file of its own.",
        show_default=False,
    ),
]
Proxy = Annotated[
    str | None,
    typer.Option(
        "--proxy",
        metavar="URL",
        rich_help_panel=NODE_PANEL,
        help="Reach the nodes through this HTTP proxy; takes the httpx engine.",
        show_default=False,
    ),
]
EngineOption = Annotated[
    EngineName | None,
    typer.Option(
        "--engine",
        rich_help_panel=NODE_PANEL,
        show_default="asyncio",
        help="asyncio costs least and times best; httpx also does HTTP/2 and proxies.",
    ),
]
Http2 = Annotated[
    bool, typer.Option("--http2", rich_help_panel=NODE_PANEL, help="Speak HTTP/2; takes the httpx engine.")
]
TransportOption = Annotated[
    Transport, typer.Option("--transport", rich_help_panel=NODE_PANEL, help="Send requests over HTTP or a WebSocket.")
]
CompressionOption = Annotated[
    Compression,
    typer.Option("--compression", rich_help_panel=NODE_PANEL, help="Let nodes compress replies, which costs them CPU."),
]


def route(ca_file: Path | None, insecure: bool, cert: Path | None, key: Path | None, proxy: str | None) -> Route:
    """The way to the nodes. Raises UsageError for what does not go together, without repeating the proxy's URL."""
    if insecure and ca_file:
        raise UsageError("--insecure accepts any certificate, so --ca-file has no meaning; choose one of them")
    if key and not cert:
        raise UsageError("--key belongs to a certificate; give that with --cert")
    if proxy is not None:
        _check_proxy(proxy)
    texts = [str(path) if path else None for path in (ca_file, cert, key)]
    return Route(Tls(not insecure, *texts), proxy)


def _check_proxy(proxy: str) -> None:
    try:
        parts = urlsplit(proxy)
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or not proxy.isprintable() or " " in proxy:
        raise UsageError("--proxy takes the URL of an HTTP proxy, such as http://localhost:3128")


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """What the command line says about sending; `engine` None where it is silent."""

    engine: EngineName | None = None
    http2: bool = False
    transport: Transport = Transport.HTTP
    compression: Compression = Compression.NONE

    def check(self, route: Route) -> None:
        """Raises UsageError for what does not go together."""
        needs_httpx = "--http2" if self.http2 else "--proxy" if route.proxy else None
        if needs_httpx and self.engine is EngineName.ASYNCIO:
            raise UsageError(f"{needs_httpx} takes the httpx engine; leave --engine asyncio out")
        if self.transport is Transport.WS:
            wrong = needs_httpx or ("--engine httpx" if self.engine is EngineName.HTTPX else None)
            wrong = wrong or ("--compression gzip" if self.compression is Compression.GZIP else None)
            if wrong:
                raise UsageError(f"{wrong} belongs to HTTP; leave it out or use --transport http")

    def make(self, route: Route) -> Engine:
        """The engine, which `check` has found possible."""
        gzip = self.compression is Compression.GZIP
        if self.transport is Transport.WS:
            from rpcbench.engine.websocket_engine import WebSocketEngine

            return WebSocketEngine(tls=route.tls)
        if self.engine is EngineName.HTTPX or self.http2 or route.proxy:
            from rpcbench.engine.httpx_engine import HttpxEngine

            return HttpxEngine(tls=route.tls, proxy=route.proxy, http2=self.http2, gzip=gzip)
        from rpcbench.engine.asyncio_engine import AsyncioEngine

        return AsyncioEngine(tls=route.tls, gzip=gzip)
