"""Thresholds on runs whose figures are known: judged by the whole interval, or not at all."""

import math
from dataclasses import replace

import numpy as np
import pytest

from rpcbench.analysis.analyse import analyse
from rpcbench.analysis.comparison import METRICS
from rpcbench.analysis.thresholds import judgement
from rpcbench.config.thresholds import PAIRED, parse_threshold
from rpcbench.model.samples import Status
from rpcbench.model.scenario import Open
from rpcbench.model.threshold import Unit
from rpcbench.model.verdict import Judgement, Notice, Weight
from tests.analysis.conftest import WALL_NS, Build

PASS, FAIL, INCONCLUSIVE = Judgement.PASS, Judgement.FAIL, Judgement.INCONCLUSIVE
TEN = np.array([9.7, 10.2, 10.0, 9.9, 10.4, 9.6, 10.1, 10.3, 9.8, 10.0])
VOID = Notice("k", Weight.VOID, "all of it was refused", "", "", node="pathfinder", call="getBlock")


def judged(run, *texts, **options):
    return analyse(run, thresholds=[parse_threshold(text) for text in texts], **options).thresholds


def outcomes(run, *texts, **options):
    return [t.outcome for t in judged(run, *texts, **options)]


def failing(build: Build, failures: list[int], of: int = 1000):
    """A run of one node with that many failed requests in each round."""
    trials = {}
    for number, failed in enumerate(failures, start=1):
        bad = build.rows([1.0] * failed, status=Status.RPC_ERROR, code=-32000)
        trials[number, "juno"] = np.concatenate([build.rows(np.linspace(1, 3, of - failed)), bad])
    return build.run(trials, nodes=("juno",))


@pytest.mark.parametrize(
    ("relation", "limit", "outcome"),
    [
        *[("<", 5.1, PASS), ("<", 5.0, INCONCLUSIVE), ("<", 4.5, INCONCLUSIVE), ("<", 4.0, FAIL), ("<", 3.9, FAIL)],
        *[("<=", 5.0, PASS), ("<=", 4.9, INCONCLUSIVE), ("<=", 4.0, INCONCLUSIVE), ("<=", 3.9, FAIL)],
        *[(">", 3.9, PASS), (">", 4.0, INCONCLUSIVE), (">", 5.0, FAIL)],
        *[(">=", 4.0, PASS), (">=", 4.1, INCONCLUSIVE), (">=", 5.0, INCONCLUSIVE), (">=", 5.1, FAIL)],
    ],
)
def test_the_whole_interval_decides(relation, limit, outcome) -> None:
    assert judgement(relation, limit, 4.0, 5.0) is outcome


def test_without_an_upper_bound_only_a_floor_can_be_settled() -> None:
    assert judgement("<", 100.0, 4.0, math.inf) is INCONCLUSIVE
    assert judgement("<", 4.0, 4.0, math.inf) is FAIL
    assert judgement(">", 3.0, 4.0, math.inf) is PASS


@pytest.mark.parametrize("metric", ["p50", "p90", "p95", "p99"])
def test_a_percentile_has_the_value_and_interval_of_the_summary(build: Build, metric) -> None:
    run = build.alike(count=500)
    (found,) = judged(run, f"{metric}(juno)<1s")
    summary = analyse(run).summaries[0]
    assert found.value == getattr(summary.latency_ms, metric)
    interval = summary.latency_intervals_ms[metric]
    assert (found.low, found.high) == (interval.low, interval.high)
    assert (found.call, found.node, found.unit, found.outcome) == ("getBlock", "juno", Unit.MS, PASS)


def test_a_percentile_near_its_limit_is_inconclusive_and_beyond_it_failed(build: Build) -> None:
    run = build.alike(count=500, nodes=("juno",))
    value = judged(run, "p50<1s")[0].value
    texts = [f"p50<{value * factor:.4f}ms" for factor in (1.5, 1.0001, 0.9999, 0.5)]
    found = judged(run, *texts)
    assert [t.outcome for t in found] == [PASS, INCONCLUSIVE, INCONCLUSIVE, FAIL]
    across = "the interval lies on both sides of the limit; more rounds would narrow it"
    assert [t.reason for t in found] == ["", across, across, ""]


def test_a_percentile_of_too_few_answers_is_inconclusive(build: Build) -> None:
    (found,) = judged(build.alike(3, count=100, nodes=("juno",)), "p99<1s")
    assert (found.outcome, found.reason) == (INCONCLUSIVE, "p99 needs 368 answered requests, juno has 300")
    assert math.isnan(found.value)


