"""One node against another: the one place where it is decided what counts as faster.

The unit is the round, not the request. For each call a statistic is taken in every round on both nodes, and the
rounds are paired: both nodes got the same traffic, one right after the other. From the paired log-ratios follow

- the ratio (their geometric mean) with Student's interval, and the mean paired difference in milliseconds;
- a p-value from the exact signed-rank test. Those of the primary set, the p50 of every call and other node that is
  not void, are corrected after Holm; a member that cannot be computed still counts. The other metrics are
  exploratory, and their p-values stand as they are.

The verdict is `faster` or `slower` when the whole interval lies outside the noise band on one side and the test
agrees, `same` when the whole interval lies inside the band, and otherwise `undecided`. The band of noise 0.01 runs
from 1/1.01 to 1.01, so that exchanging the nodes exchanges the verdicts.

An undecided comparison says what it could have shown: with h the half-width of the log interval, a ratio beyond
exp(h) x (1 + noise) would have put the whole interval outside the band, so `detectable` is that less 1. It is None
where rounds are too few to show any difference, and where the test objects to the one that the interval shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from rpcbench.analysis.inference import holm, rounds_needed, signed_rank_p, t_interval
from rpcbench.analysis.measured import Cell, Measured
from rpcbench.analysis.quantiles import Floats, quantile, samples_needed
from rpcbench.analysis.words import counted, percent
from rpcbench.model.scenario import Open
from rpcbench.model.verdict import Comparison, Estimate, Notice, Verdict, Weight


@dataclass(frozen=True, slots=True)
class Metric:
    """A statistic of one round: from its latencies and the trial's seconds. `needs` is the fewest answered requests."""

    name: str
    of: Callable[[Floats, float], float]
    needs: int
    is_time: bool = True


def _percentile(name: str, q: float) -> Metric:
    return Metric(name, lambda latency_ms, wall_s: quantile(latency_ms, q), samples_needed(q))


METRICS = (
    _percentile("p50", 0.50),
    _percentile("p90", 0.90),
    _percentile("p99", 0.99),
    Metric("mean", lambda latency_ms, wall_s: float(latency_ms.mean()), 1),
    Metric("rate", lambda latency_ms, wall_s: len(latency_ms) / wall_s if wall_s else math.nan, 1, is_time=False),
)
PRIMARY = "p50"


@dataclass(frozen=True, slots=True)
class Rule:
    """What a verdict asks for: a noise band, a confidence level, and `tests` primary comparisons to correct for."""

    noise: float
    level: float
    tests: int

    @property
    def alpha(self) -> float:
        """The p-value that a winner must stay below."""
        return round(1 - self.level, 12)

    @property
    def band(self) -> tuple[float, float]:
        """Ratios that count as no difference."""
        return 1 / (1 + self.noise), 1 + self.noise


@dataclass(frozen=True, slots=True)
class Paired:
    """What the rounds say about one statistic on two nodes. `p` is the signed-rank test's."""

    ratio: Estimate
    difference: Estimate
    p: float


def pair(base: Floats, other: Floats, level: float) -> Paired:
    """Compare a statistic over two or more rounds; `base[i]` and `other[i]` are one round's, positive."""
    log_ratios = np.log(other / base)
    log_mean = t_interval(log_ratios, level)
    ratio = Estimate(math.exp(log_mean.value), math.exp(log_mean.low), math.exp(log_mean.high), level, log_mean.n)
    return Paired(ratio, t_interval(other - base, level), signed_rank_p(log_ratios))


def judge(paired: Paired, p: float, rule: Rule, *, is_time: bool = True) -> tuple[Verdict, str, float | None]:
    """The verdict on `paired` whose corrected p-value is `p`, the reason, and what could have been shown."""
    ratio, n = paired.ratio, paired.ratio.n
    low, high = rule.band
    band = f"±{percent(rule.noise)}"
    needed = rounds_needed(rule.alpha, rule.tests)
    if low <= ratio.low and ratio.high <= high:
        return Verdict.SAME, f"the whole interval lies within {band}", None
    if n < needed:
        return Verdict.UNDECIDED, f"needs at least {needed} rounds for a verdict, this run has {n}", None
    beyond = ratio.high < low or ratio.low > high
    if beyond and p < rule.alpha:
        takes_less = ratio.high < low
        verdict = Verdict.FASTER if takes_less == is_time else Verdict.SLOWER
        return verdict, f"the whole interval lies outside {band}, signed-rank p = {p:.2g} over {n} rounds", None
    if beyond:
        return (
            Verdict.UNDECIDED,
            f"the interval lies outside {band}, but the signed-rank test does not agree: p = {p:.2g}",
            None,
        )
    detectable = math.sqrt(ratio.high / ratio.low) * (1 + rule.noise) - 1
    shown = percent(math.ceil(detectable * 1000) / 1000)  # rounded up, so that the claim stays true
    if ratio.low <= 1 <= ratio.high:
        reason = f"no difference shown; one of {shown} would have been"
    else:
        reason = f"a difference that may be within {band}; one of {shown} would have been shown"
    return Verdict.UNDECIDED, reason, detectable


