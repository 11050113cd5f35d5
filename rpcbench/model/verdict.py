"""What can be said after a run: figures with intervals, comparisons, and doubts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """`faster` and `slower` are said of the other node, against the base."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    UNDECIDED = "undecided"
    INVALID = "invalid"


class Weight(StrEnum):
    """How much a notice weighs: good to know, lowers trust, or voids what it concerns."""

    INFO = "info"
    WARNING = "warning"
    VOID = "void"


@dataclass(frozen=True, slots=True)
class Notice:
    """A doubt or a fact about the run: what was seen (with figures), why it matters, what to do.

    `node` and `call` (a call's label) narrow it down; None concerns all.
    """

    kind: str
    weight: Weight
    saw: str
    why: str
    advice: str
    node: str | None = None
    call: str | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """No number without its interval. `level` is the confidence, `n` the number of rounds behind it."""

    value: float
    low: float
    high: float
    level: float
    n: int


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Milliseconds over answered requests; NaN where there are too few for the percentile to mean anything."""

    mean: float
    p50: float
    p90: float
    p95: float
    p99: float
    max: float


@dataclass(frozen=True, slots=True)
class Summary:
    """One call on one node over all measured rounds. `errors` maps `rpc_error[-32602]` and the like to counts."""

    node: str
    call: str
    requests: int
    answered: int
    rate_per_s: float
    latency_ms: Quantiles
    service_ms: Quantiles
    errors: dict[str, int]
    bytes_in: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """`other` against `base` on one metric of one call; `ratio` is other / base, paired by round.

    `difference_ms` is other − base for latency metrics. `reason` explains what the verdict rests on, or why
    there is none. `detectable` is the smallest relative difference this run could have shown, where undecided.
    """

    metric: str
    call: str
    base: str
    other: str
    ratio: Estimate | None
    difference_ms: Estimate | None
    verdict: Verdict
    reason: str
    detectable: float | None = None


@dataclass(frozen=True, slots=True)
class Analysis:
    """All that is said about one run. Comparisons are against the first node; one per call, metric and other node."""

    summaries: tuple[Summary, ...]
    comparisons: tuple[Comparison, ...]
    notices: tuple[Notice, ...]

    @property
    def valid(self) -> bool:
        """False when a notice voids the whole run, or when every comparison is invalid."""
        if any(n.weight is Weight.VOID and n.call is None for n in self.notices):
            return False
        return not self.comparisons or any(c.verdict is not Verdict.INVALID for c in self.comparisons)
