import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from rpcbench.analysis.quantiles import quantile, quantiles, samples_needed


@pytest.mark.parametrize(("q", "needed"), [(0.5, 6), (0.9, 36), (0.95, 72), (0.99, 368), (0.999, 3688)])
def test_samples_needed_are_the_published_gates(q, needed) -> None:
    assert samples_needed(q) == needed


@pytest.mark.parametrize("q", [0.5, 0.9, 0.95, 0.99])
def test_the_gate_is_where_the_largest_sample_first_bounds_the_quantile(q) -> None:
    needed = samples_needed(q)
    assert binom.pmf(needed, needed, q) <= 0.025 < binom.pmf(needed - 1, needed - 1, q)


def test_quantiles_of_the_first_hundred_and_one_numbers() -> None:
    found = quantiles(np.arange(1.0, 102.0))
    assert (found.mean, found.p50, found.p90, found.p95, found.max) == (51.0, 51.0, 91.0, 96.0, 101.0)
    assert math.isnan(found.p99)


def test_linear_interpolation_between_neighbours() -> None:
    assert quantile(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 10.0]), 0.5) == 3.5


@pytest.mark.parametrize(("count", "shown"), [(5, 0), (6, 1), (35, 1), (36, 2), (71, 2), (72, 3), (367, 3), (368, 4)])
def test_a_percentile_appears_with_its_first_sufficient_sample(count, shown) -> None:
    found = quantiles(np.arange(float(count)))
    values = [found.p50, found.p90, found.p95, found.p99]
    assert [math.isnan(v) for v in values] == [False] * shown + [True] * (4 - shown)
    assert [math.isnan(quantile(np.arange(float(count)), q)) for q in (0.5, 0.9, 0.95, 0.99)] == [
        math.isnan(v) for v in values
    ]


def test_nothing_has_no_quantiles() -> None:
    found = quantiles(np.empty(0))
    assert all(math.isnan(v) for v in (found.mean, found.p50, found.p90, found.p95, found.p99, found.max))


@settings(deadline=None)
@given(st.integers(368, 2000), st.integers(0, 2**32 - 1))
def test_the_definition_is_that_of_pandas(count, seed) -> None:
    values = np.random.default_rng(seed).integers(1, 10**11, count) / 1e6
    found = quantiles(values)
    expected = pd.Series(values).quantile([0.5, 0.9, 0.95, 0.99]).tolist()
    assert [found.p50, found.p90, found.p95, found.p99] == pytest.approx(expected, rel=1e-12)
