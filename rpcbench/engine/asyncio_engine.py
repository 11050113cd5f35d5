"""The engine for HTTP/1.1: uvloop, and our own protocol down to the socket."""

from __future__ import annotations

import asyncio
from array import array
from dataclasses import dataclass, field

import numpy as np

from rpcbench.config.certificates import tls_context
from rpcbench.engine.connection import Connector
from rpcbench.engine.lane import SocketTraffic
from rpcbench.engine.reply_body import Bodies
from rpcbench.engine.request_bytes import encode_requests, target_of
from rpcbench.engine.ring import RingWriter
from rpcbench.engine.traffic import MAX_BODY_BYTES
from rpcbench.engine.worker_engine import WorkerEngine
from rpcbench.model.route import Tls
from rpcbench.model.workload import Workload


@dataclass(frozen=True, slots=True)
class HttpSender:
    """Kept connections over http and https, as bytes that were made before the clock starts."""

    tls: Tls = field(default_factory=Tls)
    gzip: bool = False
    max_body_bytes: int = MAX_BODY_BYTES

    @property
    def name(self) -> str:
        """Runs with and without compression are not alike."""
        return "asyncio+gzip" if self.gzip else "asyncio"

    def traffic(self, workload: Workload, rows: RingWriter) -> SocketTraffic:
        """Encode every request that is used, and find out where they go."""
        target = target_of(workload.node)
        context = None
        if target.tls:
            context = tls_context(self.tls)
            context.set_alpn_protocols(["http/1.1"])
        bodies = Bodies(workload.calls, self.max_body_bytes)
        connector = Connector(asyncio.get_running_loop(), target, context, bodies)
        used = np.unique(workload.order).tolist()
        requests = encode_requests(workload.node, target, workload.calls, used, gzip=self.gzip)
        ids = array("q", [call.id for call in workload.calls])
        return SocketTraffic(connector, requests, ids, workload.timeout_ns, rows)


class AsyncioEngine(WorkerEngine):
    """The engine for everything that HTTP/1.1 without a proxy reaches."""

    def __init__(
        self,
        *,
        tls: Tls | None = None,
        gzip: bool = False,
        max_body_bytes: int = MAX_BODY_BYTES,
        ring_rows: int = 2**17,
    ) -> None:
        super().__init__(HttpSender(tls or Tls(), gzip, max_body_bytes), ring_rows=ring_rows)
