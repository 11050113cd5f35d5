"""Every verdict in words, and words that fit their ratio."""

from dataclasses import replace

import pytest

from rpcbench.model.verdict import Comparison, Estimate, Quantiles, Summary, Verdict
from rpcbench.report.sentences import alone, interrupted, routing, sentence

SLOWER = Comparison(
    "p50", "getEvents", "juno", "pathfinder", Estimate(1.36, 1.31, 1.42, 0.95, 10), None, Verdict.SLOWER, ""
)


def test_slower_takes_longer():
    assert sentence(SLOWER) == "pathfinder takes 1.36 times as long as juno for getEvents at the median [1.31, 1.42]"


def test_faster_is_told_from_its_own_side_with_the_interval_turned_round():
    faster = replace(SLOWER, verdict=Verdict.FASTER, ratio=Estimate(0.8, 0.75, 0.85, 0.95, 10))
    assert sentence(faster) == "pathfinder answers getEvents 1.25 times as fast as juno at the median [1.18, 1.33]"


def test_same_claims_no_more_than_the_interval_shows():
    same = replace(SLOWER, verdict=Verdict.SAME, ratio=Estimate(1.001, 0.996, 1.008, 0.95, 10))
    assert sentence(same) == "getEvents: no difference between pathfinder and juno beyond ±0.8 %"


def test_undecided_says_what_the_run_would_have_seen():
    undecided = replace(
        SLOWER, verdict=Verdict.UNDECIDED, ratio=Estimate(1.01, 0.97, 1.05, 0.95, 10), detectable=0.0395
    )
    expected = "getEvents: no difference shown between pathfinder and juno; this run would have seen 4 %"
    assert sentence(undecided) == f"{expected}, and 200 more rounds would hardly decide"


@pytest.mark.parametrize(("more", "words"), [(1, "about 1 more round would"), (1200, "about 1,200 more rounds would")])
def test_undecided_says_how_many_rounds_would_decide(more, words):
    ratio = Estimate(1.01, 0.97, 1.05, 0.95, 10)
    undecided = replace(SLOWER, verdict=Verdict.UNDECIDED, ratio=ratio, detectable=0.0395, more_rounds=more)
    assert sentence(undecided).endswith(f"; this run would have seen 4 %, and {words} decide")


def test_a_node_alone_is_told_with_the_interval_of_its_median():
    q = Quantiles(2.5, 2.31, 4.0, 5.0, 12.4, 30.0)
    summary = Summary("juno", "getEvents", 900, 900, 480.0, q, q, {}, 0)
    expected = "juno answers getEvents in 2.31 ms at the median, 12.4 ms at p99, 480 per second"
    assert alone(summary) == expected
    known = replace(summary, latency_intervals_ms={"p50": Estimate(2.31, 2.2, 2.4, 0.95, 900)})
    assert alone(known) == expected.replace("median,", "median [2.20 ms, 2.40 ms],")


def test_errors_are_fewer_or_more():
    more = replace(SLOWER, metric="errors", ratio=None, verdict=Verdict.MORE)
    assert sentence(more) == "pathfinder fails more getEvents requests than juno"


def test_undecided_beside_one_does_not_deny_the_difference():
    undecided = replace(
        SLOWER, verdict=Verdict.UNDECIDED, ratio=Estimate(1.02, 1.005, 1.035, 0.95, 10), detectable=0.02
    )
    expected = "getEvents: the difference between pathfinder and juno may be no more than noise"
    assert sentence(undecided) == expected + "; this run would have seen 2 %, and 200 more rounds would hardly decide"


def test_undecided_without_a_detectable_difference_gives_the_reason():
    undecided = replace(SLOWER, verdict=Verdict.UNDECIDED, ratio=None, reason="needs at least 6 rounds, this run has 2")
    expected = "getEvents: no verdict between pathfinder and juno: needs at least 6 rounds, this run has 2"
    assert sentence(undecided) == expected


def test_invalid_names_no_winner():
    invalid = sentence(replace(SLOWER, verdict=Verdict.INVALID))
    assert invalid == "getEvents is not compared between pathfinder and juno"


@pytest.mark.parametrize("verdict", [Verdict.FASTER, Verdict.SLOWER])
def test_a_verdict_without_a_ratio_still_reads(verdict):
    bare = replace(SLOWER, verdict=verdict, ratio=None)
    assert sentence(bare) == f"pathfinder is {verdict} than juno for getEvents at the median"


def test_a_rate_is_told_as_a_rate():
    rate = replace(SLOWER, metric="rate", ratio=Estimate(0.74, 0.7, 0.78, 0.95, 10))
    assert sentence(rate) == "pathfinder serves 0.74 times as many getEvents per second as juno [0.70, 0.78]"


def test_foreign_names_are_tamed():
    hostile = replace(SLOWER, other="\x1b[31mred\x1b[0m\nsecond line")
    assert "\x1b" not in sentence(hostile)
    assert "\n" not in sentence(hostile)


def test_interrupted_tells_how_much_is_left_to_stand_on():
    assert interrupted(7, 20) == "interrupted: 7 of 20 trials were finished, and the figures rest on those alone"
    assert interrupted(0, 20) == "interrupted before the first trial was finished"


def test_routing_is_told_only_where_it_is_a_choice():
    assert routing([("a", "juno"), ("b", "juno")]) == ""
    assert routing([("a", "juno"), ("b", "pathfinder"), ("c", "juno")]) == "by call, send a, c to juno; b to pathfinder"
