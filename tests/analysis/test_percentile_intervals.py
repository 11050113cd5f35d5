"""Intervals of one node's percentiles: what they are made of, and how often they hold the truth."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, norm

from rpcbench.analysis.analyse import analyse
from rpcbench.analysis.percentile_intervals import block_length, order_statistics, percentile_intervals
from rpcbench.analysis.quantiles import samples_needed
from tests.analysis.conftest import Build

quantile_of = {"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99}


def independent(rng, n):
    return rng.lognormal(0, 0.5, n)


def correlated(rng, n, reach=20):
    """Each value shares ever less with the next `reach` ones; the distribution is that of `independent`."""
    sums = np.cumsum(rng.normal(0, 0.5 / math.sqrt(reach), n + reach))
    return np.exp(sums[reach:] - sums[:-reach])


def bounds(rounds, name="p50"):
    found = percentile_intervals(rounds, 0.95)[name]
    return found.low, found.high


def coverage(draw, name, count=100):
    truth = math.exp(0.5 * norm.ppf(quantile_of[name]))
    held = [low <= truth <= high for low, high in (bounds(draw(np.random.default_rng(i)), name) for i in range(count))]
    return np.mean(held)


class TestOrderStatistics:
    @settings(deadline=None)
    @given(st.integers(1, 5_000_000), st.sampled_from([0.5, 0.9, 0.95, 0.99]), st.sampled_from([0.9, 0.95, 0.99]))
    def test_the_ranks_are_the_binomials(self, n, q, level) -> None:
        low, high = order_statistics(n, q, level)
        tail = (1 - level) / 2
        assert binom.cdf(low - 1, n, q) <= tail * (1 + 1e-9)
        assert binom.cdf(low, n, q) > tail * (1 - 1e-9)
        assert binom.cdf(high - 1, n, q) >= 1 - tail - 1e-9
        assert high == 1 or binom.cdf(high - 2, n, q) < 1 - tail + 1e-9

    def test_of_a_hundred_values_the_40th_and_61st_bound_the_median(self) -> None:
        assert order_statistics(100, 0.5, 0.95) == (40, 61)

    @pytest.mark.parametrize("q", quantile_of.values())
    def test_both_bounds_exist_from_the_gate_on(self, q) -> None:
        needed = samples_needed(q)
        low, high = order_statistics(needed, q, 0.95)
        assert low >= 1
        assert high == needed
        assert order_statistics(needed - 1, q, 0.95)[1] == needed  # one beyond the last


class TestOneRun:
    def test_independent_requests_have_the_order_statistics(self) -> None:
        values = independent(np.random.default_rng(1), 1000)
        low, high = order_statistics(1000, 0.5, 0.95)
        assert bounds([values]) == (np.sort(values)[low - 1], np.sort(values)[high - 1])

    def test_correlated_requests_have_a_wider_one_that_holds_the_truth(self) -> None:
        def shuffled(rng):
            return [rng.permutation(correlated(rng, 4_000))]

        def in_order(rng):
            return [correlated(rng, 4_000)]

        for name in ("p50", "p99"):
            assert coverage(in_order, name) >= 0.87
            assert coverage(shuffled, name) <= 0.75  # the same values, as if they were independent

    def test_a_run_has_the_same_intervals_whenever_it_is_looked_at(self) -> None:
        values = correlated(np.random.default_rng(2), 3_000)
        assert percentile_intervals([values], 0.95) == percentile_intervals([values.copy()], 0.95)

    def test_a_few_rounds_are_one_run(self) -> None:
        values = correlated(np.random.default_rng(3), 5_000)
        assert bounds(np.split(values, 5)) == bounds([values])

    def test_a_bound_that_the_run_cannot_give_is_infinite(self) -> None:
        """A single burst of slow requests does not tell whether such bursts are one request in a hundred."""
        values = correlated(np.random.default_rng(0), 600, reach=50)
        found = percentile_intervals([values], 0.95)
        assert found["p99"].high == math.inf
        assert found["p50"].high < values.max()


class TestRounds:
    def test_rounds_that_differ_widen_the_interval(self) -> None:
        def draw(rng):
            return [np.exp(rng.normal(0, 0.05)) * independent(rng, 500) for _ in range(10)]

        def mixed(rng):
            return np.split(rng.permutation(np.concatenate(draw(rng))), 10)

        assert 0.90 <= coverage(draw, "p50") <= 0.99
        assert coverage(mixed, "p50") <= 0.85

    def test_students_interval_over_the_rounds_shares(self) -> None:
        """The median of all is 10; of six rounds three have 40 % below it and three 60 %: 50 ± 11.5 %."""
        few, many = [np.concatenate([np.full(b, 5.0), np.full(a, 15.0)]) for b, a in ((40, 60), (60, 40))]
        rounds = [v + np.arange(100) / 1000 for v in (few, many, few, many, few, many)]
        ascending = np.sort(np.concatenate(rounds))
        half = 2.570582 * math.sqrt(6 / 5 * 6 * 10**2) / 600
        low, high = bounds(rounds)
        assert low == ascending[math.floor((0.5 - half) * 600) - 1]
        assert high == ascending[math.ceil((0.5 + half) * 600)]

    def test_an_empty_round_counts_for_nothing(self) -> None:
        rounds = [independent(np.random.default_rng(i), 100) for i in range(7)]
        assert bounds([*rounds, np.empty(0)]) == bounds(rounds)

    @settings(max_examples=30, deadline=None)
    @given(st.integers(1, 12), st.integers(6, 200), st.integers(0, 10**6))
    def test_no_interval_is_narrower_than_the_order_statistics(self, count, each, seed) -> None:
        rng = np.random.default_rng(seed)
        rounds = [independent(rng, each) for _ in range(count)]
        ascending = np.sort(np.concatenate(rounds))
        for name, found in percentile_intervals(rounds, 0.95).items():
            low, high = order_statistics(len(ascending), quantile_of[name], 0.95)
            assert found.low <= ascending[low - 1] <= found.value <= ascending[high - 1] <= found.high


class TestBlockLength:
    def test_independent_values_need_no_blocks(self) -> None:
        lengths = [block_length(np.random.default_rng(i).normal(size=2_000)) for i in range(50)]
        assert np.mean([length == 1 for length in lengths]) >= 0.9

    def test_it_grows_with_the_reach_of_the_correlation(self) -> None:
        lengths = [block_length(correlated(np.random.default_rng(4), 20_000, reach)) for reach in (3, 20, 100)]
        assert lengths[0] >= 3
        assert lengths[1] > 2 * lengths[0]
        assert lengths[2] > 2 * lengths[1]

    def test_it_is_the_published_rule(self) -> None:
        """For a first-order autoregression g = c / (1 - a)² and G = 2 c a / ((1 - a)² (1 - a²)), in closed form."""
        a, n = 0.7, 200_000
        values = np.random.default_rng(5).normal(size=n)
        for i in range(1, n):
            values[i] += a * values[i - 1]
        expected = (1.5 * (2 * a / (1 - a**2)) ** 2 * n) ** (1 / 3)
        assert block_length(values) == pytest.approx(expected, rel=0.05)

    def test_constants_and_neighbours_that_shun_each_other_need_none(self) -> None:
        noise = np.random.default_rng(6).normal(size=2_000)
        assert block_length(np.ones(100)) == 1
        assert block_length(noise[1:] - 0.8 * noise[:-1]) == 1


def test_the_summary_has_the_interval_of_every_percentile_it_shows(build: Build) -> None:
    (s,) = analyse(build.run({(1, "juno"): build.rows(np.arange(1.0, 101.0))}, nodes=("juno",))).summaries
    assert list(s.latency_intervals_ms) == ["p50", "p90", "p95"]
    p50 = s.latency_intervals_ms["p50"]
    assert (p50.value, p50.level, p50.n) == (s.latency_ms.p50, 0.95, 100)
    assert p50.low < p50.value < p50.high


def test_nothing_answered_has_no_interval() -> None:
    assert percentile_intervals([], 0.95) == percentile_intervals([np.empty(0)] * 10, 0.95) == {}
