"""What the method itself does, by simulation: false winners between equal nodes, power, and coverage.

A trial is 2,001 requests with lognormal latencies (sigma 0.5); the exact distribution of its median is drawn directly.
Trials run in ABBA order on a machine whose speed wanders: its logarithm does a random walk, `drift` per round.
"""

import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import norm

from rpcbench.analysis.decision import Rule, judge, pair
from rpcbench.model.verdict import Verdict

ROUNDS, REQUESTS, SIGMA = 10, 2001, 0.5
RULE = Rule(noise=0.01, level=0.95, tests=1)


def experiments(count, effect, drift, seed):
    """`count` pairs of per-round medians; the other node takes 1 + `effect` times as long."""
    rng = np.random.default_rng(seed)
    middle = (REQUESTS + 1) // 2
    wander = np.cumsum(rng.normal(0, drift / math.sqrt(2), (count, 2 * ROUNDS)), axis=1)
    medians = np.exp(wander + SIGMA * norm.ppf(rng.beta(middle, middle, (count, 2 * ROUNDS))))
    in_rounds = medians.reshape(count, ROUNDS, 2)
    in_rounds[:, 1::2] = in_rounds[:, 1::2, ::-1].copy()
    for base, other in zip(in_rounds[:, :, 0], in_rounds[:, :, 1] * (1 + effect), strict=True):
        yield pair(base, other, RULE.level)


def verdicts(count, effect, drift, seed=11):
    return Counter(judge(paired, paired.p, RULE).verdict for paired in experiments(count, effect, drift, seed))


@pytest.mark.parametrize("drift", [0.0, 0.01, 0.03])
def test_equal_nodes_seldom_have_a_winner(drift) -> None:
    found = verdicts(400, 0.0, drift)
    assert found[Verdict.FASTER] + found[Verdict.SLOWER] <= 0.06 * 400


@pytest.mark.parametrize("drift", [0.0, 0.01, 0.03])
def test_five_percent_is_found_in_ten_rounds(drift) -> None:
    found = verdicts(400, 0.05, drift)
    assert found[Verdict.SLOWER] >= 0.85 * 400
    assert found[Verdict.FASTER] + found[Verdict.SAME] == 0


@pytest.mark.parametrize("drift", [0.0, 0.03])
def test_intervals_cover_the_truth_as_often_as_they_say(drift) -> None:
    covered = [p.effect.low <= math.log(1.05) <= p.effect.high for p in experiments(2000, 0.05, drift, seed=12)]
    assert 0.93 <= np.mean(covered) <= 0.97


def test_same_is_not_said_of_nodes_that_differ() -> None:
    assert verdicts(400, 0.03, 0.01)[Verdict.SAME] <= 0.01 * 400
