"""The engine on httpx: slower and less exact than our own, but it speaks HTTP/2 and goes through proxies."""

from __future__ import annotations

import logging
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rpcbench.config.certificates import tls_context
from rpcbench.engine.reply_body import Bodies
from rpcbench.engine.request_bytes import headers_of, target_of
from rpcbench.engine.ring import RingWriter
from rpcbench.engine.traffic import MAX_BODY_BYTES
from rpcbench.engine.worker_engine import WorkerEngine
from rpcbench.model.route import Tls
from rpcbench.model.workload import Workload

if TYPE_CHECKING:
    from rpcbench.engine.httpx_lane import HttpxTraffic


@dataclass(frozen=True, slots=True)
class HttpxSender:
    """HTTP/1.1 with a connection for each lane, or HTTP/2 with all lanes on one. `proxy` may be secret."""

    tls: Tls = field(default_factory=Tls)
    proxy: str | None = field(default=None, repr=False)
    http2: bool = False
    gzip: bool = False
    max_body_bytes: int = MAX_BODY_BYTES

    @property
    def name(self) -> str:
        """Runs of different settings are not alike."""
        settings = {"http2": self.http2, "proxy": self.proxy is not None, "gzip": self.gzip}
        return "+".join(["httpx", *(name for name, wanted in settings.items() if wanted)])

    def traffic(self, workload: Workload, rows: RingWriter) -> HttpxTraffic:
        """The same requests, byte for byte, that the asyncio engine sends."""
        import httpx

        from rpcbench.engine.httpx_lane import HttpxTraffic

        for name in ("httpx", "httpcore", "hpack", "h2"):  # they log URLs and headers
            logging.getLogger(name).setLevel(logging.WARNING)
        target = target_of(workload.node)
        url = httpx.URL(
            scheme="https" if target.tls else "http",
            host=target.host,
            port=target.port,
            raw_path=target.path.encode(),
        )
        context = tls_context(self.tls)

        def new_transport() -> httpx.AsyncHTTPTransport:
            return httpx.AsyncHTTPTransport(
                verify=context,
                http1=not self.http2,  # or what was asked to be HTTP/2 could quietly be something else
                http2=self.http2,
                trust_env=False,
                proxy=self.proxy,
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=None),
            )

        return HttpxTraffic(
            new_transport=new_transport,
            shared=self.http2,
            url=url,
            headers=headers_of(workload.node, target, gzip=self.gzip),
            bodies=[call.body for call in workload.calls],
            ids=array("q", [call.id for call in workload.calls]),
            timeout_ns=workload.timeout_ns,
            rows=rows,
            judged=Bodies(workload.calls, self.max_body_bytes),
        )


class HttpxEngine(WorkerEngine):
    """The engine for HTTP/2 and for proxies."""

    def __init__(
        self,
        *,
        tls: Tls | None = None,
        proxy: str | None = None,
        http2: bool = False,
        gzip: bool = False,
        max_body_bytes: int = MAX_BODY_BYTES,
    ) -> None:
        super().__init__(HttpxSender(tls or Tls(), proxy, http2, gzip, max_body_bytes))
