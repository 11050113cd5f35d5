"""Latencies are compared over calls that both nodes answered in the same way; the rest is left out and told."""

import numpy as np
import pytest

from rpcbench.analysis.analyse import analyse
from rpcbench.analysis.equal_work import equal_work
from rpcbench.analysis.measured import measure
from rpcbench.model.samples import Status
from rpcbench.model.verdict import Verdict, Weight
from tests.analysis.conftest import Build

ROUNDS = range(1, 11)
PAIR = ("juno", "pathfinder")


def answered(build, *, slow, ok, other):
    """1,000 calls a round on two nodes as fast as each other, but that `slow` of them take juno 50 times as long.

    Those calls pathfinder answers with `other` instead, and as fast as `ok`, the latency of everything else.
    """
    calls = np.full(1000, ok)
    juno, pathfinder = build.rows(calls), build.rows(calls)
    juno["done_ns"][:slow] += round(50e6 * ok)
    pathfinder["status"][:slow] = other
    return build.run({(r, n): rows for r in ROUNDS for n, rows in zip(PAIR, (juno, pathfinder), strict=True)})


def left_out(run):
    return [n for n in analyse(run).notices if n.kind == "unequal_work"]


def means(run):
    return next(c for c in analyse(run).comparisons if c.metric == "mean")


@pytest.mark.parametrize("other", [Status.REVERTED, Status.TIMEOUT, Status.RPC_ERROR])
def test_calls_that_one_node_did_not_do_flatter_nobody(build: Build, other) -> None:
    run = answered(build, slow=9, ok=2.0, other=other)
    assert means(run).ratio.value == pytest.approx(1.0)
    assert means(run).verdict is Verdict.SAME


def test_equal_answers_all_count(build: Build) -> None:
    run = answered(build, slow=9, ok=2.0, other=Status.OK)
    assert means(run).ratio.value < 0.8
    assert left_out(run) == []


def test_what_is_left_out_is_told_with_its_share(build: Build) -> None:
    (notice,) = left_out(answered(build, slow=9, ok=2.0, other=Status.TIMEOUT))
    assert "0.5 % of the answers to getBlock by juno and pathfinder, 90 of 19,910" in notice.saw
    assert (notice.weight, notice.node, notice.call) == (Weight.INFO, "pathfinder", "getBlock")


def test_much_left_out_is_a_warning(build: Build) -> None:
    """Both revert on as many calls, but on others."""
    one, two = build.rows(np.full(100, 2.0)), build.rows(np.full(100, 2.0))
    one["status"][:10] = Status.REVERTED
    two["status"][10:20] = Status.REVERTED
    run = build.run({(r, n): rows for r in ROUNDS for n, rows in zip(PAIR, (one, two), strict=True)})
    (notice,) = left_out(run)
    assert notice.weight is Weight.WARNING
    assert "20 % of the answers" in notice.saw


def test_counts_stay_those_of_everything(build: Build) -> None:
    run = answered(build, slow=9, ok=2.0, other=Status.TIMEOUT)
    rate = next(c for c in analyse(run).comparisons if c.metric == "rate")
    assert rate.ratio.value == pytest.approx(991 / 1000)
    errors = next(c for c in analyse(run).comparisons if c.metric == "errors")
    assert errors.difference_share.value == pytest.approx(0.009)


def test_a_call_that_fails_once_and_is_answered_again_counts(build: Build) -> None:
    good = build.rows([2.0] * 200, ids=[7] * 200)
    once = good.copy()
    once["status"][0] = Status.TIMEOUT
    run = build.run({(1, "juno"): good, (1, "pathfinder"): once})
    assert left_out(run) == []


def test_calls_that_only_one_node_came_to_stay(build: Build) -> None:
    run = build.run({(r, n): build.rows([2.0] * k) for r in ROUNDS for n, k in (("juno", 200), ("pathfinder", 300))})
    work = equal_work(measure(run), "getBlock", *PAIR)
    assert all(work.counts(cell).all() for cells in measure(run).cells.values() for cell in cells)
    assert left_out(run) == []


def test_pairs_are_told_apart(build: Build) -> None:
    good = build.rows(np.full(1000, 2.0))
    bad = good.copy()
    bad["status"][:9] = Status.TIMEOUT
    nodes = {"juno": good, "pathfinder": bad, "madara": good}
    run = build.run({(r, n): rows for r in ROUNDS for n, rows in nodes.items()}, nodes=tuple(nodes))
    assert [n.node for n in left_out(run)] == ["pathfinder"]


def test_a_call_that_is_void_anyway_is_told_once(build: Build) -> None:
    assert left_out(answered(build, slow=500, ok=2.0, other=Status.TIMEOUT)) == []
