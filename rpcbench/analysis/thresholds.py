"""Thresholds held against a run: each on every call and node that it concerns, judged by the bounds of an interval.

A threshold is passed when the whole interval keeps the limit, failed when none of it does, and inconclusive in between:
then another run could as well say the opposite. Nothing is concluded from what a notice voids.

One node's percentiles have the intervals of the summary. Where slow requests are so bunched in a few rounds that there
is no upper bound, the slowest takes its place: beyond it no round has any, so that rounds do not differ there, and
there are as many samples as the binomial law then needs. A node's mean, rate and errors have the intervals of
`rpcbench.analysis.pooled`, which needs three rounds. A threshold between two nodes takes the paired ratio that
`rpcbench.analysis.comparison` makes. Every interval stands for itself: of many thresholds at a level of 95 %, one in
twenty of those that are exactly at their limit is misjudged, and none that is far from it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rpcbench.analysis.comparison import compare
from rpcbench.analysis.measured import Measured, measure
from rpcbench.analysis.pooled import ROUNDS_NEEDED, ratio_of_sums, share
from rpcbench.analysis.quantiles import SHOWN, samples_needed
from rpcbench.analysis.words import counted
from rpcbench.model.run import Run
from rpcbench.model.threshold import Threshold
from rpcbench.model.verdict import Comparison, Estimate, Judgement, Notice, Summary, ThresholdResult, Weight

_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_OPEN_RATE = "rates are not compared in an open loop, where the plan sets them"


@dataclass(frozen=True, slots=True)
class Findings:
    """What thresholds are held against: a run and what was found in it, with this noise band at this level."""

    measured: Measured
    summaries: Mapping[tuple[str, str], Summary]
    notices: Sequence[Notice]
    comparisons: Sequence[Comparison]
    noise: float
    level: float


def judge_thresholds(thresholds: Sequence[Threshold], found: Findings) -> tuple[ThresholdResult, ...]:
    """One result per threshold, call and node, in that order."""
    return tuple(result for threshold in thresholds for result in _results(threshold, found))


def judgement(relation: str, limit: float, low: float, high: float) -> Judgement:
    """What an interval says about a limit."""
    holds = _HOLDS[relation]
    kept = {holds(low, limit), holds(high, limit)}
    if len(kept) > 1:
        return Judgement.INCONCLUSIVE
    return Judgement.PASS if kept == {True} else Judgement.FAIL


def _results(threshold: Threshold, found: Findings) -> Iterator[ThresholdResult]:
    measured = found.measured
    for call in (threshold.call,) if threshold.call else measured.calls:
        if threshold.node and threshold.base:
            figure = _between(threshold.metric, call, threshold.base, threshold.node, found)
            yield _result(threshold, call, f"{threshold.node}/{threshold.base}", figure)
            continue
        for node in (threshold.node,) if threshold.node else measured.run.nodes:
            void = _void(found.notices, call, node)
            figure = void or _alone(threshold.metric, node, call, found)
            yield _result(threshold, call, node, figure)


def _result(threshold: Threshold, call: str, node: str, figure: Estimate | str) -> ThresholdResult:
    """`figure` is what was found, or the sentence that says why nothing was."""
    if isinstance(figure, str):
        bounds, outcome, reason = (math.nan,) * 3, Judgement.INCONCLUSIVE, figure
    else:
        bounds = figure.value, figure.low, figure.high
        outcome = judgement(threshold.relation, threshold.limit, figure.low, figure.high)
        reason = _unsettled(threshold, figure) if outcome is Judgement.INCONCLUSIVE else ""
    return ThresholdResult(threshold.text, call, node, *bounds, threshold.unit, outcome, threshold.warn, reason)


def _unsettled(threshold: Threshold, figure: Estimate) -> str:
    if threshold.metric == "errors" and figure.value == 0:
        needed = samples_needed(1 - threshold.limit)
        return f"none failed; it takes {counted(needed, 'request')} without a failure to show this"
    return "the interval lies on both sides of the limit; more rounds would narrow it"


def _void(notices: Sequence[Notice], call: str, node: str) -> str:
    """What the first notice saw that voids this call on this node; empty where none does."""
    for notice in notices:
        concerned = notice.call is None or (notice.call == call and notice.node in (None, node))
        if notice.weight is Weight.VOID and concerned:
            return notice.saw
    return ""


def _alone(metric: str, node: str, call: str, found: Findings) -> Estimate | str:
    """One node's figure over all its rounds, or why there is none."""
    cells = found.measured.cells[node, call]
    if metric in SHOWN:
        return _percentile(metric, found.summaries[node, call])
    if len(cells) < ROUNDS_NEEDED:
        finished = f"{node} finished {len(cells)}"
        return f"needs at least {counted(ROUNDS_NEEDED, 'round')}, so that it shows how rounds differ; {finished}"
    requests = np.array([len(cell.rows) for cell in cells], dtype=np.float64)
    answered = np.array([len(cell.latency_ms) for cell in cells], dtype=np.float64)
    if metric == "errors":
        return share(requests - answered, requests, found.level) if requests.any() else f"{node} was sent no {call}"
    if metric == "rate":
        wall_s = np.array([cell.wall_s for cell in cells])
        return ratio_of_sums(answered, wall_s, found.level) if wall_s.any() else f"{node} was given no time"
    total_ms = np.array([cell.latency_ms.sum() for cell in cells])
    return ratio_of_sums(total_ms, answered, found.level) if answered.any() else f"{node} answered no {call}"


def _percentile(metric: str, summary: Summary) -> Estimate | str:
    found = summary.latency_intervals_ms.get(metric)
    if found is None:
        needed = counted(samples_needed(SHOWN[metric]), "answered request")
        return f"{metric} needs {needed}, {summary.node} has {summary.answered:,}"
    return replace(found, high=min(found.high, summary.latency_ms.max))


def _between(metric: str, call: str, base: str, other: str, found: Findings) -> Estimate | str:
    """The paired ratio of two nodes, or why there is none."""
    comparisons = found.comparisons
    if base != found.measured.run.nodes[0]:
        pair = _only(found.measured.run, base, other)
        comparisons = compare(pair, found.notices, noise=found.noise, level=found.level)
    for c in comparisons:
        if (c.metric, c.call, c.base, c.other) == (metric, call, base, other):
            return c.ratio or c.reason
    return _OPEN_RATE


def _only(run: Run, base: str, other: str) -> Measured:
    """The run as if it had been made with these two nodes alone, in this order."""
    place = {run.nodes.index(base): 0, run.nodes.index(other): 1}
    trials = tuple(
        replace(record, trial=replace(record.trial, node=place[record.trial.node]))
        for record in run.trials
        if record.trial.node in place
    )
    return measure(replace(run, nodes=(base, other), trials=trials))