def test_no_percentile_is_beyond_the_slowest_request(build: Build) -> None:
    """All slow requests are in one round of ten, so that rounds say nothing of how slow one in a hundred is."""
    quick, slow = [1.0] * 80, np.linspace(40, 60, 20).tolist()
    rounds = {(r, "juno"): build.rows(quick + (slow if r == 4 else [1.0] * 20)) for r in range(1, 11)}
    run = build.run(rounds, nodes=("juno",))
    assert analyse(run).summaries[0].latency_intervals_ms["p99"].high == math.inf
    beyond, within = judged(run, "p99<61ms", "p99<59ms")
    assert (beyond.low, beyond.high, beyond.outcome) == (1, 60, PASS)
    assert within.outcome is INCONCLUSIVE


def test_the_mean_and_the_rate_are_those_of_the_summary(build: Build) -> None:
    run = build.paced({"juno": TEN}, count=50)
    summary = analyse(run).summaries[0]
    mean, rate = judged(run, "mean<11ms", "rate>=49")
    assert (mean.value, rate.value) == (pytest.approx(summary.latency_ms.mean), summary.rate_per_s)
    assert (mean.outcome, rate.outcome) == (PASS, PASS)
    assert mean.low < 10 < mean.high
    assert (rate.low, rate.high, rate.unit) == (50, 50, Unit.PER_S)


def test_answers_alone_make_the_rate(build: Build) -> None:
    assert judged(failing(build, [100, 100, 100]), "rate>=950")[0].value == 900


@pytest.mark.parametrize(
    ("failures", "text", "outcome"),
    [
        ([0] * 10, "errors<0.1%", PASS),
        ([0] * 3, "errors<0.1%", INCONCLUSIVE),
        ([10] * 10, "errors<0.1%", FAIL),
        ([1] * 10, "errors<0.1%", INCONCLUSIVE),
        ([1] * 10, "errors<1%", PASS),
        ([300] + [0] * 9, "errors<1%", INCONCLUSIVE),
        ([30] * 10, "errors<1%", FAIL),
    ],
)
def test_errors_are_judged_by_how_many_and_how_bunched_they_are(build: Build, failures, text, outcome) -> None:
    (found,) = judged(failing(build, failures), text)
    assert found.value == pytest.approx(sum(failures) / (1000 * len(failures)))
    assert (found.outcome, found.unit) == (outcome, Unit.SHARE)


def test_none_failed_of_too_few_says_how_many_it_takes(build: Build) -> None:
    (found,) = judged(failing(build, [0] * 3), "errors<0.1%")
    assert found.reason == "none failed; it takes 3,688 requests without a failure to show this"
    assert outcomes(failing(build, [0] * 4, of=922), "errors<0.1%") == [PASS]
    assert outcomes(failing(build, [0] * 4, of=921), "errors<0.1%") == [INCONCLUSIVE]


def test_two_rounds_are_too_few_to_show_how_rounds_differ(build: Build) -> None:
    found = judged(failing(build, [0, 0]), "errors<50%", "rate>=1", "mean<1s")
    assert [t.outcome for t in found] == [INCONCLUSIVE] * 3
    assert {t.reason for t in found} == {"needs at least 3 rounds, so that it shows how rounds differ; juno finished 2"}


def test_every_call_and_every_node_is_judged(build: Build) -> None:
    rows = np.concatenate([build.rows(np.linspace(1, 3, 60), call=0), build.rows(np.linspace(4, 6, 60), call=1)])
    trials = {(r, n): rows for r in range(1, 11) for n in ("juno", "pathfinder")}
    run = build.run(trials, calls=("getBlock", "getEvents"))
    found = judged(run, "p50<3.5ms", "getEvents.p50(juno)<7ms")
    assert [(t.text, t.call, t.node, t.outcome) for t in found] == [
        ("p50<3.5ms", "getBlock", "juno", PASS),
        ("p50<3.5ms", "getBlock", "pathfinder", PASS),
        ("p50<3.5ms", "getEvents", "juno", FAIL),
        ("p50<3.5ms", "getEvents", "pathfinder", FAIL),
        ("getEvents.p50(juno)<7ms", "getEvents", "juno", PASS),
    ]


def test_a_ratio_is_the_one_of_the_comparison(build: Build) -> None:
    run = build.paced({"juno": TEN, "pathfinder": TEN[::-1] * 1.2})
    ratio = analyse(run).comparisons[0].ratio
    (found,) = judged(run, "p50(pathfinder)/p50(juno)<=1.3")
    assert (found.value, found.low, found.high) == (ratio.value, ratio.low, ratio.high)
    assert (found.node, found.unit, found.outcome) == ("pathfinder/juno", Unit.RATIO, PASS)
    assert outcomes(run, "p50(pathfinder)/p50(juno)<=1.1", "p50(pathfinder)/p50(juno)<=1.2") == [FAIL, INCONCLUSIVE]


