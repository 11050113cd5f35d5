from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rpcbench.analysis.inference import holm, rounds_needed, rounds_to_decide, signed_rank_p, t_interval

distinct_sizes = st.lists(st.integers(1, 10**6), min_size=1, max_size=40, unique=True)
p_values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@settings(deadline=None)
@given(distinct_sizes, st.randoms())
def test_signed_rank_agrees_with_scipy(sizes, random) -> None:
    values = np.array([size * random.choice([-1, 1]) for size in sizes], dtype=float)
    assert signed_rank_p(values) == pytest.approx(stats.wilcoxon(values, method="exact").pvalue, rel=1e-9)


@settings(deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_signed_rank_with_ties_and_zeros_agrees_with_trying_every_sign(values) -> None:
    values = np.array([v for v in values if v], dtype=float)
    ranks = stats.rankdata(np.abs(values))
    sums = np.array([(ranks * signs).sum() for signs in product((0, 1), repeat=len(values))])
    smaller = min(ranks[values > 0].sum(), ranks[values < 0].sum())
    expected = min(1.0, 2 * float(np.mean(sums <= smaller)))
    assert signed_rank_p(np.append(values, [0.0, 0.0])) == pytest.approx(expected)


def test_signed_rank_of_rounds_that_all_agree() -> None:
    assert signed_rank_p(np.full(6, 0.1)) == 2 / 2**6
    assert signed_rank_p(np.full(5, -0.1)) == 2 / 2**5


def test_signed_rank_of_no_difference_at_all() -> None:
    assert signed_rank_p(np.zeros(10)) == 1.0


@settings(deadline=None)
@given(st.lists(st.floats(-100, 100), min_size=2, max_size=30), st.sampled_from([0.9, 0.95, 0.99]))
def test_t_interval_agrees_with_scipy(values, level) -> None:
    found = t_interval(np.array(values), level)
    scale = stats.sem(values)
    low, high = stats.t.interval(level, len(values) - 1, np.mean(values), scale) if scale else (found.value,) * 2
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    assert (found.level, found.n) == (level, len(values))


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@settings(deadline=None)
@given(p_values)
def test_holm_after_its_definition(ps) -> None:
    expected = [
        min(1.0, max((sum(r >= q for r in ps)) * q for q in ps if q <= p))  # equal ones share the larger factor
        for p in ps
    ]
    assert holm(ps) == pytest.approx(expected)


@pytest.mark.parametrize(("tests", "rounds"), [(1, 6), (2, 7), (3, 7), (4, 8), (7, 9), (25, 10)])
def test_rounds_needed(tests, rounds) -> None:
    assert rounds_needed(0.05, tests) == rounds


@settings(deadline=None)
@given(st.integers(1, 50), st.sampled_from([0.1, 0.05, 0.01]))
def test_rounds_needed_is_the_first_count_that_can_survive_correction(tests, alpha) -> None:
    def corrected(rounds):
        return holm([signed_rank_p(np.ones(rounds))] * tests)[0]

    needed = rounds_needed(alpha, tests)
    assert corrected(needed) < alpha <= corrected(needed - 1)


def seen(mean, spread, rounds=10):
    """Rounds with exactly this mean and standard deviation."""
    wave = np.arange(rounds) - (rounds - 1) / 2
    return t_interval(mean + spread * wave / wave.std(ddof=1), 0.95)


def more(mean, spread, band=0.01, **changes):
    return rounds_to_decide(seen(mean, spread), band, **{"alpha": 0.05, "tests": 1, "at_most": 1000} | changes)


def test_rounds_to_decide_is_the_textbook_sample_size() -> None:
    """A standardised distance of 0.5 takes 34 rounds for a power of 80 % (t tables); ten are there."""
    assert more(0.03, 0.04) == 24


@pytest.mark.parametrize(("mean", "spread"), [(0.03, 0.04), (-0.05, 0.06), (0.0, 0.02), (0.004, 0.02)])
def test_rounds_to_decide_keep_their_promise(mean, spread) -> None:
    """If mean and spread are what they seemed, four runs in five decide, and some more where `same` lies aside."""
    rounds, rng = 10 + more(mean, spread), np.random.default_rng(3)
    found = [t_interval(rng.normal(mean, spread, rounds), 0.95) for _ in range(400)]
    decided = [(e.low >= -0.01 and e.high <= 0.01) or e.low > 0.01 or e.high < -0.01 for e in found]
    assert 0.74 <= np.mean(decided) <= 0.93


def test_rounds_to_decide_heeds_what_the_rank_test_needs() -> None:
    assert more(0.05, 0.06, tests=50) > more(0.05, 0.06)
    assert rounds_to_decide(seen(0.3, 0.01, 2), 0.01, alpha=0.05, tests=25, at_most=100) == 10 - 2


def test_rounds_to_decide_has_a_limit() -> None:
    assert more(0.012, 0.05, at_most=200) is None
    assert more(0.01, 0.05) is None  # exactly at the band no number of rounds decides
    assert more(0.03, 0.04, at_most=24) == 24
    assert more(0.03, 0.04, at_most=23) is None
