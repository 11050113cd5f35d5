"""The noise floor of a run: between each node and itself, by rounds that follow one another."""

import math
from dataclasses import replace

import numpy as np
import pytest

from rpcbench.analysis.analyse import analyse
from rpcbench.model.verdict import Estimate, NoiseFloor
from rpcbench.plan.rounds import trial_order
from tests.analysis.conftest import Build


def in_turns(build, speeds, *, nodes=("juno", "pathfinder"), rounds=10, calls=1, factor=1.0):
    """A run in the planned order in which trial `i` takes `speeds[i]` ms, on nodes but the first `factor` times it."""
    shape, rows = np.linspace(0.5, 1.5, 9), {}
    for t in trial_order(len(nodes), rounds, warmup=False):
        latencies = shape * speeds[t.index] * (factor if t.node else 1)
        rows[t.round, nodes[t.node]] = np.concatenate([build.rows(latencies, call=k) for k in range(calls)])
    return build.run(rows, nodes=nodes, calls=("getBlock", "getEvents")[:calls])


def floor(run):
    (found,) = analyse(run).noise_floors
    return found


def test_a_run_without_noise_has_none(build: Build) -> None:
    assert floor(build.alike()).share == pytest.approx(0, abs=1e-9)


def test_nodes_may_differ_without_being_noise(build: Build) -> None:
    assert floor(in_turns(build, np.full(20, 10.0), factor=3.0)).share == pytest.approx(0, abs=1e-6)


def test_it_is_the_methods_interval_over_trials_that_follow_one_another(build: Build) -> None:
    """In ABBA order trials 1 and 2, 3 and 4, … are of the same node: nine pairs, taken in turns one way and back."""
    speeds = 10 * np.exp(np.random.default_rng(1).normal(0, 0.03, 20))
    logs = np.log(speeds)
    second, first = [logs[i + 1] - logs[i] for i in range(1, 19, 4)], [logs[i + 1] - logs[i] for i in range(3, 19, 4)]
    effects = np.array([d * (-1) ** i for i, d in enumerate([*first, *second])])
    half = 2.306004 * effects.std(ddof=1) / 3
    found = floor(in_turns(build, speeds))
    assert (found.call, found.ratio.n) == ("getBlock", 9)
    assert found.ratio.value == pytest.approx(math.exp(effects.mean()), rel=1e-6)
    assert found.share == pytest.approx(math.exp(abs(effects.mean()) + half) - 1, rel=1e-5)


def test_the_share_is_the_band_that_holds_the_interval_on_either_side() -> None:
    assert NoiseFloor("a", Estimate(1.0, 0.99, 1.005, 0.95, 9)).share == pytest.approx(1 / 0.99 - 1)
    assert NoiseFloor("a", Estimate(1.0, 0.99, 1.02, 0.95, 9)).share == pytest.approx(0.02)


def test_it_is_as_large_as_the_interval_between_nodes_that_are_alike(build: Build) -> None:
    rng, floors, halves = np.random.default_rng(2), [], []
    for _ in range(40):
        analysis = analyse(in_turns(build, 10 * np.exp(np.cumsum(rng.normal(0, 0.02, 20)))))
        floors.append(math.log1p(analysis.noise_floors[0].share))
        halves.append(math.log(analysis.comparisons[0].ratio.high / analysis.comparisons[0].ratio.low) / 2)
    assert 1.0 <= np.mean(floors) / np.mean(halves) <= 1.8  # it holds the apparent difference as well


def test_a_steady_drift_falls_on_both_halves(build: Build) -> None:
    found = floor(in_turns(build, 10 * np.exp(0.01 * np.arange(20))))
    assert found.ratio.value == pytest.approx(math.exp(0.01 / 9), rel=1e-4)


def test_each_call_has_its_own(build: Build) -> None:
    run = in_turns(build, np.full(20, 10.0), calls=2)
    slow = np.random.default_rng(3).lognormal(0, 0.05, 20)
    for trial, factor in zip(run.trials, slow, strict=True):
        rows = trial.samples.rows
        rows["done_ns"][rows["call"] >= 10_000] = (rows["done_ns"][rows["call"] >= 10_000] * factor).astype(np.int64)
    blocks, events = analyse(run).noise_floors
    assert (blocks.call, events.call) == ("getBlock", "getEvents")
    assert blocks.share < 0.001 < events.share


@pytest.mark.parametrize(
    ("nodes", "rounds", "pairs"),
    [(("juno",), 10, 5), (("juno",), 6, 3), (("a", "b", "c"), 10, 14), (("a", "b"), 4, 3)],
)
def test_any_number_of_nodes_compares_with_itself(build: Build, nodes, rounds, pairs) -> None:
    run = in_turns(build, np.linspace(9, 10, len(nodes) * rounds), nodes=nodes, rounds=rounds)
    assert floor(run).ratio.n == pairs


@pytest.mark.parametrize(("nodes", "rounds"), [(("juno",), 1), (("juno",), 5), (("a", "b"), 3)])
def test_too_few_rounds_tell_nothing(build: Build, nodes, rounds) -> None:
    assert analyse(in_turns(build, np.full(20, 10.0), nodes=nodes, rounds=rounds)).noise_floors == ()


def test_rounds_without_answers_are_left_out(build: Build) -> None:
    run = in_turns(build, np.full(20, 10.0))
    silent = replace(run.trials[1], samples=replace(run.trials[1].samples, rows=run.trials[1].samples.rows[:0]))
    assert floor(replace(run, trials=(run.trials[0], silent, *run.trials[2:]))).ratio.n == 8