def test_a_ratio_may_be_asked_for_either_way_round_and_between_any_two(build: Build) -> None:
    run = build.paced({"juno": TEN, "pathfinder": TEN * 2, "madara": TEN * 3})
    texts = ("p50(juno)/p50(pathfinder)<1", "mean(madara)/mean(pathfinder)<2", "mean(pathfinder)/mean(madara)<1")
    found = judged(run, *texts)
    assert [t.value for t in found] == pytest.approx([1 / 2, 3 / 2, 2 / 3], rel=1e-6)
    assert [t.outcome for t in found] == [PASS] * 3


def test_a_run_that_stopped_between_two_nodes_has_its_ratio_too(build: Build) -> None:
    run = build.paced({"juno": TEN[:9], "pathfinder": TEN * 2, "madara": TEN[:9] * 3})
    assert judged(run, "p50(madara)/p50(pathfinder)<2")[0].value == pytest.approx(1.5, rel=1e-6)


def test_a_ratio_that_there_is_not_is_inconclusive(build: Build) -> None:
    run = build.paced({"juno": TEN, "pathfinder": TEN})
    (found,) = judged(run, "p99(pathfinder)/p99(juno)<=1.05")
    assert (found.outcome, found.reason) == (
        INCONCLUSIVE,
        "p99 needs 368 answered requests in every round, juno answered 9 in round 1",
    )
    (rate,) = judged(build.with_load(run, Open(9.0), 9), "rate(pathfinder)/rate(juno)>=0.9")
    assert (rate.outcome, rate.reason) == (
        INCONCLUSIVE,
        "rates are not compared in an open loop, where the plan sets them",
    )


def test_what_has_a_ratio_is_what_is_paired() -> None:
    assert [m.name for m in METRICS if m.name != "errors"] == list(PAIRED)


def test_nothing_is_concluded_from_what_is_void(build: Build) -> None:
    texts = ("p50<1ms", "errors<1%", "p50(pathfinder)/p50(juno)<=1")
    found = judged(build.alike(), *texts, noticed=[VOID])
    by_node = {(t.text, t.node): (t.outcome, t.reason) for t in found}
    void = (INCONCLUSIVE, "all of it was refused")
    assert by_node["p50<1ms", "pathfinder"] == by_node["errors<1%", "pathfinder"] == void
    assert by_node["p50(pathfinder)/p50(juno)<=1", "pathfinder/juno"] == void
    assert by_node["p50<1ms", "juno"] == (FAIL, "")


@pytest.mark.parametrize("change", [{"call": None}, {"call": None, "node": None}, {"node": None}])
def test_what_voids_the_run_or_the_call_voids_it_for_all(build: Build, change) -> None:
    found = judged(build.alike(), "p50<1s", noticed=[replace(VOID, **change)])
    assert [t.outcome for t in found] == [INCONCLUSIVE] * 2


def test_other_calls_and_lighter_notices_do_not_count(build: Build) -> None:
    notices = [replace(VOID, call="getEvents"), replace(VOID, weight=Weight.WARNING)]
    assert outcomes(build.alike(), "p50<1s", noticed=notices) == [PASS, PASS]


def test_a_warning_is_missed_without_failing_the_run(build: Build) -> None:
    warned, meant = judged(build.alike(nodes=("juno",)), "warn: p50<1ms", "p50<1ms")
    assert (warned.outcome, warned.warn, warned.missed) == (FAIL, True, False)
    assert (meant.outcome, meant.warn, meant.missed) == (FAIL, False, True)


def test_an_interrupted_run_is_judged_by_what_it_has(build: Build) -> None:
    empty = build.run({}, nodes=("juno",), interrupted=True)
    assert outcomes(empty, "p50<1s", "errors<1%") == [INCONCLUSIVE, INCONCLUSIVE]


def test_a_call_that_was_never_sent_or_answered_says_so(build: Build) -> None:
    nothing = {(r, "juno"): build.rows([1.0] * 9, status=Status.TIMEOUT) for r in range(1, 4)}
    run = build.run(nothing, nodes=("juno",), calls=("getBlock", "getEvents"))
    found = judged(run, "getEvents.errors<1%", "getEvents.mean<1s", "getEvents.rate>=1")
    assert [t.reason for t in found[:2]] == ["juno was sent no getEvents", "juno answered no getEvents"]
    assert (found[2].value, found[2].outcome) == (0, FAIL)
    assert all(t.samples.wall_ns == WALL_NS for t in run.trials)
