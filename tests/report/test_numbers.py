"""Figures as people read them."""

from math import inf, nan

import pytest

from rpcbench.model.verdict import Estimate
from rpcbench.report import numbers


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (2.31, "2.31 ms"),
        (12.41, "12.4 ms"),
        (0.231, "231 µs"),
        (0.9996, "1.00 ms"),
        (999.6, "1.00 s"),
        (9.999, "10.0 ms"),
        (1203, "1.20 s"),
        (60_000, "60.0 s"),
        (0.0, "0 µs"),
        (nan, "–"),
        (inf, "–"),
    ],
)
def test_a_latency_has_three_digits_and_its_unit(ms, text):
    assert numbers.duration(ms) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"),
        (1, "100 %"),
        (0.04, "4 %"),
        (0.0043, "0.43 %"),
        (0.00001, "< 0.01 %"),
        (0.9999, "> 99.9 %"),
        (0.31, "31 %"),
    ],
)
def test_a_share_is_none_or_all_only_where_it_is(share, text):
    assert numbers.percent(share) == text


@pytest.mark.parametrize(("share", "text"), [(0.0401, "5 %"), (0.04, "4 %"), (0.0082, "0.9 %"), (0.01, "1 %")])
def test_a_band_is_rounded_up_so_that_the_claim_stays_true(share, text):
    assert numbers.band(share) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (1.31, 1.42, "[1.31, 1.42]"),
        (1.003, 1.012, "[1.003, 1.012]"),
        (0.97, 1.04, "[0.97, 1.04]"),
        (0.9991, 1.0012, "[0.999, 1.001]"),
        (11.2, 240.4, "[11.2, 240]"),
    ],
)
def test_an_interval_keeps_its_bounds_apart_from_one(low, high, text):
    assert numbers.interval(Estimate((low * high) ** 0.5, low, high, 0.95, 10)) == text


def test_an_inverse_turns_its_bounds_round():
    turned = numbers.inverse(Estimate(0.5, 0.4, 0.8, 0.95, 10))
    assert (turned.value, turned.low, turned.high) == (2.0, 1.25, 2.5)


def test_sizes_clocks_and_spans():
    assert [numbers.size(n) for n in (812, 14_200, 410e6, 85e6)] == ["812 B", "14 kB", "0.41 GB", "85 MB"]
    assert [numbers.clock(s) for s in (64, 7389, 0, nan, -3)] == ["1:04", "2:03:09", "0:00", "0:00", "0:00"]
    assert [numbers.span(int(s * 1e9)) for s in (0.5, 3, 90)] == ["500 ms", "3 s", "1:30 min"]
    assert [numbers.rate(r) for r in (2431.4, 99.96, 0.521, nan)] == ["2,431", "100", "0.521", "–"]
