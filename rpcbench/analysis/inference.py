"""What comparisons rest on: t interval, exact signed-rank test, Holm's correction, and how many rounds it takes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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


def rounds_to_decide(
    effect: Estimate, band: float, *, alpha: float, tests: int, at_most: int, power: float = 0.8
) -> int | None:
    """How many further rounds would decide about `effect` with chance `power`, None beyond `at_most`.

    Should mean and spread of the rounds stay what they seem, n rounds in all put the whole interval on one side of
    `band` when

        n >= ((t(1 - alpha/2) + t(power)) s / (|mean| - band))²

    and within it when the same holds of band - |mean|, with t((1 + power)/2) because it may be left on either side
    (Chow, Shao and Wang, Sample Size Calculations in Clinical Research, on one-sample and equivalence designs; s comes
    from the interval's half-width, s = h sqrt(n) / t). A winner also needs the rank test: the first formula against 0
    with alpha / tests, which is Holm at its strictest, times pi/3, what ranks cost beside Student where it is at home.
    """
    from scipy.special import stdtrit

    n, mean = effect.n, abs(effect.value)
    spread = (effect.high - effect.low) / 2 * math.sqrt(n) / float(stdtrit(n - 1, 1 - alpha / 2))
    totals = np.arange(n + 1, n + at_most + 1, dtype=float)

    def enough(distance: float, chance: float, error: float) -> NDArray[np.bool_]:
        t: Floats = stdtrit(totals - 1, 1 - error / 2) + stdtrit(totals - 1, chance)
        reached: NDArray[np.bool_] = totals * distance**2 >= (t * spread) ** 2
        return reached

    if mean > band:
        by_rank = enough(mean * math.sqrt(3 / math.pi), power, alpha / tests) & (totals >= rounds_needed(alpha, tests))
        decided = enough(mean - band, power, alpha) & by_rank
    else:
        decided = enough(band - mean, (1 + power) / 2, alpha)
    return int(totals[decided][0]) - n if decided.any() else None
