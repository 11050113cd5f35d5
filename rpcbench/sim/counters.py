"""What a node has seen, counted on its own side, so that a client's books can be checked against it."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Counters:
    """`requests` counts JSON-RPC requests, each item of a batch for itself; `http_requests` what carried them."""

    http_requests: int = 0
    connections: int = 0
    open_connections: int = 0
    malformed: int = 0
    notifications: int = 0
    by_method: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    ids: Counter[Any] = field(default_factory=Counter)
    requests: int = 0
    cpu_since_s: float = field(default_factory=time.process_time)

    def report(self, *, with_ids: bool) -> dict[str, Any]:
        """As JSON; `ids` is a list of request id and how often it came."""
        counted: dict[str, Any] = {
            "http_requests": self.http_requests,
            "requests": self.requests,
            "by_method": dict(self.by_method),
            "failures": dict(self.failures),
            "malformed": self.malformed,
            "notifications": self.notifications,
            "connections": self.connections,
            "open_connections": self.open_connections,
            "distinct_ids": len(self.ids),
            "cpu_s": round(time.process_time() - self.cpu_since_s, 6),
        }
        return {**counted, "ids": list(self.ids.items())} if with_ids else counted

    def restarted(self) -> Counters:
        """From nought, but with the connections that are still open."""
        return Counters(open_connections=self.open_connections)
