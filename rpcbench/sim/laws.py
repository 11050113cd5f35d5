"""How long an embedded node takes over a request: a law per node and method, made up but fixed.

Service time is lognormal around a median, plus a part that grows with the reply. The two Starknet nodes differ on
purpose: Pathfinder takes about a third longer over blocks with transactions and is a little quicker over events,
so that the demo has something to find.
"""

from __future__ import annotations

import math
from random import Random
from typing import NamedTuple


class Law(NamedTuple):
    """Median for an empty reply, spread as the standard deviation of the logarithm, and cost of size."""

    median_ms: float
    spread: float
    us_per_kb: float

    def draw_ns(self, rng: Random, reply_bytes: int) -> float:
        """The time one request takes."""
        return self.median_ms * 1e6 * math.exp(rng.gauss(0.0, self.spread)) + self.us_per_kb * reply_bytes


_JUNO = {
    "starknet_getBlockWithTxs": Law(1.60, 0.30, 12),
    "starknet_getBlockWithReceipts": Law(2.40, 0.30, 12),
    "starknet_getBlockWithTxHashes": Law(0.55, 0.25, 12),
    "starknet_getStateUpdate": Law(1.20, 0.35, 12),
    "starknet_getEvents": Law(2.30, 0.40, 14),
    "starknet_call": Law(1.80, 0.35, 12),
    "starknet_getTransactionReceipt": Law(0.60, 0.25, 12),
    "starknet_getTransactionByHash": Law(0.40, 0.25, 12),
    "starknet_getStorageAt": Law(0.50, 0.30, 12),
}
_PATHFINDER = {
    "starknet_getBlockWithTxs": Law(2.26, 0.30, 17.0),
    "starknet_getBlockWithReceipts": Law(3.30, 0.30, 16.5),
    "starknet_getBlockWithTxHashes": Law(0.70, 0.25, 16.5),
    "starknet_getStateUpdate": Law(1.30, 0.35, 14),
    "starknet_getEvents": Law(2.05, 0.40, 14),
    "starknet_call": Law(1.60, 0.35, 12),
    "starknet_getTransactionReceipt": Law(0.80, 0.25, 14),
    "starknet_getTransactionByHash": Law(0.55, 0.25, 14),
    "starknet_getStorageAt": Law(0.45, 0.30, 12),
}
_GETH = {
    "eth_getBlockByNumber": Law(1.10, 0.30, 12),
    "eth_getBlockByHash": Law(1.10, 0.30, 12),
    "eth_getBlockReceipts": Law(1.60, 0.30, 12),
    "eth_getLogs": Law(2.00, 0.40, 14),
    "eth_call": Law(1.20, 0.35, 12),
    "eth_getTransactionReceipt": Law(0.70, 0.25, 12),
}
_LAWS = {"juno": _JUNO, "pathfinder": _PATHFINDER, "geth": _GETH}
_SMALL = Law(0.25, 0.20, 12)


class Laws:
    """The laws of one node, drawing from one seeded stream."""

    def __init__(self, personality: str, seed: int, pace: float) -> None:
        self._laws = _LAWS[personality]
        self._rng = Random(f"{personality}/{seed}")
        self._pace = pace

    def service_ns(self, method: str, reply_bytes: int) -> int:
        """How long the next request of this method takes."""
        if self._pace == 0:
            return 0
        return round(self._pace * self._laws.get(method, _SMALL).draw_ns(self._rng, reply_bytes))
