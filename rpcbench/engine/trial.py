"""One workload, from encoded requests to the last row; this runs in the worker process."""

from __future__ import annotations

import asyncio
import gc
import resource
import time
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic_ns

from rpcbench.engine.clients import ClosedLoop
from rpcbench.engine.ring import RingWriter
from rpcbench.engine.schedule import OpenLoop
from rpcbench.engine.traffic import Driver, Sender, Traffic
from rpcbench.errors import EngineError
from rpcbench.model.workload import Workload

_PUBLISH_S = 0.05
_OPEN_AHEAD_AT_ONCE = 128  # below the backlog of every server
_OPEN_AHEAD_S = 5.0
_SPARE_FILES = 64


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a trial cost, and those of its rows that found no room in the ring."""

    leftover: bytes
    cpu_ns: int
    connects: int
    reconnects: int


async def run_trial(workload: Workload, rows: RingWriter, sender: Sender) -> Outcome:
    """Send `workload`; its rows are in `rows`, the last of them perhaps in the outcome."""
    _check_descriptors(workload)
    traffic = sender.traffic(workload, rows)
    driver = _driver(workload, traffic)
    try:
        await _open_ahead(traffic, workload.timeout_ns)
        with _quiet_collector():
            rows.begin(origin_ns := monotonic_ns(), time.time_ns())
            cpu_ns = time.process_time_ns()
            driver.begin(origin_ns)
            await _keep_house(driver, traffic)
            cpu_ns = time.process_time_ns() - cpu_ns
        driver.finished.result()
    finally:
        driver.close()
        await traffic.close()
    if rows.appended != driver.started:
        raise AssertionError(f"{driver.started} requests started, {rows.appended} rows")
    return Outcome(
        leftover=rows.finish(driver.started),
        cpu_ns=cpu_ns,
        connects=traffic.opened,
        reconnects=sum(lane.reconnects for lane in traffic.lanes),
    )


async def _keep_house(driver: Driver, traffic: Traffic) -> None:
    """Until the trial is over: tell the parent of new rows, and end what is out of time.

    Both need to look only now and then, which keeps them out of the hot path.
    """
    expiry_ns = 0
    while not driver.finished.done():
        now_ns = monotonic_ns()
        if now_ns >= expiry_ns:
            expiry_ns = min(traffic.expire(now_ns), driver.expire(now_ns))
        traffic.rows.publish(driver.started)
        pause_s = min(_PUBLISH_S, max(0.001, (expiry_ns - monotonic_ns()) / 1e9))
        await asyncio.wait((driver.finished,), timeout=pause_s)


async def _open_ahead(traffic: Traffic, timeout_ns: int) -> None:
    """Connect the lanes before the clock starts. What fails is opened again when a request needs it."""
    patience_s = min(_OPEN_AHEAD_S, timeout_ns / 1e9)
    give_up_at = time.monotonic() + patience_s
    for at in range(0, len(traffic.lanes), _OPEN_AHEAD_AT_ONCE):
        left_s = give_up_at - time.monotonic()
        if left_s <= 0:
            return
        opening = {asyncio.ensure_future(lane.open_ahead()) for lane in traffic.lanes[at : at + _OPEN_AHEAD_AT_ONCE]}
        _, late = await asyncio.wait(opening, timeout=left_s)
        for task in late:
            task.cancel()
        await asyncio.gather(*opening, return_exceptions=True)


def _driver(workload: Workload, traffic: Traffic) -> Driver:
    order = array("q", workload.order.tolist())
    if workload.due_ns is None:
        return ClosedLoop(traffic, order, workload.concurrency, workload.duration_ns)
    return OpenLoop(traffic, order, array("q", workload.due_ns.tolist()), workload.concurrency)


def _check_descriptors(workload: Workload) -> None:
    """Raise the limit of open files as far as allowed; refuse what it still cannot hold."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
        except (ValueError, OSError):  # macOS names a hard limit it does not grant
            pass
    if soft != resource.RLIM_INFINITY and workload.concurrency + _SPARE_FILES > soft:
        raise EngineError(
            f"{workload.concurrency} connections need more open files than the {soft} this system allows a process; "
            f"lower the concurrency or raise the limit (ulimit -n)."
        )


@contextmanager
def _quiet_collector() -> Iterator[None]:
    """No garbage collection while it would show in a latency."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()
