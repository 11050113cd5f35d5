"""Doubts about the rounds: did node and machine stay what they were while the run lasted?

What both nodes share cancels when their rounds are paired, and is then only told. What one node does alone does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rpcbench.analysis.comparison import PRIMARY
from rpcbench.analysis.measured import Cell, Measured
from rpcbench.analysis.percentile_intervals import ROUNDS_AS_UNIT, order_statistics
from rpcbench.analysis.quantiles import Floats, samples_needed
from rpcbench.analysis.words import listed, percent
from rpcbench.model.verdict import Comparison, Notice, Verdict, Weight

# Where no difference is claimed, rounds may move by this much: a quiet machine does.
QUIET = math.log(1.05)
# The chance of a trend by mere noise, over all calls and nodes of a run.
CHANCE = 0.01
# Rounds whose medians scatter so many times more than their requests explain were made in different circumstances.
FAR_ABOVE = 3.0


@dataclass(frozen=True, slots=True)
class Series:
    """The logarithms of a median by round, and the error of one that sampling a round's requests explains."""

    rounds: Floats
    logs: Floats
    sampling: float

    @property
    def trend(self) -> float:
        """How far it moved from the first round to the last, along the least squares line."""
        slope: float = np.polyfit(self.rounds, self.logs, 1)[0]
        return slope * float(self.rounds[-1] - self.rounds[0])

    @property
    def trend_p(self) -> float:
        """The two-sided p-value of the trend, if rounds were independent."""
        from scipy.special import stdtr

        r = float(np.corrcoef(self.rounds, self.logs)[0, 1]) if self.logs.std() > 0 else 0.0
        freedom = len(self.logs) - 2
        t = abs(r) * math.sqrt(freedom / max(1 - r * r, 1e-12))
        return 2 * float(stdtr(freedom, -t))

    @property
    def spread(self) -> float:
        """The standard deviation of its rounds."""
        return float(self.logs.std(ddof=1))

    def trends(self, limit: float, chance: float) -> bool:
        return abs(self.trend) > limit and self.trend_p < chance

    def scatters(self, limit: float) -> bool:
        return self.spread > max(limit, FAR_ABOVE * self.sampling)

    def against(self, base: Series) -> Series:
        """The logarithm of the ratio, over the rounds that both have."""
        common, mine, its = np.intersect1d(self.rounds, base.rounds, return_indices=True)
        return Series(common, self.logs[mine] - base.logs[its], math.hypot(self.sampling, base.sampling))


def rounds_drifting(
    measured: Measured, notices: Sequence[Notice], comparisons: Sequence[Comparison]
) -> Iterator[Notice]:
    """Calls whose median moved over the rounds, or between them, by more than the difference that is claimed."""
    voided = {n.call for n in notices if n.weight is Weight.VOID}
    chance = CHANCE / (len(measured.calls) * len(measured.run.nodes))
    for call in measured.calls:
        if voided & {None, call}:
            continue
        claimed = _claimed(call, comparisons)
        limit = QUIET if claimed is None else claimed
        series = {node: _series(measured.cells[node, call]) for node in measured.run.nodes}
        steady = {node: s for node, s in series.items() if len(s.logs) >= ROUNDS_AS_UNIT}
        told = [words for node, s in steady.items() if (words := _told(node, s, limit, chance))]
        if told:
            yield _notice(call, told, claimed, alone=_alone(steady, measured.run.nodes[0], limit, chance))


def _claimed(call: str, comparisons: Sequence[Comparison]) -> float | None:
    """The smallest difference that is claimed of this call, as a logarithm."""
    winners = (Verdict.FASTER, Verdict.SLOWER)
    mine = [c for c in comparisons if c.call == call and c.metric == PRIMARY and c.verdict in winners]
    return min((abs(math.log(c.ratio.value)) for c in mine if c.ratio), default=None)


def _series(cells: Sequence[Cell]) -> Series:
    medians = {cell.round: np.sort(cell.latency_ms) for cell in cells}
    enough = {number: v for number, v in medians.items() if len(v) >= samples_needed(0.5) and v[0] > 0}
    logs = np.array([math.log(np.median(v)) for v in enough.values()])
    errors = np.array([_sampling_error(v) for v in enough.values()])
    return Series(np.array(list(enough), dtype=float), logs, float(np.sqrt(np.mean(errors**2))) if len(logs) else 0.0)


def _sampling_error(ascending: Floats) -> float:
    """The standard error of a median's logarithm, from the width of its interval."""
    low, high = order_statistics(len(ascending), 0.5, 0.95)
    return math.log(ascending[high - 1] / ascending[low - 1]) / (2 * 1.96)


def _told(node: str, series: Series, limit: float, chance: float) -> str:
    if series.trends(limit, chance):
        return f"{node} {'rose' if series.trend > 0 else 'fell'} by {percent(math.expm1(abs(series.trend)))}"
    if series.scatters(limit):
        spread, explained = percent(math.expm1(series.spread)), percent(math.expm1(series.sampling))
        return f"{node} scattered by {spread}, where its requests explain {explained}"
    return ""


def _alone(series: Mapping[str, Series], base: str, limit: float, chance: float) -> bool:
    """Whether the ratio of some node to the base moved too; a node without a peer always moves alone."""
    if len(series) < 2 or base not in series:
        return True
    ratios = [s.against(series[base]) for node, s in series.items() if node != base]
    return any(r.trends(limit, chance) or r.scatters(limit) for r in ratios)


def _notice(call: str, told: Sequence[str], claimed: float | None, *, alone: bool) -> Notice:
    saw = f"the median of {call} did not stay: over the rounds {listed(told)}"
    if claimed is not None:
        saw += f", more than the difference of {percent(math.expm1(claimed))} that is claimed"
    return Notice(
        kind="rounds_drifting",
        weight=Weight.WARNING if alone else Weight.INFO,
        saw=saw,
        why="what a node does alone does not cancel in pairs: another hour would give another figure"
        if alone
        else "the nodes moved together, which pairing takes out of their ratio; their own figures are of many states",
        advice="see what else runs on the machine, warm up longer, and measure again",
        call=call,
    )
