"""One node against another, metric by metric: which rounds are paired, and what is compared of them.

The unit is the round, not the request. For each call a statistic is taken in every round on both nodes, and the
rounds are paired: both nodes got the same traffic, one right after the other. From the paired log-ratios follow

- the ratio (their geometric mean) with Student's interval, and the mean paired difference in milliseconds;
- a p-value from the exact signed-rank test. Those of the primary set, the p50 of every call and other node that is
  not void, are corrected after Holm; a member that cannot be computed still counts. The other metrics are
  exploratory, and their p-values stand as they are.

Shares of failed requests may be 0, so they are compared by their paired differences. What counts as faster is decided
in `rpcbench.analysis.decision`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from rpcbench.analysis.decision import Kind, Paired, Rule, as_ratio, judge, pair
from rpcbench.analysis.equal_work import EqualWork, equal_work
from rpcbench.analysis.inference import holm, t_interval
from rpcbench.analysis.measured import Cell, Measured
from rpcbench.analysis.quantiles import Floats, quantile, samples_needed
from rpcbench.analysis.words import counted
from rpcbench.model.scenario import Open
from rpcbench.model.verdict import Comparison, Estimate, Notice, Verdict, Weight


@dataclass(frozen=True, slots=True)
class Taken:
    """What a statistic of one round is taken from. Latencies are those of equal work, the counts are of everything."""

    latency_ms: Floats
    answered: int
    requests: int
    wall_s: float

    @property
    def failed_share(self) -> float:
        return 1 - self.answered / self.requests if self.requests else math.nan

    @property
    def rate_per_s(self) -> float:
        return self.answered / self.wall_s if self.wall_s else math.nan


@dataclass(frozen=True, slots=True)
class Metric:
    """A statistic of one round. `needs` is the fewest answered requests."""

    name: str
    of: Callable[[Taken], float]
    needs: int
    kind: Kind = Kind.TIME


def _percentile(name: str, q: float) -> Metric:
    return Metric(name, lambda taken: quantile(taken.latency_ms, q), samples_needed(q))


METRICS = (
    _percentile("p50", 0.50),
    _percentile("p90", 0.90),
    _percentile("p99", 0.99),
    Metric("mean", lambda taken: float(taken.latency_ms.mean()), 1),
    Metric("rate", lambda taken: taken.rate_per_s, 1, Kind.RATE),
    Metric("errors", lambda taken: taken.failed_share, 0, Kind.ERRORS),
)
PRIMARY = "p50"


def compare(measured: Measured, notices: Sequence[Notice], *, noise: float, level: float) -> tuple[Comparison, ...]:
    """Every other node against the first: per call, metric by metric, the primary one first."""
    paced = isinstance(measured.run.scenario.load, Open)  # then the plan sets the rate, and not the node
    metrics = [m for m in METRICS if not (paced and m.kind is Kind.RATE)]
    base, *others = measured.run.nodes
    figures = {
        (node, call, other): _figures(measured.cells[node, call], metrics, work)
        for call, other in product(measured.calls, others)
        for work in [equal_work(measured, call, base, other)]
        for node in (base, other)
    }
    questions = [
        _Question(metric, call, base, other, _void(notices, call, base, other))
        for call, other, metric in product(measured.calls, others, metrics)
    ]
    primary = [q for q in questions if not q.void and q.metric.name == PRIMARY]
    rules = {q: Rule(noise, level, len(primary) if q in primary else 1, q.metric.kind) for q in questions}
    found = {
        q: _found(figures[base, q.call, q.other], figures[q.other, q.call, q.other], q, rules[q])
        for q in questions
        if not q.void
    }
    p_values = {q: _p(f) for q, f in found.items()}
    p_values |= dict(zip(primary, holm([p_values[q] for q in primary]), strict=True))
    return tuple(_answer(q, found[q], p_values[q], rules[q]) if q in found else _invalid(q) for q in questions)


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


def _figures(cells: Sequence[Cell], metrics: Sequence[Metric], work: EqualWork) -> dict[int, _Round]:
    rounds = {}
    for cell in cells:
        latency_ms = cell.latency_ms
        taken = Taken(latency_ms[work.counts(cell)], len(latency_ms), len(cell.rows), cell.wall_s)
        answered = len(taken.latency_ms)
        figures = {m.name: m.of(taken) if answered >= m.needs else math.nan for m in metrics}
        rounds[cell.round] = _Round(answered, figures)
    return rounds


@dataclass(frozen=True, slots=True)
class _Found:
    """What two nodes' rounds come to, and for latencies the difference in milliseconds."""

    paired: Paired
    difference_ms: Estimate | None


def _found(base: dict[int, _Round], other: dict[int, _Round], question: _Question, rule: Rule) -> _Found | str:
    """The comparison over the rounds that both nodes finished, or the reason why there is none.

    One such round without enough answers spoils it: leaving slow rounds out would flatter the slower node.
    """
    metric, rounds = question.metric, sorted(base.keys() & other.keys())
    if len(rounds) < 2:
        finished = f"{counted(len(rounds), 'round')} finished on both nodes"
        return f"needs at least {rule.needed} rounds for a verdict, {finished}"
    fewest, node, number = min(
        (rounds_of[number].answered, node, number)
        for number in rounds
        for node, rounds_of in ((question.base, base), (question.other, other))
    )
    if fewest < metric.needs:
        have = f"{node} answered {fewest} in round {number}"
        return f"{metric.name} needs {counted(metric.needs, 'answered request')} in every round, {have}"
    one, two = (
        np.array([rounds_of[number].by_metric[metric.name] for number in rounds]) for rounds_of in (base, other)
    )
    both = np.concatenate([one, two])
    if metric.kind is Kind.ERRORS and not np.isfinite(both).all():
        return f"{metric.name} needs a request in every round"
    if metric.kind is not Kind.ERRORS and not (np.isfinite(both) & (both > 0)).all():
        return f"{metric.name} is not positive in every round, so that it has no ratio"
    difference_ms = t_interval(two - one, rule.level) if metric.kind is Kind.TIME else None
    return _Found(pair(one, two, rule.level, metric.kind), difference_ms)


def _p(found: _Found | str) -> float:
    return 1.0 if isinstance(found, str) else found.paired.p


def _invalid(q: _Question) -> Comparison:
    return Comparison(q.metric.name, q.call, q.base, q.other, None, None, Verdict.INVALID, q.void)


def _answer(q: _Question, found: _Found | str, p: float, rule: Rule) -> Comparison:
    if isinstance(found, str):
        return Comparison(q.metric.name, q.call, q.base, q.other, None, None, Verdict.UNDECIDED, found)
    ruling, effect = judge(found.paired, p, rule), found.paired.effect
    of_shares = rule.kind is Kind.ERRORS
    return Comparison(
        metric=q.metric.name,
        call=q.call,
        base=q.base,
        other=q.other,
        ratio=None if of_shares else as_ratio(effect),
        difference_ms=found.difference_ms,
        verdict=ruling.verdict,
        reason=ruling.reason,
        detectable=ruling.detectable,
        difference_share=effect if of_shares else None,
        more_rounds=ruling.more_rounds,
    )
