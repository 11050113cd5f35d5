import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpcbench.analysis.analyse import analyse
from rpcbench.analysis.decision import Kind, Rule, judge, pair
from rpcbench.model.samples import Status
from rpcbench.model.scenario import Open
from rpcbench.model.verdict import Verdict
from tests.analysis.conftest import IDS_PER_CALL, Build

TEN = np.array([9.7, 10.2, 10.0, 9.9, 10.4, 9.6, 10.1, 10.3, 9.8, 10.0])
WOBBLE = np.array([0.97, 1.03, 1.0, 1.06, 0.94, 1.03, 0.97, 1.0, 1.045, 0.955])


def primary(run, **options):
    return [c for c in analyse(run, **options).comparisons if c.metric == "p50"]


def of_metric(run, metric, **options):
    (found,) = [c for c in analyse(run, **options).comparisons if c.metric == metric]
    return found


def test_a_constant_factor_between_the_nodes_is_found_exactly(build: Build) -> None:
    (c,) = primary(build.paced({"juno": TEN, "pathfinder": TEN * 1.36}))
    assert (c.call, c.base, c.other, c.verdict) == ("getBlock", "juno", "pathfinder", Verdict.SLOWER)
    assert (c.ratio.value, c.ratio.low, c.ratio.high) == pytest.approx((1.36, 1.36, 1.36), rel=1e-6)
    assert (c.ratio.n, c.ratio.level) == (10, 0.95)
    assert c.difference_ms.value == pytest.approx(3.6, rel=1e-6)
    assert "p = 0.002 over 10 rounds" in c.reason


def test_a_constant_shift_is_found_exactly_in_milliseconds(build: Build) -> None:
    (c,) = primary(build.paced({"juno": TEN, "pathfinder": TEN + 2.0}))
    assert (c.difference_ms.value, c.difference_ms.low, c.difference_ms.high) == pytest.approx((2, 2, 2), abs=1e-5)


def test_the_interval_is_students_over_paired_log_ratios(build: Build) -> None:
    (c,) = primary(build.paced({"juno": TEN, "pathfinder": TEN * 1.2 * WOBBLE}))
    logs = np.log(1.2 * WOBBLE)
    half = 2.262157 * logs.std(ddof=1) / math.sqrt(10)
    expected = np.exp([logs.mean(), logs.mean() - half, logs.mean() + half])
    assert (c.ratio.value, c.ratio.low, c.ratio.high) == pytest.approx(tuple(expected), rel=1e-6)


def test_drift_that_both_nodes_share_cancels(build: Build) -> None:
    drift = np.exp(np.linspace(0, 1, 10))
    (c,) = primary(build.paced({"juno": TEN * drift, "pathfinder": TEN * drift * 0.9}))
    assert c.verdict is Verdict.FASTER
    assert (c.ratio.low, c.ratio.high) == pytest.approx((0.9, 0.9), rel=1e-6)


def test_the_same_within_the_noise_band(build: Build) -> None:
    (c,) = primary(build.paced({"juno": TEN, "pathfinder": TEN * (1 + (WOBBLE - 1) / 10)}))
    assert (c.verdict, c.detectable) == (Verdict.SAME, None)
    assert c.reason == "the whole interval lies within ±1 %"


def test_the_band_is_the_askers(build: Build) -> None:
    run = build.paced({"juno": TEN, "pathfinder": TEN * 1.04})
    assert primary(run)[0].verdict is Verdict.SLOWER
    assert primary(run, noise=0.05)[0].verdict is Verdict.SAME


def test_undecided_says_what_would_have_been_shown(build: Build) -> None:
    (c,) = primary(build.paced({"juno": TEN, "pathfinder": TEN * WOBBLE}))
    half = 2.262157 * np.log(WOBBLE).std(ddof=1) / math.sqrt(10)
    assert c.verdict is Verdict.UNDECIDED
    assert c.detectable == pytest.approx(math.exp(half) * 1.01 - 1, rel=1e-5)
    assert c.reason == "no difference shown; one of 4 % would have been shown; about 197 more rounds would decide"


def test_what_would_have_been_shown_is_shown(build: Build) -> None:
    (c,) = primary(build.paced({"juno": TEN, "pathfinder": TEN * WOBBLE}))
    centred = WOBBLE / math.exp(np.log(WOBBLE).mean())
    for factor, verdict in ((1.001, Verdict.SLOWER), (0.999, Verdict.UNDECIDED)):
        shifted = TEN * centred * (1 + c.detectable) * factor
        assert primary(build.paced({"juno": TEN, "pathfinder": shifted}))[0].verdict is verdict


