"""The three statistical tools that comparisons rest on: t interval, exact signed-rank test, Holm's correction."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rpcbench.analysis.quantiles import Floats
from rpcbench.model.verdict import Estimate


def t_interval(values: Floats, level: float) -> Estimate:
    """The mean of at least two values with Student's interval at `level`."""
    from scipy.special import stdtrit  # a tenth of the import time of scipy.stats

    n = len(values)
    mean = float(values.mean())
    half = float(stdtrit(n - 1, (1 + level) / 2) * values.std(ddof=1) / math.sqrt(n))
    return Estimate(mean, mean - half, mean + half, level, n)


def signed_rank_p(values: Floats) -> float:
    """The exact two-sided p-value of Wilcoxon's signed-rank test that `values` are symmetric around 0.

    Zeros are dropped and ties share their mean rank, as Wilcoxon did. Under the hypothesis every rank carries either
    sign with equal chance: the distribution of their positive sum is built up rank by rank, in halves of a rank.
    """
    values = values[values != 0]
    if len(values) == 0:
        return 1.0
    _, group, size = np.unique(np.abs(values), return_inverse=True, return_counts=True)
    doubled_ranks = (2 * np.cumsum(size) - size + 1)[group]
    total = int(doubled_ranks.sum())
    chance = np.zeros(total + 1)
    chance[0] = 1.0
    for rank in doubled_ranks.tolist():
        chance[rank:] = (chance[rank:] + chance[: total + 1 - rank]) / 2
        chance[:rank] /= 2
    positive = int(doubled_ranks[values > 0].sum())
    return min(1.0, 2 * float(chance[: min(positive, total - positive) + 1].sum()))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment: each p-value as if it alone had been tested, in the same order."""
    adjusted = [1.0] * len(p_values)
    floor = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        floor = max(floor, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = floor
    return adjusted


def rounds_needed(alpha: float, tests: int) -> int:
    """The fewest rounds with which the signed-rank test can fall below `alpha` in each of `tests` tests at once.

    With every round pointing the same way its p-value is 2 / 2^n, and Holm multiplies it by up to `tests`.
    """
    return math.floor(math.log2(2 * tests / alpha)) + 1
