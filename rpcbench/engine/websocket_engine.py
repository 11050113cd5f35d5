"""The engine for WebSockets: the lanes of our own HTTP engine, each with one request in flight on one connection."""

from __future__ import annotations

import asyncio
from array import array
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

import numpy as np

from rpcbench.config.certificates import tls_context
from rpcbench.engine.lane import SocketTraffic
from rpcbench.engine.reply_body import Bodies
from rpcbench.engine.request_bytes import target_of
from rpcbench.engine.ring import RingWriter
from rpcbench.engine.traffic import MAX_BODY_BYTES
from rpcbench.engine.worker_engine import WorkerEngine
from rpcbench.errors import EngineError
from rpcbench.model.node import Node
from rpcbench.model.route import Tls
from rpcbench.model.workload import Workload

_HTTP_SCHEMES = {"ws": "http", "wss": "https", "http": "http", "https": "https"}
# Juno listens for WebSockets on a port of its own. Pathfinder, Anvil, Nethermind and hosted nodes take them where
# they take HTTP; geth, reth and Erigon do when they are told to.
_PORTS = {6060: 6061}


@dataclass(frozen=True, slots=True)
class WebSocketSender:
    """Kept connections over ws and wss; requests are frames that were made before the clock starts."""

    tls: Tls = field(default_factory=Tls)
    max_body_bytes: int = MAX_BODY_BYTES

    @property
    def name(self) -> str:
        """As in the manifest."""
        return "websocket"

    def traffic(self, workload: Workload, rows: RingWriter) -> SocketTraffic:
        """Encode every request that is used, and find out where they go."""
        from rpcbench.engine.websocket import WebSocketConnector, encode_frame

        node = replace(workload.node, url=_address(workload.node))
        target = target_of(node)
        bodies = Bodies(workload.calls, self.max_body_bytes)
        connector = WebSocketConnector(
            asyncio.get_running_loop(), node, target, tls_context(self.tls) if target.tls else None, bodies
        )
        requests = [b""] * len(workload.calls)
        for position in np.unique(workload.order).tolist():
            requests[position] = encode_frame(workload.calls[position].body)
        ids = array("q", [call.id for call in workload.calls])
        return SocketTraffic(connector, requests, ids, workload.timeout_ns, rows)


class WebSocketEngine(WorkerEngine):
    """The engine for nodes that are asked over a WebSocket."""

    def __init__(self, *, tls: Tls | None = None, max_body_bytes: int = MAX_BODY_BYTES) -> None:
        super().__init__(WebSocketSender(tls or Tls(), max_body_bytes))


def _address(node: Node) -> str:
    """Where the node takes WebSockets, written as the http URL of the same host, port and path.

    `ws_url` says it; without one it is the node's own address, with Juno's port for Juno's.
    """
    try:
        parts = urlsplit(node.ws_url or node.url)
        port = parts.port
    except ValueError:
        raise EngineError(f"The WebSocket URL of node {node.name} cannot be read; check its host and port.") from None
    if parts.scheme not in _HTTP_SCHEMES:
        raise EngineError(f"The WebSocket URL of node {node.name} must begin with ws:// or wss://.")
    if node.ws_url is None and port in _PORTS:
        parts = parts._replace(netloc=f"{parts.netloc.rpartition(':')[0]}:{_PORTS[port]}")
    return parts._replace(scheme=_HTTP_SCHEMES[parts.scheme]).geturl()