def test_a_difference_that_reaches_into_the_band_is_not_called(build: Build) -> None:
    (c,) = primary(build.paced({"juno": TEN, "pathfinder": TEN * 1.015 * (1 + (WOBBLE - 1) / 4)}))
    assert c.ratio.low > 1
    assert c.verdict is Verdict.UNDECIDED
    assert c.reason.startswith("a difference that may be within ±1 %")


@pytest.mark.parametrize(("rounds", "verdict"), [(2, Verdict.UNDECIDED), (5, Verdict.UNDECIDED), (6, Verdict.SLOWER)])
def test_no_winner_in_fewer_rounds_than_the_test_needs(build: Build, rounds, verdict) -> None:
    (c,) = primary(build.paced({"juno": TEN[:rounds], "pathfinder": TEN[:rounds] * 2}))
    assert (c.verdict, c.detectable) == (verdict, None)
    assert c.ratio.value == pytest.approx(2, rel=1e-6)
    if verdict is Verdict.UNDECIDED:
        assert c.reason == f"needs at least 6 rounds for a verdict, this run has {rounds}"


@pytest.mark.parametrize("rounds", [0, 1])
def test_no_interval_without_two_rounds(build: Build, rounds) -> None:
    run = build.paced({"juno": TEN[:1], "pathfinder": TEN[:rounds]})
    (c,) = primary(run)
    assert (c.verdict, c.ratio, c.difference_ms) == (Verdict.UNDECIDED, None, None)
    assert c.reason.startswith("needs at least 6 rounds for a verdict")


def test_only_rounds_that_both_nodes_finished_are_paired(build: Build) -> None:
    (c,) = primary(build.paced({"juno": TEN, "pathfinder": TEN[:8] * 1.5}))
    assert (c.ratio.n, c.verdict) == (8, Verdict.SLOWER)
    assert c.ratio.value == pytest.approx(1.5, rel=1e-6)


def test_one_round_with_too_few_answers_spoils_the_statistic(build: Build) -> None:
    trials = {(r, n): build.rows(np.linspace(1, 3, 400)) for r in range(1, 11) for n in ("juno", "pathfinder")}
    trials[3, "pathfinder"] = build.rows(np.linspace(1, 3, 212))
    run = build.run(trials)
    c = of_metric(run, "p99")
    assert (c.verdict, c.ratio) == (Verdict.UNDECIDED, None)
    assert c.reason == "p99 needs 368 answered requests in every round, pathfinder answered 212 in round 3"
    assert of_metric(run, "p90").ratio is not None


def test_the_metrics_of_a_closed_loop_with_the_primary_one_first(build: Build) -> None:
    assert [c.metric for c in analyse(build.alike()).comparisons] == ["p50", "p90", "p99", "mean", "rate", "errors"]


def test_an_open_loop_has_no_rate_to_compare(build: Build) -> None:
    run = build.with_load(build.alike(), Open(500.0), planned=500)
    assert [c.metric for c in analyse(run).comparisons] == ["p50", "p90", "p99", "mean", "errors"]


def test_each_metric_is_taken_from_its_own_statistic(build: Build) -> None:
    base = {(r, "juno"): build.rows(np.linspace(1, 3, 1000)) for r in range(1, 11)}
    tail = np.linspace(1, 3, 1000)
    tail[-60:] *= 10  # p99 and the mean suffer, p50 and p90 do not
    run = build.run(base | {(r, "pathfinder"): build.rows(tail) for r in range(1, 11)})
    verdicts = {c.metric: c.verdict for c in analyse(run).comparisons}
    assert verdicts == {
        "p50": Verdict.SAME,
        "p90": Verdict.SAME,
        "p99": Verdict.SLOWER,
        "mean": Verdict.SLOWER,
        "rate": Verdict.SAME,
        "errors": Verdict.SAME,
    }
    assert of_metric(run, "mean").ratio.value == pytest.approx(tail.mean() / 2.0, rel=1e-6)


def test_more_answers_a_second_is_faster(build: Build) -> None:
    trials = {(r, "juno"): build.rows([1.0] * 100) for r in range(1, 11)}
    trials |= {(r, "pathfinder"): build.rows([1.0] * 150) for r in range(1, 11)}
    c = of_metric(build.run(trials), "rate")
    assert (c.verdict, c.difference_ms) == (Verdict.FASTER, None)
    assert c.ratio.value == pytest.approx(1.5)


def test_correction_counts_every_call_and_node_of_the_primary_set(build: Build) -> None:
    """Six rounds suffice for one comparison, and not for two."""

    def run(calls):
        rows = {
            node: np.concatenate([build.rows(np.full(9, ms), call=k) for k in range(calls)])
            for node, ms in (("juno", 10.0), ("pathfinder", 20.0))
        }
        labels = ("getBlock", "getEvents")[:calls]
        return build.run({(r, n): rows[n] for r in range(1, 7) for n in rows}, calls=labels)

    assert [c.verdict for c in primary(run(1))] == [Verdict.SLOWER]
    both = primary(run(2))
    assert [c.verdict for c in both] == [Verdict.UNDECIDED] * 2
    assert both[0].reason == "needs at least 7 rounds for a verdict, this run has 6"


