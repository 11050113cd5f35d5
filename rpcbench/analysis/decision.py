"""The rule by which a verdict is given, and what is said where none is.

A comparison is judged by its effect, which is 0 where the nodes do alike: the mean over rounds of the log-ratio, or of
the difference between shares of failed requests. The noise band lies around 0: log(1 + noise) either way, so that
exchanging the nodes exchanges the verdicts, or a fixed share for errors.

- A winner: the whole interval lies beyond the band on one side, and the signed-rank test agrees.
- `same`: the whole interval lies within the band.
- `undecided`: anything else. Where Student's interval and the rank test differ on whether there is any effect at all,
  the reason shows both.

An undecided comparison says what it could have shown: with h the half-width of the interval, an effect beyond
h + band would have put the whole interval outside the band. And it says how many more rounds would decide, should the
effect and the spread stay what they seem; see `rounds_to_decide`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from rpcbench.analysis.inference import rounds_needed, rounds_to_decide, signed_rank_p, t_interval
from rpcbench.analysis.quantiles import Floats
from rpcbench.analysis.words import counted, percent
from rpcbench.model.verdict import Estimate, Verdict

# A tenth of a percentage point of failed requests counts as no difference.
ERRORS_BAND = 0.001
MORE_ROUNDS_AT_MOST = 200


class Kind(Enum):
    """What is compared: latencies, of which less is faster, rates, of which more is, or shares of failed requests."""

    TIME = (Verdict.SLOWER, Verdict.FASTER)
    RATE = (Verdict.FASTER, Verdict.SLOWER)
    ERRORS = (Verdict.MORE, Verdict.FEWER)

    def __init__(self, above: Verdict, below: Verdict) -> None:
        self.above, self.below = above, below

    def band(self, noise: float) -> float:
        """Effects up to this one count as none."""
        return ERRORS_BAND if self is Kind.ERRORS else math.log1p(noise)

    def size(self, effect: float) -> float:
        """An effect as people speak of it: 0.05 for a ratio of 1.05."""
        return effect if self is Kind.ERRORS else math.expm1(effect)

    def words(self, effect: float) -> str:
        """Its size in words, rounded up so that what is claimed of it stays true."""
        if self is Kind.ERRORS:
            return f"{_up(effect, 0.0001) * 100:.4g} percentage points"
        return percent(_up(math.expm1(effect), 0.001))

    def bounds(self, effect: Estimate) -> str:
        """The interval in figures."""
        if self is Kind.ERRORS:
            return f"[{effect.low * 100:.2g}, {effect.high * 100:.2g}] percentage points"
        return f"[{math.exp(effect.low):.3f}, {math.exp(effect.high):.3f}]"


@dataclass(frozen=True, slots=True)
class Paired:
    """What the rounds say about one statistic on two nodes. `p` is the signed-rank test's."""

    effect: Estimate
    p: float


def pair(base: Floats, other: Floats, level: float, kind: Kind = Kind.TIME) -> Paired:
    """Compare a statistic over two or more rounds; `base[i]` and `other[i]` are one round's. Only shares may be 0."""
    effects = other - base if kind is Kind.ERRORS else np.log(other / base)
    return Paired(t_interval(effects, level), signed_rank_p(effects))


def as_ratio(effect: Estimate) -> Estimate:
    """A mean log-ratio as the ratio that it is."""
    return replace(effect, value=math.exp(effect.value), low=math.exp(effect.low), high=math.exp(effect.high))


@dataclass(frozen=True, slots=True)
class Rule:
    """What a verdict asks for: an effect beyond `noise`, at `level`, as one of `tests` comparisons to correct for."""

    noise: float
    level: float
    tests: int
    kind: Kind = Kind.TIME

    @property
    def alpha(self) -> float:
        """The p-value that a winner must stay below."""
        return round(1 - self.level, 12)

    @property
    def band(self) -> float:
        """Effects up to this one, either way, count as none."""
        return self.kind.band(self.noise)

    @property
    def band_words(self) -> str:
        return f"±{self.kind.words(self.band)}"

    @property
    def needed(self) -> int:
        """The fewest rounds that can have a winner."""
        return rounds_needed(self.alpha, self.tests)


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict and what it rests on. See Comparison for `detectable` and `more_rounds`."""

    verdict: Verdict
    reason: str
    detectable: float | None = None
    more_rounds: int | None = None


def judge(paired: Paired, p: float, rule: Rule) -> Ruling:
    """The ruling on `paired`, whose corrected p-value is `p`."""
    effect, band, n = paired.effect, rule.band, paired.effect.n
    if -band <= effect.low and effect.high <= band:
        reason = f"the whole interval lies within {rule.band_words}"
        return Ruling(Verdict.SAME, "; ".join(filter(None, [reason, _dispute(effect, p, rule)])))
    if n < rule.needed:
        reason = f"needs at least {rule.needed} rounds for a verdict, this run has {n}"
        return Ruling(Verdict.UNDECIDED, reason, more_rounds=rule.needed - n)
    beyond = effect.low > band or effect.high < -band
    if beyond and p < rule.alpha:
        reason = f"the whole interval lies outside {rule.band_words}, {_rank_test(p, rule)} over {n} rounds"
        return Ruling(rule.kind.above if effect.low > band else rule.kind.below, reason)
    more = rounds_to_decide(effect, band, alpha=rule.alpha, tests=rule.tests, at_most=MORE_ROUNDS_AT_MOST)
    detectable = None
    if beyond:
        reason = f"the interval lies outside {rule.band_words}, but the signed-rank test does not agree: "
        reason += _rank_test(p, rule).removeprefix("signed-rank ")
    else:
        shown = (effect.high - effect.low) / 2 + band
        detectable, words = rule.kind.size(shown), rule.kind.words(shown)
        seen = f"a difference that may be within {rule.band_words}" if effect.low > 0 or effect.high < 0 else ""
        reason = _dispute(effect, p, rule) or seen or "no difference shown"
        reason += f"; one of {words} would have been shown"
    return Ruling(Verdict.UNDECIDED, f"{reason}; {_more(more)}", detectable, more)


def _more(rounds: int | None) -> str:
    if rounds is None:
        return f"{MORE_ROUNDS_AT_MOST} more rounds would hardly decide"
    return f"about {counted(rounds, 'more round')} would decide"


def _dispute(effect: Estimate, p: float, rule: Rule) -> str:
    """Both tests, where one of them sees an effect and the other does not."""
    by_interval, by_rank = not effect.low <= 0 <= effect.high, p < rule.alpha
    if by_interval == by_rank or effect.n < rule.needed:
        return ""
    interval, rank = f"Student's interval {rule.kind.bounds(effect)}", _rank_test(p, rule)
    sees, doubts = (interval, rank) if by_interval else (rank, interval)
    return f"the two tests disagree: {sees} shows a difference, {doubts} does not"


def _rank_test(p: float, rule: Rule) -> str:
    corrected = f" (Holm, {rule.tests} comparisons)" if rule.tests > 1 else ""
    return f"signed-rank p = {p:.2g}{corrected}"


def _up(size: float, step: float) -> float:
    return math.ceil(round(size / step, 6)) * step
