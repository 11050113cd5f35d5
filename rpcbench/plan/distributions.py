"""Random draws that the standard library lacks. Pure: all chance comes from the generator passed in."""

from __future__ import annotations

import math
import random
from bisect import bisect
from collections.abc import Callable, Sequence
from itertools import accumulate


def picker(weights: Sequence[float]) -> Callable[[random.Random], int]:
    """Draws an index in proportion to `weights`."""
    cumulative = list(accumulate(weights))
    total, last = cumulative[-1], len(cumulative) - 1
    return lambda rng: bisect(cumulative, rng.random() * total, 0, last)


def zipf_rank(s: float) -> Callable[[random.Random, int], int]:
    """Draws a rank k of 1 to n in proportion to k^-s: exactly, and without a table as long as n.

    By rejection: the floor of a continuous variable of density x^-s is k with probability ∝ ∫ x^-s over [k, k+1).
    That falls short of k^-s most at k = 1; keeping k with (k^-s / its integral) · (the integral at 1) makes it right.
    """
    t = 1.0 - s
    logarithmic = abs(t) < 1e-9

    def area(x: float) -> float:
        """∫ x^-s from 1 to x."""
        return math.log(x) if logarithmic else (math.pow(x, t) - 1.0) / t

    def inverse(a: float) -> float:
        return math.exp(a) if logarithmic else math.pow(max(1.0 + a * t, 1e-300), 1.0 / t)

    first = area(2.0)

    def rank(rng: random.Random, n: int) -> int:
        whole = area(n + 1.0)
        while True:
            k = min(n, int(inverse(rng.random() * whole)))
            if rng.random() * (area(k + 1.0) - area(k)) <= math.pow(k, -s) * first:
                return k

    return rank