def test_correction_can_take_a_winner_away(build: Build) -> None:
    """Six rounds of seven agree: p = 0.031 alone, 0.062 as one of two."""
    run = build.paced({"juno": [10.0] * 7, "pathfinder": [13.0] * 6 + [9.999]})
    assert primary(run)[0].verdict is Verdict.SLOWER
    doubled = [np.concatenate([t.samples.rows, t.samples.rows]) for t in run.trials]
    for rows in doubled:
        rows["call"][len(rows) // 2 :] += IDS_PER_CALL
    trials = {(t.trial.round, run.nodes[t.trial.node]): rows for t, rows in zip(run.trials, doubled, strict=True)}
    found = primary(build.run(trials, calls=("getBlock", "getEvents")))
    assert [c.verdict for c in found] == [Verdict.UNDECIDED] * 2
    assert "does not agree: p = 0.062 (Holm, 2 comparisons)" in found[0].reason


def test_the_band_is_as_wide_either_way() -> None:
    assert Rule(0.25, 0.95, 1).band == Rule(0.25, 0.95, 1, Kind.RATE).band == math.log(1.25)


def test_three_nodes_are_each_compared_with_the_first(build: Build) -> None:
    found = primary(build.paced({"juno": TEN, "pathfinder": TEN * 2, "madara": TEN / 2}))
    assert [(c.base, c.other, c.verdict) for c in found] == [
        ("juno", "pathfinder", Verdict.SLOWER),
        ("juno", "madara", Verdict.FASTER),
    ]


def test_no_winner_where_the_rank_test_does_not_follow_the_interval(build: Build) -> None:
    """Five rounds at 1.3 and one just below 1: clear of the band, yet as one-sided as 4 in 64 by chance."""
    (c,) = primary(build.paced({"juno": [10.0] * 6, "pathfinder": [13.0] * 5 + [9.999]}))
    assert c.ratio.low > 1.01
    assert (c.verdict, c.detectable) == (Verdict.UNDECIDED, None)
    told = "the interval lies outside ±1 %, but the signed-rank test does not agree: p = 0.062"
    assert c.reason == f"{told}; about 1 more round would decide"


ratios = st.lists(st.floats(0.5, 2.0), min_size=2, max_size=12)


@settings(max_examples=200, deadline=None)
@given(ratios, st.floats(0.0, 0.2), st.sampled_from(Kind))
def test_exchanging_the_nodes_exchanges_the_verdicts(factors, noise, kind) -> None:
    base, other, rule = np.full(len(factors), 10.0), 10.0 * np.array(factors), Rule(noise, 0.95, 1, kind)
    one, two = pair(base, other, 0.95, kind), pair(other, base, 0.95, kind)
    mirrored = {kind.above: kind.below, kind.below: kind.above}
    ruling, other_way = judge(one, one.p, rule), judge(two, two.p, rule)
    on_the_edge = any(
        math.isclose(abs(bound), edge, rel_tol=1e-9, abs_tol=1e-12)
        for bound in (one.effect.low, one.effect.high)
        for edge in (0.0, rule.band)
    )
    assert on_the_edge or other_way.verdict is mirrored.get(ruling.verdict, ruling.verdict)
    assert on_the_edge or other_way.more_rounds == ruling.more_rounds
    assert two.effect.value == pytest.approx(-one.effect.value)


def test_what_has_no_ratio_has_no_verdict(build: Build) -> None:
    run = build.paced({"juno": [0.0] * 10, "pathfinder": TEN})
    for trial in run.trials:
        object.__setattr__(trial.samples, "wall_ns", 0)
    for metric in ("p50", "mean", "rate"):
        c = of_metric(run, metric)
        assert (c.verdict, c.ratio) == (Verdict.UNDECIDED, None)
        assert c.reason == f"{metric} is not positive in every round, so that it has no ratio"


def test_failed_requests_are_not_compared(build: Build) -> None:
    fast_errors = build.rows([0.01] * 5, status=Status.RPC_ERROR, code=-32602)
    trials = {(r, "juno"): build.rows(np.linspace(1, 3, 1000)) for r in range(1, 11)}
    trials |= {(r, "pathfinder"): np.concatenate([trials[r, "juno"], fast_errors]) for r in range(1, 11)}
    c = of_metric(build.run(trials), "mean")
    assert c.verdict is Verdict.SAME
    assert c.ratio.value == pytest.approx(1.0)


def test_build_makes_the_medians_it_promises() -> None:
    trial = Build().paced({"juno": [10.0]}).trials[0]
    assert np.median(trial.samples.latency_ns) == 10_000_000
