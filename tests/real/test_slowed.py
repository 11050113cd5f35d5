"""Two real nodes with one chain, one slowed by 2 ms: the answer must say so, and every request be accounted for.

Here the first node's replies are not held at all. That is what a person would try, and the verdict must be right;
the difference itself is measured in test_difference.py, where nothing but the hold differs.
"""

import json
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.real.compared import LOAD_AGENT, NODES, QUIET_AGENT, Compared, compare

pytestmark = pytest.mark.timeout(120)

# So long that even the rarest call is asked often enough in every round of the slowed node.
RUNS = {"anvil": ("eth-mixed", 8, "600ms"), "devnet": ("mixed", 5, "400ms"), "geth": ("eth-blocks", 1, "300ms")}


@pytest.fixture(scope="module", params=RUNS)
def slowed(request, tmp_path_factory) -> Compared:
    """One run of `rpcbench compare` with the second node's replies held for 2 ms."""
    scenario, _, duration = RUNS[request.param]
    pair, home = request.getfixturevalue(request.param), tmp_path_factory.mktemp("slowed")
    words = ("-s", scenario, "--rounds", 10, "-d", duration, "--warmup", "300ms", "-c", 2, "--max-lag", 0)
    return compare(pair, (0, 2), *words, home=home)


def test_every_call_is_slower(slowed, request):
    _, calls, _ = RUNS[request.node.callspec.params["slowed"]]
    assert slowed.said.code == 0, slowed.said.err
    assert len(slowed.medians) == calls
    assert set(slowed.medians.verdict) == {"slower"}, slowed.medians.reason
    sentences = re.findall(r"other takes (\S+) times as long as base for (\S+) at the median", slowed.said.out)
    assert {call: float(times) for times, call in sentences} == pytest.approx(dict(slowed.medians.ratio), rel=5.1e-3)


def test_every_request_sent_is_recorded_and_was_counted_by_the_proxy(slowed):
    table = slowed.table("requests")
    assert set(table.status) == {"ok"}
    for node in NODES:
        counted = slowed.load(node)
        assert len(counted) > 100
        assert len(counted) == sum(t["requests"] for t in slowed.trials if t["node"] == node)
        assert len(counted) == len(table[table.node == node])
        assert Counter(told.id for told in counted) == Counter(slowed.rows(node)["call"].tolist())
        assert all(told.hold_ms is not None for told in counted)


def test_nothing_is_sent_but_the_load_and_quiet_questions(slowed):
    for node in NODES:
        agents = Counter(told.agent for told in slowed.told[node])
        assert agents.keys() == {LOAD_AGENT, QUIET_AGENT}
        assert agents[QUIET_AGENT] < 300


def test_both_nodes_gave_the_same_result_to_every_call(slowed):
    base, other = (_results(slowed, node) for node in NODES)
    asked = base.keys() & other.keys()
    assert len(asked) > 10
    assert {call: base[call] for call in asked} == {call: other[call] for call in asked}


def _results(compared: Compared, node: str) -> dict[int, list[int]]:
    """The digests of a node's replies by call, but for state updates: two devnets list their entries in two orders."""
    requests = [json.loads(line) for line in (compared.directory / "calls.jsonl").read_text().splitlines()]
    apart = {request["id"] for request in requests if request["method"] == "starknet_getStateUpdate"}
    results: dict[int, list[int]] = {}
    for call, digest in np.unique(compared.rows(node)[["call", "digest"]]).tolist():
        if call not in apart:
            results.setdefault(call, []).append(digest)
    return results


def test_three_lines_of_pandas_give_the_quantiles_of_the_report(slowed):
    table = slowed.table("requests")
    answered = table[(table.phase == "measure") & (table.status == "ok")]
    quantiles = answered.groupby(["call", "node"]).latency_ms.quantile([0.5, 0.9, 0.95, 0.99]).unstack()

    summary = slowed.table("summary").set_index(["call", "node"]).sort_index()
    assert len(summary) == len(quantiles) > 1
    for quantile, name in ((0.5, "p50"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99")):
        shown = summary[f"latency_{name}_ms"].dropna()  # p99 is left out where there are too few requests for it
        assert len(shown) == len(summary) or name == "p99"
        pd.testing.assert_series_equal(shown, quantiles[quantile][shown.index], check_names=False, rtol=0, atol=2e-6)
    for (call, node), figures in quantiles.iterrows():
        said = _said_quantiles_ms(slowed.said.out, call, node)
        assert len(said) >= 2
        assert said == pytest.approx(figures[[0.5, 0.9, 0.99]].tolist()[: len(said)], rel=5.1e-3)


def _said_quantiles_ms(answer: str, call: str, node: str) -> list[float]:
    """p50, p90 and, where it is shown, p99 from the table on the terminal; a call's name stands on its first line."""
    lines = answer.splitlines()
    first = next(i for i, line in enumerate(lines) if line.split()[:2] == [call, "base"])
    words = lines[first + NODES.index(node)].split()
    units = {"µs": 1e-3, "ms": 1.0, "s": 1e3}
    return [float(words[i - 1]) * units[word] for i, word in enumerate(words) if word in units]


def test_the_intervals_follow_from_the_rounds(slowed):
    table = slowed.table("requests")
    measured = table[table.phase == "measure"]
    rounds = measured.groupby(["call", "round", "node"]).latency_ms.median().unstack()
    for call, said in slowed.medians.iterrows():
        difference = (rounds.loc[call].other - rounds.loc[call].base).to_numpy()
        interval = stats.ttest_1samp(difference, 0).confidence_interval(0.95)
        expected = [difference.mean(), interval.low, interval.high]
        assert said[["difference_ms", "difference_low_ms", "difference_high_ms"]].tolist() == pytest.approx(
            expected, abs=2e-6
        )
