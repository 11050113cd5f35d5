"""One quiet conversation with one node over httpx: a question at a time, slow enough for other people's endpoints."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rpcbench.config.certificates import tls_context
from rpcbench.model.node import Node
from rpcbench.model.route import Route
from rpcbench.survey.privacy import printable
from rpcbench.survey.reading import HttpReply, result_of
from rpcbench.survey.trouble import unanswered

if TYPE_CHECKING:
    import httpx
    from asyncio_throttle.throttler import Throttler

# How often a node that is not on loopback is asked, at most. asyncio-throttle lets a whole second's worth go at once
# and then waits, which is right for a cap and would be wrong for pacing load.
QUIET_PER_S = 5

# Replies with one of these came through something that may answer in the node's place.
CACHE_HEADERS = ("age", "cf-cache-status", "x-cache", "x-cache-status", "via")

_SHOWN_LENGTH = 60

_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity", "User-Agent": "rpcbench"}


def open_client(route: Route) -> httpx.AsyncClient:
    """An HTTP client that follows no redirect, reads no proxy settings and logs no URL.

    Raises UsageError for certificate files that cannot be used.
    """
    import httpx

    for name in ("httpx", "httpcore"):  # both log whole URLs or reply headers, at INFO and DEBUG
        logging.getLogger(name).setLevel(logging.WARNING)
    context = tls_context(route.tls)
    # httpx limits single steps of a request; Asker limits the whole, against nodes that drip.
    return httpx.AsyncClient(verify=context, headers=_HEADERS, timeout=None, trust_env=False, proxy=route.proxy)  # noqa: S113


@dataclass(slots=True)
class Asker:
    """Puts questions to `node`, never faster than QUIET_PER_S unless it is local, and keeps the round trips.

    `cache_headers` holds what replies came with of CACHE_HEADERS, the first value of each. `node` is replaced when a
    better path is found. `timeout_s` bounds each question from connecting to the last byte.
    """

    client: httpx.AsyncClient
    node: Node
    timeout_s: float
    round_trips_ms: list[float] = field(default_factory=list)
    cache_headers: dict[str, str] = field(default_factory=dict)
    _throttle: Throttler | nullcontext[None] = field(init=False, repr=False)
    _asked: int = 0

    def __post_init__(self) -> None:
        from asyncio_throttle.throttler import Throttler

        self._throttle = nullcontext() if self.node.is_local else Throttler(rate_limit=QUIET_PER_S)

    async def ask(self, method: str, params: Any = (), url: str | None = None) -> Any:
        """The node's result for one JSON-RPC request; raises Trouble. `url` asks at another path of the same node."""
        self._asked += 1
        request = {"jsonrpc": "2.0", "id": self._asked, "method": method, "params": params}
        reply = await self.send(json.dumps(request, separators=(",", ":")).encode(), url)
        return result_of(self.node, method, self._asked, reply)

    async def send(self, body: bytes, url: str | None = None) -> HttpReply:
        """Post `body` and return the whole reply, whatever it is; raises Trouble when there is none."""
        import httpx

        async with self._throttle:
            try:
                async with asyncio.timeout(self.timeout_s):
                    reply = await self._post(url or self.node.url, body)
            except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as error:
                # `from None`: the text of these errors may hold the URL, and a chained traceback would print it.
                raise unanswered(self.node, error, self.timeout_s) from None
        self.round_trips_ms.append(reply.latency_ms)
        return reply

    async def _post(self, url: str, body: bytes) -> HttpReply:
        """Post, and once more when a kept connection was closed while the request was on its way, as servers may."""
        import httpx

        events: set[str] = set()
        try:
            return await self._post_once(url, body, events)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            if events & {"connection.connect_tcp.started", "http11.receive_response_headers.complete"}:
                raise
            return await self._post_once(url, body, set())

    async def _post_once(self, url: str, body: bytes, events: set[str]) -> HttpReply:
        sent_ns = time.perf_counter_ns()

        async def note_sending(event: str, _: Any) -> None:
            nonlocal sent_ns
            events.add(event)
            if event == "http11.send_request_headers.started":  # the connection is open by now
                sent_ns = time.perf_counter_ns()

        headers = list(self.node.headers)
        response = await self.client.post(url, content=body, headers=headers, extensions={"trace": note_sending})
        latency_ms = (time.perf_counter_ns() - sent_ns) / 1e6
        retry_after = "retry-after" in response.headers
        for name in CACHE_HEADERS:
            if name in response.headers:
                self.cache_headers.setdefault(name, printable(response.headers[name], self.node, _SHOWN_LENGTH))
        return HttpReply(response.status_code, retry_after, response.content, response.num_bytes_downloaded, latency_ms)
