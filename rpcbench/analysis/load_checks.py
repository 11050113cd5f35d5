"""Doubts about the load: was what the plan asked for sent, in time, and to the end, and did the generator keep up?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rpcbench.analysis.measured import Evidence
from rpcbench.analysis.quantiles import quantile
from rpcbench.analysis.ruler import ceiling_share
from rpcbench.analysis.words import counted, percent
from rpcbench.model.ruler import SAFE_SHARE_OF_CEILING
from rpcbench.model.run import TrialRecord
from rpcbench.model.samples import Rows
from rpcbench.model.scenario import Open
from rpcbench.model.verdict import Notice, Weight

DELIVERED_AT_LEAST = 0.98
# Send lag matters beyond a twentieth of the service time; below a millisecond it is any machine's scheduling.
LAG_SHARE_OF_SERVICE = 0.05
LAG_FLOOR_MS = 1.0
# A generator this busy is late more and more often. A closed loop has no schedule to miss: there it is the limit only
# when it has next to no time left, which reads as a little over nine tenths of a core.
BUSY_SHARE_OPEN = 0.85
BUSY_SHARE_CLOSED = 0.90
# A request due in the schedule's last moment has this long to go out.
_GRACE_NS = 10_000_000
# Worker processes share `max_in_flight` in fixed parts, so that one may be full a little before all are.
_FULL = 0.9
_QUEUES = "near its ceiling the generator makes requests wait, and the wait stands in the node's figures"


def not_delivered(evidence: Evidence) -> Iterator[Notice]:
    """Open loop: too few requests were begun while the schedule lasted."""
    load = evidence.measured.run.scenario.load
    if not isinstance(load, Open):
        return
    for node in evidence.measured.run.nodes:
        trials = evidence.measured.trials(node)
        planned = sum(_planned(t) for t in trials)
        in_time = sum(_begun_in_schedule(t, load) for t in trials)
        if not planned or in_time / planned >= DELIVERED_AT_LEAST:
            continue
        late, held = np.sum([_late_and_held(t.samples.rows, load) for t in trials], axis=0)
        node_is_full = held > late / 2
        cap = counted(load.max_in_flight, "request")
        saw = f"{node} got {percent(in_time / planned)} of {planned:,} planned requests in time"
        remedy = " until the node keeps up" if node_is_full else ", or give the generator more CPU"
        yield Notice(
            kind="load_not_delivered",
            weight=Weight.VOID,
            saw=f"{saw}: the rest waited behind {cap} in flight" if node_is_full else saw,
            why="these latencies belong to another load than the one that was asked for",
            advice=f"lower the rate{remedy}",
            node=node,
        )


def send_lag(evidence: Evidence) -> Iterator[Notice]:
    """Open loop: the generator itself sent late, by too much beside what the node takes."""
    run, load = evidence.measured.run, evidence.measured.run.scenario.load
    if not isinstance(load, Open):
        return
    for node in run.nodes:
        lags = [_own_lag_ms(t.samples.rows, load) for t in evidence.measured.trials(node)]
        lag_ms = np.concatenate([np.empty(0), *lags])
        services = [s.service_ms.p50 for s in evidence.each() if s.node == node]
        service_ms = float(np.nanmin(services)) if not np.isnan(services).all() else 0.0
        allowed_ms = max(LAG_FLOOR_MS, LAG_SHARE_OF_SERVICE * service_ms)
        typical_ms, worst_ms = quantile(lag_ms, 0.50), quantile(lag_ms, 0.99)
        if not (typical_ms > allowed_ms or worst_ms > allowed_ms):
            continue
        yield Notice(
            kind="send_lag",
            weight=Weight.VOID if typical_ms > allowed_ms else Weight.WARNING,
            saw=f"requests to {node} left {typical_ms:.1f} ms late at the median and {worst_ms:.1f} ms at p99, "
            f"where it takes {service_ms:.1f} ms to answer",
            why="latency counts from the due time, so that this is the generator's time in the node's figures",
            advice="lower the rate, or give the generator a machine with idle CPU",
            node=node,
        )


def generator_busy(evidence: Evidence) -> Iterator[Notice]:
    """The generator had no processor time left, so that its own queue is in every figure."""
    run = evidence.measured.run
    limit = BUSY_SHARE_OPEN if isinstance(run.scenario.load, Open) else BUSY_SHARE_CLOSED
    for node in run.nodes:
        trials = evidence.measured.trials(node)
        wall_ns = sum(t.samples.wall_ns for t in trials)
        share = sum(t.samples.cpu_ns for t in trials) / wall_ns if wall_ns else 0.0
        if share <= limit:
            continue
        rate_per_s = sum(len(t.samples.rows) for t in trials) / wall_ns * 1e9
        yield Notice(
            kind="generator_busy",
            weight=Weight.VOID,
            saw=f"the generator used {percent(share)} of a core to send {rate_per_s:,.0f} requests/s to {node}",
            why="the generator was the bottleneck, and its own delays stand in the node's figures",
            advice="lower the rate" if isinstance(run.scenario.load, Open) else "ask for a rate it can keep, with -r",
            node=node,
        )


def near_ceiling(evidence: Evidence) -> Iterator[Notice]:
    """More was sent than this generator can send with care, as far as its calibration tells."""
    run = evidence.measured.run
    if run.ruler is None:
        return
    for node in run.nodes:
        share = ceiling_share(run.ruler, [t.samples for t in evidence.measured.trials(node)])
        if share > SAFE_SHARE_OF_CEILING:
            yield Notice(
                kind="near_ceiling",
                weight=Weight.WARNING,
                saw=f"{node} was sent {percent(share)} of what this generator can send at all",
                why=_QUEUES,
                advice=f"stay below {percent(SAFE_SHARE_OF_CEILING)}, or calibrate again if other work disturbed that",
                node=node,
            )


def asks_too_much(load: Open, ceiling_per_s: float) -> Notice | None:
    """The same, known before the first request."""
    share = load.rate_per_s / ceiling_per_s
    if share <= SAFE_SHARE_OF_CEILING:
        return None
    return Notice(
        kind="near_ceiling",
        weight=Weight.WARNING,
        saw=f"{load.rate_per_s:,.0f}/s is {percent(share)} of the {ceiling_per_s:,.0f}/s that this generator can send",
        why=_QUEUES,
        advice=f"ask for at most {SAFE_SHARE_OF_CEILING * ceiling_per_s:,.0f}/s",
    )


def calibration_stale(doubt: str) -> Notice:
    """There is a calibration, and it does not hold here and now."""
    return Notice(
        kind="calibration_stale",
        weight=Weight.INFO,
        saw=doubt,
        why="so nothing is known of what the generator adds to these figures",
        advice="run `rpcbench calibrate` once",
    )


def rounds_missing(evidence: Evidence) -> Iterator[Notice]:
    """Rounds that were asked for and are not there on every node."""
    measured, asked = evidence.measured, evidence.measured.run.scenario.rounds
    finished = [measured.rounds(node) for node in measured.run.nodes]
    common, begun = frozenset.intersection(*finished), frozenset.union(*finished)
    if len(common) >= asked:
        return
    saw = f"{len(common)} of {counted(asked, 'round')} finished on every node"
    alone = begun - common
    yield Notice(
        kind="rounds_missing",
        weight=Weight.WARNING,
        saw=f"{saw}, {len(alone)} more on some" if alone else saw,
        why="only rounds that every node finished are compared, and fewer rounds show less",
        advice="let the run finish",
    )


def _planned(trial: TrialRecord) -> int:
    return len(trial.samples.rows) if trial.planned is None else trial.planned


def _begun_ns(rows: Rows) -> NDArray[np.int64]:
    """When the generator turned to each request. Waiting for its connection, or failing to get one, comes after."""
    begun: NDArray[np.int64] = np.where(rows["sent_ns"] > 0, rows["sent_ns"], rows["done_ns"]) - rows["connect_ns"]
    return begun


def _begun_in_schedule(trial: TrialRecord, load: Open) -> int:
    schedule_ns = _planned(trial) / load.rate_per_s * 1e9
    return int(np.count_nonzero(_begun_ns(trial.samples.rows) <= schedule_ns + _GRACE_NS))


def _held(rows: Rows, load: Open) -> NDArray[np.bool_]:
    """Rows that fell due while as many requests were in flight as may be: the node kept them waiting."""
    due_ns = rows["due_ns"]
    in_flight = np.searchsorted(np.sort(_begun_ns(rows)), due_ns) - np.searchsorted(np.sort(rows["done_ns"]), due_ns)
    held: NDArray[np.bool_] = in_flight >= _FULL * load.max_in_flight
    return held


def _late_and_held(rows: Rows, load: Open) -> tuple[int, int]:
    """How many rows began later than the grace allows, and how many of those the node kept waiting."""
    late = _begun_ns(rows) - rows["due_ns"] > _GRACE_NS
    return int(np.count_nonzero(late)), int(np.count_nonzero(late & _held(rows, load)))


def _own_lag_ms(rows: Rows, load: Open) -> NDArray[np.float64]:
    """begun − due of the rows that were sent and not kept waiting by the node."""
    mine = (rows["sent_ns"] > 0) & ~_held(rows, load)
    lag_ns: NDArray[np.int64] = (_begun_ns(rows) - rows["due_ns"])[mine]
    return lag_ns / 1e6
