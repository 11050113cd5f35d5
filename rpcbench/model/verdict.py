"""What can be said after a run: figures with intervals, comparisons, and doubts."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from rpcbench.model.threshold import Unit


class Verdict(StrEnum):
    """`faster` and `slower` are said of the other node, against the base; `fewer` and `more` of its errors."""

    FASTER = "faster"
    SLOWER = "slower"
    FEWER = "fewer"
    MORE = "more"
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
    """No number without its interval. `level` is the confidence, `n` the number of rounds behind it.

    For a percentile of one node `n` counts answered requests, and a bound that the run cannot give is infinite.
    """

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
    """One call on one node over all measured rounds. `errors` maps `rpc_error[-32602]` and the like to counts.

    `latency_intervals_ms` holds p50, p90, p95 and p99 of `latency_ms` with their intervals, those that have enough
    samples.
    """

    node: str
    call: str
    requests: int
    answered: int
    rate_per_s: float
    latency_ms: Quantiles
    service_ms: Quantiles
    errors: dict[str, int]
    bytes_in: int
    latency_intervals_ms: dict[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`other` against `base` on one metric of one call; `ratio` is other / base, paired by round.

    `difference_ms` is other − base for latency metrics. `errors` has no ratio but `difference_share`, other − base in
    the share of requests that failed. `reason` explains what the verdict rests on, or why there is none.

    Where undecided, `detectable` is the smallest difference this run could have shown, relative or for `errors` in
    share; `more_rounds` is about how many further rounds would decide, None where it cannot be said or is too many.
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
    difference_share: Estimate | None = None
    more_rounds: int | None = None


class Judgement(StrEnum):
    """What a threshold comes to: the whole interval keeps the limit, none of it does, or some of it does."""

    PASS = "pass"  # noqa: S105  no password
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class ThresholdResult:
    """A threshold on one call and one node, or on two as `other/base`. `value`, `low` and `high` are in `unit`.

    They are NaN where there is no figure; `reason` says why, or why the figure does not settle it.
    """

    text: str
    call: str
    node: str
    value: float
    low: float
    high: float
    unit: Unit
    outcome: Judgement
    warn: bool
    reason: str = ""

    @property
    def missed(self) -> bool:
        """Whether this fails the run."""
        return self.outcome is Judgement.FAIL and not self.warn


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """What the method finds on one call between each node and itself: `ratio` would be 1 without any noise."""

    call: str
    ratio: Estimate

    @property
    def share(self) -> float:
        """The half-width of the band around 1 that holds the interval: 0.011 for ±1.1 %."""
        return max(self.ratio.high, 1 / self.ratio.low) - 1


@dataclass(frozen=True, slots=True)
class Analysis:
    """All that is said about one run. Comparisons are against the first node; one per call, metric and other node."""

    summaries: tuple[Summary, ...]
    comparisons: tuple[Comparison, ...]
    notices: tuple[Notice, ...]
    thresholds: tuple[ThresholdResult, ...] = ()
    noise_floors: tuple[NoiseFloor, ...] = ()

    @property
    def valid(self) -> bool:
        """False when a notice voids the whole run, or when every comparison is invalid."""
        if any(n.weight is Weight.VOID and n.call is None for n in self.notices):
            return False
        return not self.comparisons or any(c.verdict is not Verdict.INVALID for c in self.comparisons)
