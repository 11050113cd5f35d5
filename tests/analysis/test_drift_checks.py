"""Rounds that drift: told when they move by more than what is claimed, and not otherwise."""

from dataclasses import replace

import numpy as np
import pytest

from rpcbench.analysis.analyse import analyse
from rpcbench.model.verdict import Notice, Weight
from tests.analysis.conftest import Build

STEADY = 10 * np.exp(0.004 * np.array([1, -1, 0, 2, -2, 1, -1, 0, 1, -1]))
RISING = np.linspace(1, 1.2, 10)  # by a fifth
WILD = np.array([1, 1.2, 0.85, 1.1, 0.9, 1.25, 0.8, 1, 1.15, 0.9])


def drifting(build, medians, **options):
    return [n for n in analyse(build.paced(medians, count=999), **options).notices if n.kind == "rounds_drifting"]


def only(build, medians):
    (notice,) = drifting(build, medians)
    return notice


class TestCauses:
    def test_a_node_that_slows_down_alone_lowers_trust(self, build: Build) -> None:
        notice = only(build, {"juno": STEADY, "pathfinder": STEADY * RISING})
        assert notice.saw.startswith("the median of getBlock did not stay: over the rounds pathfinder rose by 20 %")
        assert (notice.weight, notice.call) == (Weight.WARNING, "getBlock")
        assert "does not cancel in pairs" in notice.why

    def test_a_difference_that_is_claimed_is_named_beside_a_larger_trend(self, build: Build) -> None:
        notice = only(build, {"juno": STEADY, "pathfinder": STEADY * RISING})
        assert notice.saw.endswith(", more than the difference of 9.8 % that is claimed")

    def test_nodes_that_drift_together_are_only_told(self, build: Build) -> None:
        notice = only(build, {"juno": STEADY / RISING, "pathfinder": STEADY / RISING * 1.1})
        assert "juno fell by 20 % and pathfinder fell by 20 %" in notice.saw
        assert notice.weight is Weight.INFO
        assert "pairing takes out" in notice.why

    def test_rounds_that_scatter_beyond_their_samples(self, build: Build) -> None:
        notice = only(build, {"juno": STEADY, "pathfinder": STEADY * WILD})
        assert "pathfinder scattered by 17 %, where its requests explain 1.6 %" in notice.saw
        assert notice.weight is Weight.WARNING

    def test_a_node_without_a_peer_drifts_alone(self, build: Build) -> None:
        assert only(build, {"juno": STEADY * RISING}).weight is Weight.WARNING


class TestSilence:
    def test_of_steady_rounds(self, build: Build) -> None:
        assert drifting(build, {"juno": STEADY, "pathfinder": STEADY[::-1] * 1.3}) == []

    def test_of_a_trend_smaller_than_the_difference_claimed(self, build: Build) -> None:
        assert drifting(build, {"juno": STEADY * RISING, "pathfinder": STEADY * RISING * 1.36}) == []

    def test_of_a_small_trend_where_nothing_is_claimed(self, build: Build) -> None:
        gently = np.linspace(1, 1.04, 10)
        assert drifting(build, {"juno": STEADY * gently, "pathfinder": STEADY * gently}) == []

    def test_of_scatter_that_few_requests_explain(self, build: Build) -> None:
        run = build.paced({"juno": STEADY, "pathfinder": STEADY * WILD}, count=9)
        assert [n for n in analyse(run).notices if n.kind == "rounds_drifting"] == []

    @pytest.mark.parametrize("rounds", [1, 5])
    def test_of_few_rounds(self, build: Build, rounds) -> None:
        assert drifting(build, {"juno": STEADY[:rounds], "pathfinder": (STEADY * RISING)[:rounds]}) == []

    @pytest.mark.parametrize("call", ["getBlock", None])
    def test_of_what_is_void_anyway(self, build: Build, call) -> None:
        void = Notice("heads_apart", Weight.VOID, "the heads moved apart", "", "", call=call)
        assert drifting(build, {"juno": STEADY, "pathfinder": STEADY * RISING}, noticed=[void]) == []

    def test_of_noise_in_all_but_one_run_of_a_hundred(self, build: Build) -> None:
        rng = np.random.default_rng(7)
        noisy = [{n: 10 * rng.lognormal(0, 0.04, 10) for n in ("juno", "pathfinder")} for _ in range(80)]
        runs = [build.paced(medians, count=19) for medians in noisy]
        told = [any(n.kind == "rounds_drifting" for n in analyse(run).notices) for run in runs]
        assert np.mean(told) <= 0.03


def test_the_other_calls_of_a_run_are_judged_by_themselves(build: Build) -> None:
    run = build.paced({"juno": STEADY, "pathfinder": STEADY * RISING}, count=999)
    rows = {
        (t.trial.round, run.nodes[t.trial.node]): np.concatenate(
            [t.samples.rows, build.rows(np.full(999, 5.0), call=1)]
        )
        for t in run.trials
    }
    both = build.run(rows, calls=("getBlock", "getEvents"))
    assert [n.call for n in analyse(both).notices if n.kind == "rounds_drifting"] == ["getBlock"]


def test_the_trend_is_over_the_numbers_of_the_rounds(build: Build) -> None:
    """A round that is missing in the middle leaves its gap."""
    run = build.paced({"juno": STEADY * RISING}, count=999)
    without = replace(run, trials=tuple(t for t in run.trials if t.trial.round != 5))
    (notice,) = [n for n in analyse(without).notices if n.kind == "rounds_drifting"]
    assert "juno rose by 20 %" in notice.saw