def compare(measured: Measured, notices: Sequence[Notice], *, noise: float, level: float) -> tuple[Comparison, ...]:
    """Every other node against the first: per call, metric by metric, the primary one first."""
    metrics = [m for m in METRICS if m.is_time or not isinstance(measured.run.scenario.load, Open)]
    base, *others = measured.run.nodes
    figures = {key: _figures(cells, metrics) for key, cells in measured.cells.items()}
    questions = [
        _Question(metric, call, base, other, _void(notices, call, base, other))
        for call, other, metric in product(measured.calls, others, metrics)
    ]
    exploratory = Rule(noise, level, tests=1)
    found = {
        q: _paired(figures[base, q.call], figures[q.other, q.call], q, exploratory) for q in questions if not q.void
    }
    primary = [q for q in found if q.metric.name == PRIMARY]
    corrected = dict(zip(primary, holm([_p(found[q]) for q in primary]), strict=True))
    rule = Rule(noise, level, tests=len(primary))

    def answer(q: _Question) -> Comparison:
        if q.void:
            return _invalid(q)
        return (
            _answer(q, found[q], corrected[q], rule)
            if q in corrected
            else _answer(q, found[q], _p(found[q]), exploratory)
        )

    return tuple(answer(q) for q in questions)


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked of one pair of nodes. `void` says why it may not be answered."""

    metric: Metric
    call: str
    base: str
    other: str
    void: str


@dataclass(frozen=True, slots=True)
class _Round:
    """A round's figures by metric; NaN where too few requests were answered."""

    answered: int
    by_metric: dict[str, float]


def _void(notices: Sequence[Notice], call: str, base: str, other: str) -> str:
    """What the first notice saw that voids this pair's comparison; empty where none does."""
    for notice in notices:
        concerned = notice.call is None or (notice.call == call and notice.node in (None, base, other))
        if notice.weight is Weight.VOID and concerned:
            return notice.saw
    return ""


def _figures(cells: Sequence[Cell], metrics: Sequence[Metric]) -> dict[int, _Round]:
    rounds = {}
    for cell in cells:
        latency_ms, wall_s = cell.latency_ms, cell.wall_s
        figures = {m.name: m.of(latency_ms, wall_s) if len(latency_ms) >= m.needs else math.nan for m in metrics}
        rounds[cell.round] = _Round(len(latency_ms), figures)
    return rounds


def _paired(base: dict[int, _Round], other: dict[int, _Round], question: _Question, rule: Rule) -> Paired | str:
    """The comparison over the rounds that both nodes finished, or the reason why there is none.

    One such round without enough answers spoils it: leaving slow rounds out would flatter the slower node.
    """
    metric, rounds = question.metric, sorted(base.keys() & other.keys())
    if len(rounds) < 2:
        finished = f"{counted(len(rounds), 'round')} finished on both nodes"
        return f"needs at least {rounds_needed(rule.alpha, rule.tests)} rounds for a verdict, {finished}"
    fewest, node, number = min(
        (rounds_of[number].answered, node, number)
        for number in rounds
        for node, rounds_of in ((question.base, base), (question.other, other))
    )
    if fewest < metric.needs:
        have = f"{node} answered {fewest} in round {number}"
        return f"{metric.name} needs {counted(metric.needs, 'answered request')} in every round, {have}"
    values = [np.array([rounds_of[number].by_metric[metric.name] for number in rounds]) for rounds_of in (base, other)]
    if not all(np.isfinite(v).all() and (v > 0).all() for v in values):
        return f"{metric.name} is not positive in every round, so that it has no ratio"
    return pair(values[0], values[1], rule.level)


def _p(found: Paired | str) -> float:
    return found.p if isinstance(found, Paired) else 1.0


def _invalid(q: _Question) -> Comparison:
    return Comparison(q.metric.name, q.call, q.base, q.other, None, None, Verdict.INVALID, q.void)


def _answer(q: _Question, found: Paired | str, p: float, rule: Rule) -> Comparison:
    if isinstance(found, str):
        return Comparison(q.metric.name, q.call, q.base, q.other, None, None, Verdict.UNDECIDED, found)
    verdict, reason, detectable = judge(found, p, rule, is_time=q.metric.is_time)
    difference = found.difference if q.metric.is_time else None
    return Comparison(q.metric.name, q.call, q.base, q.other, found.ratio, difference, verdict, reason, detectable)
