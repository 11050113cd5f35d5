"""One node's mean, rate or share of errors over all its rounds together, with an interval from how rounds differ.

The figure is that of all requests, as in the summary. Requests of one round are not independent: they queue behind one
another and share whatever the machine was doing. An interval that takes them for independent is too narrow, and a
threshold judged by it passes or fails by chance. So rounds are the clusters of a cluster sample, treated as is usual:

- a mean or a rate is a ratio of sums, with Student's interval from its residuals by round;
- a share has the exact binomial interval of Clopper and Pearson, for as many independent requests as would scatter like
  the rounds do (Korn and Graubard 1998), and for all requests where rounds scatter no more than by chance.
"""

from __future__ import annotations

import math

from rpcbench.analysis.quantiles import Floats
from rpcbench.model.verdict import Estimate

# Two rounds show so little of how rounds differ that their interval is of no use.
ROUNDS_NEEDED = 3


def ratio_of_sums(above: Floats, below: Floats, level: float) -> Estimate:
    """The sum of `above` by the sum of `below`, both by round and not negative; the latter must not all be 0."""
    value, half = _value_and_half(above, below, level)
    return Estimate(value, max(0.0, value - half), value + half, level, len(above))


def share(hits: Floats, of: Floats, level: float) -> Estimate:
    """The share of requests that are hits, both counted by round; there must be requests."""
    from scipy.special import ndtri

    value, half = _value_and_half(hits, of, level)
    scatter, n = half / float(ndtri((1 + level) / 2)), float(of.sum())
    independent = min(n, value * (1 - value) / scatter**2) if scatter > 0 else n
    low, high = _clopper_pearson(value, independent, level)
    return Estimate(value, low, high, level, len(hits))


def _value_and_half(above: Floats, below: Floats, level: float) -> tuple[float, float]:
    """A ratio of sums over clusters, and half the width of its interval."""
    from scipy.special import stdtrit

    rounds, total = len(above), float(below.sum())
    value = float(above.sum()) / total
    residuals = above - value * below
    error = math.sqrt(rounds / (rounds - 1) * float(residuals @ residuals)) / total
    return value, float(stdtrit(rounds - 1, (1 + level) / 2)) * error


def _clopper_pearson(value: float, n: float, level: float) -> tuple[float, float]:
    """The exact binomial interval of a share `value` among `n`, which need not be whole."""
    from scipy.special import betaincinv

    hits, tail = value * n, (1 - level) / 2
    low = float(betaincinv(hits, n - hits + 1, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0
    return low, high
