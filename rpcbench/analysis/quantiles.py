"""Exact quantiles, and how many samples one needs before it means anything.

There is one definition: linear interpolation between order statistics (type 7 of Hyndman and Fan), which numpy and
pandas use by default. Three lines of pandas on requests.csv therefore give the figures of the report.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rpcbench.model.verdict import Quantiles

SHOWN = {"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99}

Floats = NDArray[np.float64]


def samples_needed(q: float) -> int:
    """The fewest samples that give quantile `q` >= 0.5 a finite two-sided 95 % interval from order statistics.

    All n samples lie below the quantile with probability q^n; that must not exceed 2.5 %.
    """
    return math.ceil(math.log(0.025) / math.log(q))


def quantile(values: Floats, q: float) -> float:
    """Quantile `q` of `values`, NaN where there are too few of them."""
    if len(values) < samples_needed(q):
        return math.nan
    return float(np.quantile(values, q, method="linear"))


def quantiles(values_ms: Floats) -> Quantiles:
    """Everything a summary shows of one distribution, NaN where there are too few values."""
    if len(values_ms) == 0:
        return Quantiles(*[math.nan] * 6)
    enough = {name: q for name, q in SHOWN.items() if len(values_ms) >= samples_needed(q)}
    found: Floats = np.quantile(values_ms, list(enough.values()), method="linear")
    shown = dict.fromkeys(SHOWN, math.nan) | {name: float(v) for name, v in zip(enough, found, strict=True)}
    return Quantiles(mean=float(values_ms.mean()), max=float(values_ms.max()), **shown)
