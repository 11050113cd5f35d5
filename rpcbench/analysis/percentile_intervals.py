"""How far a percentile of one node may be off, whatever the shape of its latencies.

Percentile q is where a share q of requests lies below. A share is a count, and its spread needs no assumption about
latencies; so the interval is sought for the share, and then read off the sorted latencies.

- Independent requests: the count is binomial, and the bounds are order statistics (David and Nagaraja, Order
  Statistics, 7.1). No honest interval is narrower, and none that is given is.
- Rounds: the requests of one round share the state of node and machine. From six rounds on, rounds are the unit, as
  they are in comparisons: Student's interval over their shares (Woodruff 1952, with rounds as clusters).
- One long run, or few rounds: a slow request has slow neighbours. Where the sequence is autocorrelated, a moving-block
  bootstrap (Künsch 1989) resamples stretches of it, as long as the autocorrelation asks for (`block_length`).

The last two can only widen the first. A bound beyond the largest latency is infinite: the run cannot give it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rpcbench.analysis.quantiles import SHOWN, Floats, quantile, samples_needed
from rpcbench.model.verdict import Estimate

ROUNDS_AS_UNIT = 6
_RESAMPLES = 2_000
_MOST_BLOCKS = 1_000  # they say all there is to say about the spread of their sum; longer ones then spare time
_SEED = 1  # a run has the same intervals whenever it is looked at

Below = NDArray[np.bool_]


def percentile_intervals(rounds: Sequence[Floats], level: float) -> dict[str, Estimate]:
    """Every percentile that has enough samples, with its interval; `rounds` are in the order in which they ran."""
    answered = [latencies for latencies in rounds if len(latencies)]
    values = np.concatenate([np.empty(0), *answered])
    ascending = np.sort(values)
    found = {}
    for name, q in SHOWN.items():
        if len(values) < samples_needed(q):
            continue
        value = quantile(ascending, q)
        low, high = _ranks([latencies <= value for latencies in answered], q, level)
        bounds = (ascending[low - 1] if low else 0.0, ascending[high - 1] if high <= len(values) else math.inf)
        found[name] = Estimate(value, float(bounds[0]), float(bounds[1]), level, len(values))
    return found


def _ranks(rounds: Sequence[Below], q: float, level: float) -> tuple[int, int]:
    """The ranks, from 1, that bound quantile `q`: 0 and one beyond the last where there is no bound.

    `rounds` tell of every request in order whether it lies below the estimated quantile.
    """
    n = sum(len(below) for below in rounds)
    low, high = order_statistics(n, q, level)
    if len(rounds) >= ROUNDS_AS_UNIT:
        less, more = _between_rounds(rounds, level)
    else:
        less, more = _between_blocks(np.concatenate(rounds), level)
    return max(0, min(low, math.floor((q + less) * n))), min(n + 1, max(high, math.ceil((q + more) * n) + 1))


def order_statistics(n: int, q: float, level: float) -> tuple[int, int]:
    """The ranks, from 1, of `n` independent values that bound quantile `q`; 0 and n + 1 where they cannot.

    The k-th value lies above the quantile when fewer than k lie below it, and how many do is binomial.
    """
    from scipy.special import bdtr

    tail = (1 - level) / 2
    reach = 2 + math.ceil(10 * math.sqrt(n * q * (1 - q)))  # beyond ten standard deviations there is no chance left
    first, last = max(0, math.floor(n * q) - reach), min(n, math.ceil(n * q) + reach)
    at_most: Floats = bdtr(np.arange(first, last + 1, dtype=float), n, q)
    low = first + int(np.searchsorted(at_most, tail, side="right"))
    return low, first + int(np.searchsorted(at_most, 1 - tail, side="left")) + 1


def _between_rounds(rounds: Sequence[Below], level: float) -> tuple[float, float]:
    """How far the share below may be off either way, from how much it differs between rounds."""
    from scipy.special import stdtrit

    n, count = sum(len(below) for below in rounds), len(rounds)
    share = sum(int(np.count_nonzero(below)) for below in rounds) / n
    beside = np.array([np.count_nonzero(below) - share * len(below) for below in rounds])
    error = math.sqrt(count / (count - 1) * float(beside @ beside)) / n
    half = float(stdtrit(count - 1, (1 + level) / 2)) * error
    return -half, half


def _between_blocks(below: Below, level: float) -> tuple[float, float]:
    """How far the share below may be off either way, from a moving-block bootstrap; not at all without correlation."""
    from scipy.special import ndtri, stdtrit

    n, length = len(below), block_length(below.astype(float))
    if length == 1:
        return 0.0, 0.0
    length = max(length, math.ceil(n / _MOST_BLOCKS))
    blocks = math.ceil(n / length)
    until = np.concatenate([[0], np.cumsum(below)])
    shares = (until[length:] - until[:-length]) / length
    drawn = np.random.default_rng(_SEED).integers(0, len(shares), (_RESAMPLES, blocks))
    beside = shares[drawn].mean(axis=1) - shares.mean()
    # Resampling few blocks understates their spread, as the normal law does beside Student's.
    tail = (1 - level) / 2
    wider = stdtrit(blocks - 1, 1 - tail) / ndtri(1 - tail) * math.sqrt(blocks / (blocks - 1))
    less, more = np.quantile(beside, [tail, 1 - tail]) * wider
    return float(less), float(more)


def block_length(series: Floats) -> int:
    """How many neighbours a block needs to hold what ties them together; 1 where nothing does.

    The rule of Politis and White (Automatic block-length selection for the dependent bootstrap, 2004), corrected by
    Patton, Politis and White (2009), for blocks of fixed length: correlations count up to the last lag before
    several in a row drown in noise, and b = (2 G² / D)^(1/3) n^(1/3) with D = 4/3 g².
    """
    n = len(series)
    in_a_row = max(5, math.ceil(math.sqrt(math.log10(n))))
    longest = min(n - 1, math.ceil(math.sqrt(n)) + in_a_row)
    covariance = _autocovariance(series, longest)
    if covariance[0] == 0:
        return 1
    noise = 2 * math.sqrt(math.log10(n) / n)
    last = 0
    for lag in np.flatnonzero(np.abs(covariance[1:]) >= noise * covariance[0]) + 1:
        if lag - last > in_a_row:
            break
        last = int(lag)
    if last == 0:
        return 1
    reach = min(2 * last, longest)
    lags = np.arange(1, reach + 1)
    counted = np.minimum(1, 2 * (1 - lags / reach)) * covariance[1 : reach + 1]
    spread, slope = covariance[0] + 2 * float(counted.sum()), 2 * float((lags * counted).sum())
    if spread <= 0 or slope <= 0:  # neighbours that shun each other: their sum varies less than if they were free
        return 1
    best: float = (2 * slope**2 / (4 / 3 * spread**2) * n) ** (1 / 3)
    return max(2, math.ceil(min(best, 3 * math.sqrt(n), n / 3)))


def _autocovariance(series: Floats, longest: int) -> Floats:
    """The covariance of `series` with itself at lags from 0 to `longest`."""
    beside = series - series.mean()
    size = 1 << (len(series) + longest).bit_length()
    spectrum = np.fft.rfft(beside, size)
    covariance: Floats = np.fft.irfft(np.abs(spectrum) ** 2, size)[: longest + 1] / len(series)
    return covariance
