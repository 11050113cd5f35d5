"""What a request costs our generator, beside the peers that are installed, and how exactly it keeps a schedule.

`make bench` prints Markdown tables; `--save` also writes `benchmarks/latest.json`. Under a minute in all.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from null_server import NullServer
from peers import BODY, CONNECTIONS, PEERS, RUN_S, Peer

from rpcbench import __version__
from rpcbench.engine.asyncio_engine import AsyncioEngine
from rpcbench.engine.base import Progress
from rpcbench.model.node import Node
from rpcbench.model.workload import Call, Workload

RUNS = 3
LAG_S = 1.0
RATES_PER_S = (500, 5_000)
SMALL, LARGE = "/", "/large"
LATEST = Path(__file__).with_name("latest.json")


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU (user + system) of a generator's processes per request; None where it is not installed."""

    tool: str
    does: str
    small_us: float | None
    large_us: float | None


@dataclass(frozen=True, slots=True)
class Lag:
    """How late requests left, by the generator's rows, and arrived, by the server's clock, against an even grid."""

    rate_per_s: int
    sent_p50_us: float
    sent_p99_us: float
    arrived_p50_us: float
    arrived_p99_us: float


@dataclass(frozen=True, slots=True)
class Bench:
    """One run of this program."""

    version: str
    measured_utc: str
    machine: str
    load_average: float
    pinned: bool
    connections: int
    costs: list[Cost]
    lags: list[Lag]


def calls(count: int) -> list[Call]:
    """Distinct requests."""
    return [Call(n, 0, (BODY % (n, 600_000 + n)).encode()) for n in range(count)]


def ignore(progress: Progress) -> None:
    """Nobody watches."""


def median_of_runs(measure: Callable[[], float]) -> float:
    """The middle one of RUNS measurements."""
    return statistics.median(measure() for _ in range(RUNS))


def our_cost_us(engine: AsyncioEngine, url: str, requests: list[Call]) -> float:
    """CPU of the worker per request: sending, reading, classifying, digest and row."""
    order = np.arange(len(requests), dtype=np.int32)
    duration_ns = int(RUN_S * 1e9)
    samples = engine.run(Workload(Node("null", url), requests, order, None, CONNECTIONS, duration_ns, 10**10), ignore)
    assert samples.answered.all()
    return samples.cpu_ns / len(samples.rows) / 1e3


def peer_cost_us(peer: Peer, server: NullServer, path: str) -> float:
    """CPU of the peer per request that reached the server, its start-up included; NaN when none did."""
    server.served()
    spent_s = peer.spend(server.url(path))
    served = server.served()
    return spent_s / served * 1e6 if served else float("nan")


def lag(engine: AsyncioEngine, server: NullServer, rate_per_s: int) -> Lag:
    """One open-loop trial on an even grid."""
    count = int(rate_per_s * LAG_S)
    due_ns = (np.arange(count) * 1e9 / rate_per_s).astype(np.int64)
    order = np.arange(count, dtype=np.int32)
    server.arrivals()
    samples = engine.run(Workload(Node("null", server.url()), calls(count), order, due_ns, 64, None, 10**10), ignore)
    arrived = server.arrivals()
    rows = samples.rows
    assert len(rows) == len(arrived) == count
    sent_us = (rows["sent_ns"] - rows["due_ns"]) / 1e3
    arrived_ns = np.array([arrived[call] for call in rows["call"].tolist()])
    arrived_us = (arrived_ns - samples.started_unix_ns - rows["due_ns"]) / 1e3
    quantiles = np.quantile([sent_us, arrived_us], (0.5, 0.99), axis=1).T.ravel()
    return Lag(rate_per_s, *(float(value) for value in quantiles))


def median_lag(engine: AsyncioEngine, server: NullServer, rate_per_s: int) -> Lag:
    """The middle of RUNS trials, figure by figure."""
    runs = [lag(engine, server, rate_per_s) for _ in range(RUNS)]
    figures = [[value for key, value in asdict(run).items() if key != "rate_per_s"] for run in runs]
    return Lag(rate_per_s, *(statistics.median(column) for column in zip(*figures, strict=True)))


def run_bench() -> Bench:
    """Measure everything: generators on one processor, the server on another."""
    cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []
    pinned = len(cpus) > 1
    if pinned:
        os.sched_setaffinity(0, {cpus[0]})  # our worker and the peers inherit it
    engine = AsyncioEngine()
    requests = calls(50_000)
    try:
        with NullServer(cpus[1] if pinned else None) as server:
            small, large = (
                median_of_runs(lambda path=path: our_cost_us(engine, server.url(path), requests))  # type: ignore[misc]
                for path in (SMALL, LARGE)
            )
            costs = [Cost("rpcbench", "distinct bodies, classified, recorded", small, large)]
            costs += [peer_cost(peer, server) for peer in PEERS]
            lags = [median_lag(engine, server, rate) for rate in RATES_PER_S]
    finally:
        engine.close()
    return Bench(
        version=__version__,
        measured_utc=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}",
        load_average=os.getloadavg()[0],
        pinned=pinned,
        connections=CONNECTIONS,
        costs=costs,
        lags=lags,
    )


def peer_cost(peer: Peer, server: NullServer) -> Cost:
    """Both costs of a peer, if it is here."""
    if not peer.installed:
        return Cost(peer.program, peer.does, None, None)
    small = median_of_runs(lambda: peer_cost_us(peer, server, SMALL))
    large = median_of_runs(lambda: peer_cost_us(peer, server, LARGE))
    return Cost(peer.program, peer.does, small, large)


def markdown(bench: Bench) -> str:
    """The tables."""
    ours = bench.costs[0]
    lines = [
        f"rpcbench {bench.version}, {bench.measured_utc}. {bench.machine}"
        f"{', generator and server on one each' if bench.pinned else ''}, load average {bench.load_average:.1f}.",
        f"CPU per request, {bench.connections} connections, median of {RUNS} runs; the ratio is rpcbench / other.",
        "",
        "| generator | does | 130 B reply, µs | ratio | 190 kB reply, µs | ratio |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for cost in bench.costs:
        cells = [*_cells(cost.small_us, ours.small_us), *_cells(cost.large_us, ours.large_us)]
        lines.append(f"| {cost.tool} | {cost.does} | {' | '.join(cells)} |")
    lines += [
        "",
        "| open loop, even grid | sent late p50 / p99, µs | arrived late p50 / p99, µs |",
        "|---:|---:|---:|",
    ]
    for each in bench.lags:
        sent = f"{each.sent_p50_us:.0f} / {each.sent_p99_us:.0f}"
        arrived = f"{each.arrived_p50_us:.0f} / {each.arrived_p99_us:.0f}"
        lines.append(f"| {each.rate_per_s:,}/s | {sent} | {arrived} |")
    return "\n".join(lines)


def _cells(cost_us: float | None, ours_us: float | None) -> tuple[str, str]:
    if cost_us is None or ours_us is None:
        return "not installed", ""
    if math.isnan(cost_us):
        return "failed", ""
    return f"{cost_us:.1f}", f"{ours_us / cost_us:.2f}"


def main() -> None:
    """Measure, print, and keep when asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help=f"also write {LATEST.name}")
    save: bool = parser.parse_args().save
    bench = run_bench()
    print(markdown(bench))
    if save:
        LATEST.write_text(json.dumps(asdict(bench), indent=2) + "\n")


if __name__ == "__main__":
    main()
