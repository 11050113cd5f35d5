"""What is said where there is no winner: both tests when they disagree, what could have been shown, how many rounds."""

import math

import numpy as np
import pytest

from rpcbench.analysis.analyse import analyse
from rpcbench.analysis.decision import ERRORS_BAND, MORE_ROUNDS_AT_MOST, Kind, Rule, judge, pair
from rpcbench.model.samples import Status
from rpcbench.model.verdict import Verdict
from tests.analysis.conftest import Build

RULE = Rule(0.01, 0.95, 1)
ERRORS = Rule(0.01, 0.95, 1, Kind.ERRORS)


def ruling(ratios, rule=RULE, p=None):
    paired = pair(np.ones(len(ratios)), np.array(ratios), 0.95)
    return judge(paired, paired.p if p is None else p, rule)


def ruling_on_errors(base, other):
    paired = pair(np.array(base), np.array(other), 0.95, Kind.ERRORS)
    return judge(paired, paired.p, ERRORS)


class TestDisagreement:
    def test_the_rank_test_sees_what_the_interval_does_not(self) -> None:
        """Eleven rounds slower by a little, one faster by a lot: that one is wide for Student, and one rank of 12."""
        found = ruling([1.02] * 11 + [0.85])
        assert found.verdict is Verdict.UNDECIDED
        assert found.reason == (
            "the two tests disagree: signed-rank p = 0.033 shows a difference, Student's interval [0.972, 1.039] "
            "does not; one of 4.5 % would have been shown; 200 more rounds would hardly decide"
        )

    def test_the_interval_sees_what_the_rank_test_does_not(self) -> None:
        found = ruling([1.02, 1.03, 1.025, 1.0, 1.02, 1.015, 0.999], p=0.2)
        assert found.verdict is Verdict.UNDECIDED
        assert "Student's interval [1.005, 1.027] shows a difference, signed-rank p = 0.2 does not" in found.reason

    def test_a_correction_is_told_with_the_p_value(self) -> None:
        found = ruling([1.02] * 11 + [0.85], Rule(0.01, 0.95, 3), p=0.02)
        assert "signed-rank p = 0.02 (Holm, 3 comparisons) shows a difference" in found.reason

    def test_within_the_band_it_is_told_as_well(self) -> None:
        found = ruling([1.002] * 13 + [0.985])
        assert found.verdict is Verdict.SAME
        assert found.reason.startswith("the whole interval lies within ±1 %; the two tests disagree")

    @pytest.mark.parametrize("ratios", [[1.05] * 10, [0.95, 1.05] * 5, [1.0] * 10, [1.3] * 3, [1.004, 1.005, 1.0045]])
    def test_silent_where_they_agree_or_are_too_few(self, ratios) -> None:
        assert "disagree" not in ruling(ratios).reason


class TestMoreRounds:
    def test_too_few_rounds_for_any_verdict_ask_for_the_missing_ones(self) -> None:
        assert ruling([1.3, 1.4, 1.2, 1.3]).more_rounds == 2
        assert ruling([1.3, 1.4, 1.2, 1.3], Rule(0.01, 0.95, 4)).more_rounds == 4

    def test_an_undecided_one_says_about_how_many_would_decide(self) -> None:
        found = ruling([1.08, 0.98] * 5)
        assert found.verdict is Verdict.UNDECIDED
        assert found.more_rounds == 53
        assert found.reason.endswith("; about 53 more rounds would decide")

    def test_a_hopeless_one_says_so(self) -> None:
        found = ruling([1.5, 0.7] * 5)
        assert found.more_rounds is None
        assert found.reason.endswith(f"; {MORE_ROUNDS_AT_MOST} more rounds would hardly decide")

    def test_one_at_the_edge_of_the_band_is_hopeless(self) -> None:
        wobble = np.exp(np.array([0.01, -0.01] * 5))
        assert ruling(1.01 * wobble).more_rounds is None

    def test_what_is_decided_asks_for_nothing(self) -> None:
        assert ruling([1.3] * 10).more_rounds is None
        assert ruling([1.0] * 10).more_rounds is None


class TestErrors:
    def test_more_and_fewer(self) -> None:
        few, many = np.full(10, 0.001), np.linspace(0.006, 0.009, 10)
        assert ruling_on_errors(few, many).verdict is Verdict.MORE
        assert ruling_on_errors(many, few).verdict is Verdict.FEWER

    def test_the_same_within_a_tenth_of_a_point(self) -> None:
        found = ruling_on_errors(np.zeros(10), np.full(10, ERRORS_BAND * 0.9))
        assert found.verdict is Verdict.SAME
        assert found.reason == "the whole interval lies within ±0.1 percentage points"

    def test_a_single_bad_round_shows_nothing(self) -> None:
        found = ruling_on_errors(np.zeros(10), [0.05] + [0.0] * 9)
        half = 2.262157 * math.sqrt(0.05**2 / 10 / 10)
        assert found.verdict is Verdict.UNDECIDED
        assert found.detectable == pytest.approx(half + ERRORS_BAND, rel=1e-5)
        assert found.reason.startswith("no difference shown; one of 1.24 percentage points would have been shown")

    def run(self, build, failed):
        """`failed` of 1,000 requests a round on the second node, one on the first."""
        trials = {}
        for node, bad in (("juno", 1), ("pathfinder", failed)):
            rows = [build.rows(np.linspace(1, 3, 1000 - bad)), build.rows([9.0] * bad, status=Status.TIMEOUT)]
            trials |= {(r, node): np.concatenate(rows) for r in range(1, 11)}
        return [c for c in analyse(build.run(trials)).comparisons if c.metric == "errors"]

    def test_a_run_compares_shares_and_gives_no_ratio(self, build: Build) -> None:
        (c,) = self.run(build, failed=9)
        assert (c.verdict, c.ratio, c.difference_ms) == (Verdict.MORE, None, None)
        assert c.difference_share.value == pytest.approx(0.008)
        assert c.difference_share.n == 10

    def test_where_replies_are_not_comparable_neither_are_errors(self, build: Build) -> None:
        (c,) = self.run(build, failed=20)
        assert (c.verdict, c.difference_share) == (Verdict.INVALID, None)

    def test_a_round_without_a_request_has_no_share(self, build: Build) -> None:
        run = build.run({(r, n): build.rows([1.0] * (r > 1)) for r in range(1, 11) for n in ("juno", "pathfinder")})
        (c,) = [c for c in analyse(run).comparisons if c.metric == "errors"]
        assert (c.verdict, c.reason) == (Verdict.UNDECIDED, "errors needs a request in every round")


@pytest.mark.parametrize(
    ("kind", "effect", "words"),
    [
        (Kind.TIME, math.log(1.0321), "3.3 %"),
        (Kind.RATE, math.log(1.0004), "0.1 %"),
        (Kind.TIME, math.log(1.04), "4 %"),
        (Kind.ERRORS, 0.00121, "0.13 percentage points"),
        (Kind.ERRORS, 0.0012, "0.12 percentage points"),
    ],
)
def test_sizes_are_rounded_up_so_that_the_claim_stays_true(kind, effect, words) -> None:
    assert kind.words(effect) == words
