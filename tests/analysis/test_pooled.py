"""Intervals of one node's mean, rate and errors: what they are exactly, and how often they hold the truth."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest, t

from rpcbench.analysis.pooled import ratio_of_sums, share

TRIALS = 1500


def test_a_mean_over_equal_rounds_is_students() -> None:
    means = np.array([9.7, 10.2, 10.0, 9.9, 10.4])
    found = ratio_of_sums(means * 100, np.full(5, 100.0), 0.95)
    mean, half = means.mean(), t.ppf(0.975, 4) * means.std(ddof=1) / math.sqrt(5)
    assert (found.value, found.low, found.high) == pytest.approx((mean, mean - half, mean + half))
    assert (found.level, found.n) == (0.95, 5)


def test_a_round_counts_by_its_size() -> None:
    assert ratio_of_sums(np.array([10.0, 900.0, 10.0]), np.array([10.0, 300.0, 10.0]), 0.95).value == 920 / 320


def test_nothing_that_cannot_be_negative_has_a_negative_bound() -> None:
    assert ratio_of_sums(np.array([0.0, 0.0, 90.0]), np.full(3, 10.0), 0.95).low == 0


@pytest.mark.parametrize("hits", [[0, 0, 0, 0], [5, 5, 5, 5], [100, 100, 100, 100]])
def test_a_share_that_rounds_agree_on_has_the_exact_binomial_interval(hits) -> None:
    found = share(np.array(hits, dtype=float), np.full(4, 100.0), 0.95)
    expected = binomtest(sum(hits), 400).proportion_ci(0.95, "exact")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def test_a_share_that_rounds_disagree_on_has_a_wider_one() -> None:
    steady = share(np.full(10, 5.0), np.full(10, 100.0), 0.95)
    burst = share(np.array([50.0] + [0.0] * 9), np.full(10, 100.0), 0.95)
    assert burst.value == steady.value == 0.05
    assert steady.high - steady.low < 0.03
    assert burst.low < 0.01
    assert burst.high > 0.2


def test_a_share_stays_between_none_and_all() -> None:
    found = share(np.array([0.0, 0.0, 10.0]), np.full(3, 10.0), 0.95)
    assert 0 <= found.low < found.high <= 1


@pytest.mark.parametrize("scatter", [0.0, 0.5])
@pytest.mark.parametrize("rounds", [3, 10])
def test_the_interval_of_a_share_holds_the_truth_as_often_as_it_says(scatter, rounds) -> None:
    """Also where every round has a share of its own: taken for independent, such requests would be half wrong."""
    rng = np.random.default_rng(5)
    of = np.full(rounds, 400.0)
    missed = naive = 0
    for _ in range(TRIALS):
        own = 0.05 * rng.gamma(1 / scatter**2, scatter**2, rounds) if scatter else np.full(rounds, 0.05)
        hits = rng.binomial(400, np.minimum(own, 1)).astype(float)
        found = share(hits, of, 0.95)
        missed += not found.low <= 0.05 <= found.high
        alone = share(np.array([hits.sum(), 0.0]), np.array([of.sum(), 0.0]), 0.95)  # as if all were one round
        naive += not alone.low <= 0.05 <= alone.high
    assert missed / TRIALS < (0.09 if scatter else 0.05)
    if scatter:
        assert naive / TRIALS > 0.25


def test_the_interval_of_a_mean_holds_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(6)
    missed = 0
    for _ in range(TRIALS):
        latencies = 10 * np.exp(0.03 * rng.standard_normal((10, 1))) * np.exp(0.3 * rng.standard_normal((10, 50)))
        found = ratio_of_sums(latencies.sum(axis=1), np.full(10, 50.0), 0.95)
        missed += not found.low <= 10 * math.exp((0.03**2 + 0.3**2) / 2) <= found.high
    assert 0.03 < missed / TRIALS < 0.07
