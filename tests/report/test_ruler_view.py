"""What a calibration looks like on a terminal and beside a run's results."""

from __future__ import annotations

import io
import math
from dataclasses import replace

import pytest
from rich.console import Console

from rpcbench.model.ruler import Ceiling, Floor, Pace, Ruler
from rpcbench.report.evidence import evidence
from rpcbench.report.ruler_view import show_ruler
from tests.report.made import make_run

RULER = Ruler(
    "2026-01-02T03:04:05+00:00",
    "asyncio",
    Ceiling(130, 90_000.0, 8.1, 0.93),
    Ceiling(190_000, 10_000.0, 47.0, 0.94),
    Floor(14.0, 21.0, 2.0, 4.0),
    (Pace(100, 70.0, 300.0, 40.0, math.nan), Pace(1_000, 61.0, 250.0, 21.3, 80.0)),
)


def shown(ruler: Ruler, width: int) -> list[str]:
    out = io.StringIO()
    show_ruler(ruler, Console(file=out, width=width))
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [80, 100])
def test_it_fits_one_screen_and_loses_no_figure(width: int) -> None:
    lines = shown(RULER, width)
    assert len(lines) <= 22
    assert max(map(len, lines)) <= width
    words = [line.split() for line in lines]
    assert ["replies", "of", "130", "B", "90,000", "8.10", "µs", "93", "%"] in words
    assert ["service", "time", "as", "measured", "14.0", "µs", "21.0", "µs"] in words
    assert ["the", "server's", "own", "part", "2.00", "µs", "4.00", "µs"] in words
    assert ["1,000/s", "61.0", "µs", "250", "µs", "21.3", "µs", "80.0", "µs"] in words
    assert ["100/s", "70.0", "µs", "300", "µs", "40.0", "µs", "–"] in words
    text = " ".join(" ".join(line) for line in words)
    assert "no more than 70 % of it, 63,000 and 7,000 per second" in text
    assert "t + 21.3 µs" in text


@pytest.mark.parametrize(("share", "told"), [(0.79, True), (0.81, False)])
def test_a_generator_that_was_not_at_its_end_is_told(share: float, told: bool) -> None:
    text = " ".join(shown(replace(RULER, large=replace(RULER.large, cpu_share=share)), 100))
    assert ("had part of its core left" in text) is told


class TestEvidence:
    def test_a_run_says_what_the_generator_adds_and_how_near_it_came_to_its_end_at_the_busier_node(self) -> None:
        """One node is sent 50 times the rate of the other, and the generator could do 100 times as much."""
        run = make_run(rounds=1, per_trial=60)
        trials = tuple(
            replace(t, samples=replace(t.samples, wall_ns=10_000_000 if t.trial.node else 500_000_000))
            for t in run.trials
        )
        rate_per_s = next(len(t.samples.rows) / 0.5 for t in trials if t.trial.node == 0 and t.trial.round)
        able = replace(RULER.small, rate_per_s=100 * rate_per_s, reply_bytes=189_999)
        told = evidence(replace(run, trials=trials, ruler=replace(RULER, small=able)))
        assert "generator adds 21.3 µs, at 50 % of its ceiling" in told

    def test_one_that_was_not_calibrated_says_how(self) -> None:
        told = evidence(make_run(rounds=2, per_trial=60))
        assert "generator not calibrated: run `rpcbench calibrate` once" in told
        assert not any("ceiling" in fact for fact in told)
