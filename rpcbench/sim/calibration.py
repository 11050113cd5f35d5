"""The load generator set against the null server: how fast it is, how late it sends, by how much it misjudges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from rpcbench.analysis import ruler as figures
from rpcbench.engine.asyncio_engine import AsyncioEngine
from rpcbench.engine.base import Engine
from rpcbench.errors import EngineError
from rpcbench.model.node import Node
from rpcbench.model.ruler import Ceiling, Floor, Pace, Ruler
from rpcbench.model.samples import Samples
from rpcbench.model.scenario import Open
from rpcbench.model.workload import Call, Workload
from rpcbench.plan.arrival import due_times_ns
from rpcbench.protocol.jsonrpc import encode
from rpcbench.sim.null_server import NullServer

CONNECTIONS = 16
DISTINCT_CALLS = 20_000
WARMUP_S = 0.2
TIMEOUT_NS = 5_000_000_000
REQUESTS_AT_LEAST = 400  # a p99 needs 368


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is sent."""

    ceiling_trials: int
    ceiling_s: float
    floor_requests: int
    pace_s: float
    rates_per_s: tuple[int, ...]

    def __post_init__(self) -> None:
        """Every request of a pace or of the floor needs an id of its own to be stamped."""
        assert max(*(self.requests(rate) for rate in self.rates_per_s), self.floor_requests) <= DISTINCT_CALLS

    def requests(self, rate_per_s: int) -> int:
        """How many requests are sent at this rate."""
        return max(REQUESTS_AT_LEAST, round(rate_per_s * self.pace_s))


THOROUGH = Effort(3, 1.0, 5_000, 2.0, (100, 500, 1_000, 5_000))
QUICK = Effort(1, 0.5, 1_000, 0.5, (1_000, 5_000))


def calibrate(effort: Effort, say: Callable[[str], None]) -> Ruler:
    """Measure everything; `say` hears what comes next. Raises EngineError when that cannot be done here."""
    engine = AsyncioEngine()
    try:
        with NullServer() as server:
            bench = _Bench(engine, server, effort)
            say("ceiling, small replies")
            small = bench.ceiling(large=False)
            say("ceiling, large replies")
            large = bench.ceiling(large=True)
            say("floor, one request at a time")
            floor = bench.floor()
            paces = []
            for rate_per_s in effort.rates_per_s:
                say(f"send lag and error at {rate_per_s:,}/s")
                paces.append(bench.pace(rate_per_s))
    finally:
        engine.close()
    measured_utc = datetime.now(UTC).isoformat(timespec="seconds")
    return Ruler(measured_utc, engine.name, small, large, floor, tuple(paces))


class _Bench:
    """An engine, a server, and the loads that go from one to the other."""

    def __init__(self, engine: Engine, server: NullServer, effort: Effort) -> None:
        self._engine = engine
        self._server = server
        self._effort = effort
        bodies = (_body(call) for call in range(DISTINCT_CALLS))
        self._calls = [Call(call, 0, body) for call, body in enumerate(bodies)]

    def ceiling(self, *, large: bool) -> Ceiling:
        """Closed loops for a while, after one to warm up."""
        effort = self._effort
        seconds = [WARMUP_S, *[effort.ceiling_s] * effort.ceiling_trials]
        trials = [self._send(large=large, concurrency=CONNECTIONS, duration_ns=int(s * 1e9)) for s in seconds]
        return figures.ceiling(trials[1:])

    def floor(self) -> Floor:
        """A single client."""
        self._server.stamps()
        samples = self._send(requests=self._effort.floor_requests, concurrency=1)
        return figures.floor(samples, self._server.stamps())

    def pace(self, rate_per_s: int) -> Pace:
        """An open loop."""
        load, requests = Open(rate_per_s), self._effort.requests(rate_per_s)
        due_ns = due_times_ns(load, requests, seed=rate_per_s)
        self._server.stamps()
        samples = self._send(requests=requests, concurrency=load.max_in_flight, due_ns=due_ns)
        return figures.pace(rate_per_s, samples, self._server.stamps())

    def _send(
        self,
        *,
        concurrency: int,
        large: bool = False,
        requests: int = DISTINCT_CALLS,
        due_ns: NDArray[np.int64] | None = None,
        duration_ns: int | None = None,
    ) -> Samples:
        samples = self._engine.run(
            Workload(
                node=Node("null server", self._server.url(large=large)),
                calls=self._calls[:requests],
                order=np.arange(requests, dtype=np.int32),
                due_ns=due_ns,
                concurrency=concurrency,
                duration_ns=duration_ns,
                timeout_ns=TIMEOUT_NS,
            ),
            lambda progress: None,
        )
        lost = int(np.count_nonzero(~samples.answered))
        if lost:
            raise EngineError(
                f"{lost:,} of {len(samples.rows):,} requests to the null server were not answered; "
                "try again when this machine is less busy"
            )
        return samples


def _body(call: int) -> bytes:
    """Distinct parameters, as a run would have them."""
    return encode(call, "starknet_getBlockWithTxs", {"block_id": {"block_number": 600_000 + call}})
