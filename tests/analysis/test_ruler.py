"""A calibration's figures, from rows and stamps whose truth is known by construction."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from rpcbench.analysis.ruler import ceiling, ceiling_share, floor, pace
from rpcbench.model.ruler import Ceiling, Floor, Pace, Ruler, Stamps
from rpcbench.model.samples import Samples, Status
from tests.analysis.conftest import WALL_NS, Build

SMALL = Ceiling(reply_bytes=100, rate_per_s=50_000.0, cpu_us_per_request=20.0, cpu_share=1.0)
LARGE = Ceiling(reply_bytes=100_100, rate_per_s=5_000.0, cpu_us_per_request=200.0, cpu_share=1.0)
FLOOR = Floor(20.0, 40.0, 2.0, 4.0)
PACES = (Pace(500, 9, 9, 9, 9), Pace(1_000, 60, 200, 21, 80))
RULER = Ruler("2026-01-02T03:04:05+00:00", "asyncio", SMALL, LARGE, FLOOR, PACES)


def samples(rows, *, wall_ns=WALL_NS, cpu_ns=0) -> Samples:
    return Samples(rows, 0, wall_ns, cpu_ns, 1, 0)


def stamped(rows, server_us, *, capacity=2_000) -> Stamps:
    """A server that took `server_us` for each row, in their order, at whatever time of its own clock."""
    arrived, departed = np.zeros(capacity, np.int64), np.zeros(capacity, np.int64)
    arrived[rows["call"]] = 77_000_000_000 + np.arange(len(rows)) * 1_000
    departed[rows["call"]] = arrived[rows["call"]] + np.round(np.broadcast_to(server_us, len(rows)) * 1e3)
    return Stamps(arrived, departed, len(rows), 0)


class TestPace:
    def test_lag_and_error_are_what_was_built_in(self, build: Build) -> None:
        """Row k leaves k µs late, takes 100 + 2k µs, and the server had it for 100 + k: an error of k µs."""
        k = np.arange(1_001)
        rows = build.rows((100 + 3 * k) / 1e3, lag_ms=k / 1e3)
        shuffled = rows[np.random.default_rng(1).permutation(len(rows))]
        stamps = stamped(rows, 100.0 + k)
        assert pace(1_000, samples(shuffled), stamps) == Pace(1_000, 500.0, 990.0, 500.0, 990.0)

    def test_the_servers_own_time_is_no_error(self, build: Build) -> None:
        rows = build.rows([5.0] * 500)
        assert pace(500, samples(rows), stamped(rows, 5_000.0)).error_p50_us == 0.0

    def test_only_answered_and_stamped_rows_count(self, build: Build) -> None:
        good = build.rows([0.1] * 400)
        lost = build.rows([9.0] * 400, ids=range(400, 800), status=Status.TIMEOUT, lag_ms=8.0)
        unknown = build.rows([9.0] * 400, ids=range(800, 1_200), lag_ms=8.0)
        beyond = build.rows([9.0] * 400, ids=range(5_000, 5_400), lag_ms=8.0)
        stamps = stamped(np.concatenate([good, lost]), 60.0)
        found = pace(100, samples(np.concatenate([good, lost, unknown, beyond])), stamps)
        assert found == Pace(100, 0.0, 0.0, 40.0, 40.0)

    def test_too_short_a_trial_has_no_p99(self, build: Build) -> None:
        rows = build.rows([0.1] * 367)
        found = pace(100, samples(rows), stamped(rows, 60.0))
        assert found.error_p50_us == 40.0
        assert math.isnan(found.error_p99_us)
        assert math.isnan(found.lag_p99_us)


def test_the_floor_tells_the_servers_part(build: Build) -> None:
    k = np.arange(1_001)
    rows = build.rows((1_000 + k) / 1e3)
    assert floor(samples(rows), stamped(rows, 10.0 + k / 10)) == Floor(1_500.0, 1_990.0, 60.0, 109.0)


def test_the_ceiling_is_the_best_trial_with_its_own_cost(build: Build) -> None:
    slow = samples(build.rows([1.0] * 500), cpu_ns=400_000_000)
    best = samples(build.rows([1.0] * 900, bytes_in=130), cpu_ns=900_000_000)
    assert ceiling([slow, best, slow]) == Ceiling(130, 900.0, 1_000.0, 0.9)


class TestCeilingBySize:
    def test_it_is_what_was_measured_at_both_sizes(self) -> None:
        assert RULER.ceiling_per_s(SMALL.reply_bytes) == pytest.approx(SMALL.rate_per_s)
        assert RULER.ceiling_per_s(LARGE.reply_bytes) == pytest.approx(LARGE.rate_per_s)

    def test_between_them_the_time_of_a_reply_grows_with_its_size(self) -> None:
        """20 µs and 200 µs: half way it takes 110."""
        assert RULER.ceiling_per_s(50_100) == pytest.approx(1e6 / 110)

    def test_beyond_the_large_one_it_goes_on(self) -> None:
        assert RULER.ceiling_per_s(200_100) == pytest.approx(1e6 / 380)

    def test_an_even_smaller_reply_is_no_faster(self) -> None:
        assert RULER.ceiling_per_s(0) == pytest.approx(SMALL.rate_per_s)

    def test_a_large_reply_that_was_faster_than_a_small_one_does_not_turn_the_line_round(self) -> None:
        noisy = replace(RULER, large=replace(LARGE, rate_per_s=60_000.0))
        assert noisy.ceiling_per_s(10**9) == pytest.approx(SMALL.rate_per_s)


class TestShare:
    def test_rate_over_the_ceiling_for_these_sizes(self, build: Build) -> None:
        trial = samples(build.rows([1.0] * 1_000, bytes_in=100))
        assert ceiling_share(RULER, [trial]) == pytest.approx(1_000 / 50_000)
        large = samples(build.rows([1.0] * 1_000, bytes_in=100_100))
        assert ceiling_share(RULER, [large]) == pytest.approx(1_000 / 5_000)
        assert ceiling_share(RULER, [trial, large]) == pytest.approx(1_000 / (1e6 / 110))

    def test_nothing_sent_is_no_share(self, build: Build) -> None:
        assert ceiling_share(RULER, []) == 0.0
        assert ceiling_share(RULER, [samples(build.rows([]), wall_ns=0)]) == 0.0


class TestRuler:
    def test_the_reference_is_the_pace_at_a_thousand(self) -> None:
        assert RULER.reference.error_p50_us == 21

    @pytest.mark.parametrize(
        "nonsense",
        [
            {"paces": (Pace(500, 1, 1, 1, 1),)},
            {"small": replace(SMALL, rate_per_s=0.0)},
            {"large": replace(LARGE, rate_per_s=-1.0)},
            {"large": replace(LARGE, reply_bytes=100)},
            {"small": replace(SMALL, reply_bytes=0)},
            {"small": replace(SMALL, rate_per_s=math.nan)},
        ],
        ids=str,
    )
    def test_figures_that_cannot_be_are_refused(self, nonsense) -> None:
        with pytest.raises(ValueError, match=r"missing|above zero"):
            replace(RULER, **nonsense)
