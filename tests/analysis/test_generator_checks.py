"""The generator as the bottleneck: for every notice about it a run that causes it, and one that must not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rpcbench.analysis.analyse import analyse
from rpcbench.analysis.load_checks import asks_too_much, calibration_stale
from rpcbench.model.scenario import Closed, Open
from rpcbench.model.verdict import Verdict, Weight
from tests.analysis.conftest import WALL_NS, Build
from tests.analysis.test_ruler import LARGE, RULER, SMALL

ROUNDS = range(1, 7)
OPEN = Open(500.0)
CLOSED = Closed(8)


def run_with(build: Build, shares, *, load=CLOSED, nodes=("juno", "pathfinder"), **changes):
    """Six rounds of 500 requests a second each, in which the generator used so much of a core with each node."""
    rows = build.rows(np.full(500, 2.0), due_ms=np.arange(500) * 2.0)
    run = build.run({(r, n): rows for r in ROUNDS for n in nodes}, nodes=nodes)
    run = build.with_load(run, load, planned=500)
    trials = [
        replace(t, samples=replace(t.samples, cpu_ns=round(shares[t.trial.node] * t.samples.wall_ns)))
        for t in run.trials
    ]
    return replace(run, trials=tuple(trials), **changes)


def kinds(run):
    return {n.kind for n in analyse(run).notices}


class TestBusy:
    @pytest.mark.parametrize(("load", "share"), [(OPEN, 0.86), (CLOSED, 0.91)])
    def test_a_generator_without_time_left_voids_the_run(self, build: Build, load, share) -> None:
        run = run_with(build, (share, share), load=load)
        found = [n for n in analyse(run).notices if n.kind == "generator_busy"]
        assert [n.node for n in found] == ["juno", "pathfinder"]
        assert found[0].saw == f"the generator used {share:.0%} of a core to send 500 requests/s to juno".replace(
            "%", " %"
        )
        assert found[0].weight is Weight.VOID
        assert not analyse(run).valid
        assert {c.verdict for c in analyse(run).comparisons} == {Verdict.INVALID}

    @pytest.mark.parametrize(("load", "share"), [(OPEN, 0.85), (CLOSED, 0.90), (CLOSED, 0.0)])
    def test_one_with_time_left_does_not(self, build: Build, load, share) -> None:
        run = run_with(build, (share, share), load=load)
        assert kinds(run) == set()
        assert analyse(run).valid

    def test_one_node_that_is_too_fast_for_it_is_enough_and_is_named(self, build: Build) -> None:
        (notice,) = analyse(run_with(build, (0.3, 0.99))).notices
        assert (notice.kind, notice.node, notice.call) == ("generator_busy", "pathfinder", None)

    def test_the_advice_suits_the_load(self, build: Build) -> None:
        def advice(load):
            return {n.advice for n in analyse(run_with(build, (1.0, 1.0), load=load)).notices}

        assert advice(OPEN) == {"lower the rate"}
        assert advice(Closed(8)) == {"ask for a rate it can keep, with -r"}

    def test_all_rounds_together_count(self, build: Build) -> None:
        run = run_with(build, (0.2, 0.2))
        first, *others = run.trials
        peak = replace(first, samples=replace(first.samples, cpu_ns=WALL_NS))
        assert kinds(replace(run, trials=(peak, *others))) == set()


class TestNearCeiling:
    def ruler(self, per_s: float):
        return replace(RULER, small=replace(SMALL, rate_per_s=per_s), large=replace(LARGE, rate_per_s=per_s / 10))

    @pytest.mark.parametrize("load", [OPEN, CLOSED])
    def test_more_than_is_safe_is_a_warning(self, build: Build, load) -> None:
        run = run_with(build, (0.3, 0.3), load=load, ruler=self.ruler(700.0))
        found = [n for n in analyse(run).notices if n.kind == "near_ceiling"]
        assert [n.node for n in found] == ["juno", "pathfinder"]
        assert found[0].saw == "juno was sent 71 % of what this generator can send at all"
        assert found[0].weight is Weight.WARNING
        assert analyse(run).valid

    def test_silent_below_and_without_a_calibration(self, build: Build) -> None:
        assert kinds(run_with(build, (0.3, 0.3), ruler=self.ruler(720.0))) == set()
        assert kinds(run_with(build, (0.3, 0.3), ruler=None)) == set()

    def test_the_size_of_replies_counts(self, build: Build) -> None:
        run = run_with(build, (0.3, 0.3), ruler=self.ruler(2_000.0))
        assert kinds(run) == set()
        for trial in run.trials:
            trial.samples.rows["bytes_in"] = LARGE.reply_bytes
        assert kinds(run) == {"near_ceiling"}


class TestBeforehand:
    def test_a_rate_beyond_the_safe_share_is_told(self) -> None:
        notice = asks_too_much(Open(7_100.0), 10_000.0)
        assert notice is not None
        assert notice.saw == "7,100/s is 71 % of the 10,000/s that this generator can send"
        assert notice.advice == "ask for at most 7,000/s"
        assert notice.weight is Weight.WARNING

    def test_a_safe_one_is_not(self) -> None:
        assert asks_too_much(Open(7_000.0), 10_000.0) is None

    def test_a_stale_calibration_is_a_note(self) -> None:
        notice = calibration_stale("it was made with python 3.10")
        assert (notice.weight, notice.saw) == (Weight.INFO, "it was made with python 3.10")
        assert "rpcbench calibrate" in notice.advice
