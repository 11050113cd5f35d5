"""The tables, mostly through real CSV files, because that is how a notebook meets them."""

import math

import numpy as np
import pandas as pd
import pytest

from rpcbench.analysis.analyse import analyse
from rpcbench.analysis.tables import FLOAT_FORMAT, compare_table, requests_table, summary_table, timeline_table
from rpcbench.model.run import TrialRecord
from rpcbench.model.samples import Samples, Status
from rpcbench.model.workload import Phase, Trial
from tests.analysis.conftest import Build

REQUESTS_COLUMNS = (
    "node call method round phase status code due_ms sent_ms first_ms done_ms latency_ms service_ms send_lag_ms "
    "connect_ms bytes_in digest reconnect"
)


def through_csv(table, directory):
    path = directory / "table.csv"
    table.to_csv(path, index=False, float_format=FLOAT_FORMAT)
    return pd.read_csv(path)


def noisy_run(build, count=700):
    """Two calls on two nodes with failures and reverts among them, and a slow warm-up."""
    rng = np.random.default_rng(5)
    trials = {}
    for number in range(4):
        for node in ("juno", "pathfinder"):
            latency_ms = np.round(rng.lognormal(1 if number else 5, 0.6, count), 6)
            rows = build.rows(latency_ms, ids=rng.integers(0, 300, count), lag_ms=0.012345)
            rows["call"] += (rng.random(count) < 0.5) * 10_000
            rows["status"] = rng.choice([Status.OK, Status.REVERTED, Status.TIMEOUT], count, p=[0.9, 0.05, 0.05])
            trials[number, node] = rows
    return build.run(trials, calls=("getBlock", "getEvents"))


def test_three_lines_of_pandas_give_the_figures_of_the_summary(build: Build, tmp_path) -> None:
    run = noisy_run(build)
    requests_table(run).to_csv(tmp_path / "requests.csv", index=False, float_format=FLOAT_FORMAT)

    df = pd.read_csv(tmp_path / "requests.csv")
    ok = df[(df.phase == "measure") & df.status.isin(["ok", "reverted"])]
    found = ok.groupby(["node", "call"]).latency_ms.quantile([0.5, 0.9, 0.99])

    summaries = analyse(run).summaries
    assert len(found) == 3 * len(summaries) == 12
    for s in summaries:
        expected = [f"{v:.6f}" for v in (s.latency_ms.p50, s.latency_ms.p90, s.latency_ms.p99)]
        assert [f"{v:.6f}" for v in found[s.node, s.call]] == expected


def test_every_row_is_there_in_order_with_its_nanoseconds(build: Build, tmp_path) -> None:
    run = noisy_run(build)
    df = through_csv(requests_table(run), tmp_path)
    rows = np.concatenate([t.samples.rows for t in run.trials])
    assert " ".join(df.columns) == REQUESTS_COLUMNS
    assert len(df) == len(rows) == 8 * 700
    for column, nanoseconds in (
        ("due_ms", rows["due_ns"]),
        ("done_ms", rows["done_ns"]),
        ("latency_ms", rows["done_ns"] - rows["due_ns"]),
        ("service_ms", rows["done_ns"] - rows["sent_ns"]),
        ("send_lag_ms", rows["sent_ns"] - rows["due_ns"]),
    ):
        assert np.array_equal(np.round(df[column] * 1e6), nanoseconds)
    assert df.digest.tolist() == [f"{d:016x}" for d in rows["digest"].tolist()]
    assert df["round"].tolist() == [t.trial.round for t in run.trials for _ in range(700)]


def test_names_stand_for_numbers_and_warm_up_is_marked(build: Build) -> None:
    rows = np.concatenate([build.rows([1.0]), build.rows([2.0], call=1, status=Status.RPC_ERROR, code=-32602)])
    df = requests_table(build.run({(0, "pathfinder"): rows, (1, "juno"): rows}, calls=("getBlock", "getEvents")))
    assert df.node.tolist() == ["pathfinder"] * 2 + ["juno"] * 2
    assert df.call.tolist() == ["getBlock", "getEvents"] * 2
    assert df.method.tolist() == ["starknet_getBlock", "starknet_getEvents"] * 2
    assert df.phase.tolist() == ["warmup"] * 2 + ["measure"] * 2
    assert df.status.tolist() == ["ok", "rpc_error"] * 2
    assert df.code.tolist() == [0, -32602] * 2


def test_cells_are_empty_where_nothing_was_sent_or_received(build: Build, tmp_path) -> None:
    rows = build.rows([5.0, 5.0, 5.0], digest=[0xABC, 0, 0])
    rows["first_ns"][1:] = 0  # the second timed out
    rows["sent_ns"][2] = 0  # the third was refused
    df = through_csv(requests_table(build.run({(1, "juno"): rows})), tmp_path)
    assert df.first_ms.isna().tolist() == [False, True, True]
    assert df.digest.isna().tolist() == [False, True, True]
    for column in ("sent_ms", "service_ms", "send_lag_ms"):
        assert df[column].isna().tolist() == [False, False, True]
    assert df.latency_ms.tolist() == [5.0] * 3
    assert df.digest[0] == "0000000000000abc"


def test_calls_may_share_a_method(build: Build) -> None:
    run = build.run({(1, "juno"): np.concatenate([build.rows([1.0]), build.rows([1.0], call=1)])}, calls=("a", "b"))
    for spec in run.scenario.calls:
        object.__setattr__(spec, "method", "starknet_call")
    assert requests_table(run).method.tolist() == ["starknet_call"] * 2


def test_names_and_digests_are_stored_once(build: Build) -> None:
    table = requests_table(build.run({(1, "juno"): build.rows([1.0] * 50_000, ids=np.arange(50_000) % 1000)}))
    assert all(table[c].dtype == "category" for c in ("node", "call", "method", "phase", "status", "digest"))
    assert table.memory_usage(deep=True).sum() < 130 * len(table)


def test_tables_of_nothing_keep_their_columns(build: Build) -> None:
    run = build.run({}, nodes=("juno",))
    assert " ".join(requests_table(run).columns) == REQUESTS_COLUMNS
    assert "second" in timeline_table(run).columns
    assert "verdict" in compare_table(analyse(run)).columns


def test_summary_table(build: Build, tmp_path) -> None:
    rows = np.concatenate(
        [
            build.rows(np.random.default_rng(1).permutation(np.arange(1.0, 101.0))),
            build.rows([1.0] * 2, status=Status.TIMEOUT),
            build.rows([1.0] * 3, status=Status.RPC_ERROR, code=-32602),
        ]
    )
    (line,) = through_csv(summary_table(analyse(build.run({(1, "juno"): rows}, nodes=("juno",)))), tmp_path).to_dict(
        "records"
    )
    assert line["errors_by_class"] == "rpc_error[-32602] 3; timeout 2"
    assert (line["requests"], line["answered"], line["errors"], line["rate_per_s"]) == (105, 100, 5, 100.0)
    assert (line["latency_p50_ms"], line["service_p90_ms"], line["latency_max_ms"]) == (50.5, 90.1, 100.0)
    assert math.isnan(line["latency_p99_ms"])
    assert math.isnan(line["latency_p99_high_ms"])
    assert (line["latency_p50_low_ms"], line["latency_p50_high_ms"]) == (40.0, 61.0)


def test_compare_table(build: Build, tmp_path) -> None:
    medians = np.linspace(10, 11, 10)
    analysis = analyse(build.paced({"juno": medians, "pathfinder": medians * 2}))
    table = through_csv(compare_table(analysis), tmp_path)
    assert " ".join(table.columns) == (
        "metric call base other ratio low high difference_ms difference_low_ms difference_high_ms "
        "difference_share difference_low_share difference_high_share verdict detectable more_rounds noise_floor reason"
    )
    first = table.iloc[0]
    assert (first.metric, first.call, first.base, first.other, first.verdict) == (
        *("p50", "getBlock", "juno", "pathfinder", "slower"),
    )
    assert (first.ratio, first.low, first.high) == pytest.approx((2, 2, 2), abs=1e-6)
    assert first.difference_ms == pytest.approx(10.5, abs=1e-5)
    p99 = table[table.metric == "p99"].iloc[0]
    assert (p99.verdict, math.isnan(p99.ratio)) == ("undecided", True)
    assert p99.reason.startswith("p99 needs 368")
    errors = table[table.metric == "errors"].iloc[0]
    assert (errors.verdict, errors.difference_share, math.isnan(errors.ratio)) == ("same", 0, True)


def test_an_undecided_line_holds_what_it_would_take(build: Build, tmp_path) -> None:
    wobble = np.array([1.08, 0.98] * 5)
    analysis = analyse(build.paced({"juno": np.full(10, 10.0), "pathfinder": 10 * wobble}))
    path = tmp_path / "compare.csv"
    compare_table(analysis).to_csv(path, index=False, float_format=FLOAT_FORMAT)
    line = pd.read_csv(path, dtype={"more_rounds": str}).iloc[0]
    assert (line.verdict, line.more_rounds) == ("undecided", str(analysis.comparisons[0].more_rounds))
    assert line.noise_floor == pytest.approx(analysis.noise_floors[0].share, abs=1e-6)
    assert line.detectable == pytest.approx(analysis.comparisons[0].detectable, abs=1e-6)


def timed(build, done_ms, *, start_s, wall_s, node=0, status=Status.OK, phase=Phase.MEASURE):
    rows = build.rows([1.0] * len(done_ms), due_ms=np.array(done_ms) - 1.0, status=status)
    samples = Samples(rows, round(1_700_000_000e9 + start_s * 1e9), round(wall_s * 1e9), 0, 1, 0)
    return TrialRecord(Trial(0, 1, node, phase), samples, None)


def timeline(build, *trials):
    run = build.run({})
    object.__setattr__(run, "trials", trials)
    return timeline_table(run)


class TestTimeline:
    def test_trials_share_one_axis_that_begins_with_the_first(self, build: Build) -> None:
        table = timeline(
            build,
            timed(build, [500.0, 1500.0], start_s=0.0, wall_s=2.0),
            timed(build, [500.0, 1500.0], start_s=2.5, wall_s=2.0, node=1),
        )
        assert table.second.tolist() == [0, 1, 2, 3, 4]
        assert table.node.tolist() == ["juno"] * 2 + ["pathfinder"] * 3
        assert table.requests.tolist() == [1, 1, 0, 1, 1]  # done at 3.0 and 4.0

    def test_a_stall_is_a_second_without_requests(self, build: Build) -> None:
        table = timeline(build, timed(build, [100.0, 3900.0], start_s=0.0, wall_s=4.0))
        assert table.requests.tolist() == [1, 0, 0, 1]
        assert table.rate.tolist() == [1, 0, 0, 1]
        assert table.p50_ms.isna().all()

    def test_the_rate_is_over_the_part_of_the_second_that_was_measured(self, build: Build) -> None:
        table = timeline(
            build,
            timed(build, [1.0], start_s=0.0, wall_s=0.25, phase=Phase.WARMUP),
            timed(build, np.arange(1, 101) * 5.0, start_s=0.5, wall_s=0.5),
        )
        assert table.phase.tolist() == ["warmup", "measure"]
        assert table.rate.tolist() == [4.0, 200.0]

    def test_failures_count_apart_from_the_rate_and_the_quantiles(self, build: Build) -> None:
        good = timed(build, np.arange(1, 11) * 10.0, start_s=0.0, wall_s=1.0)
        good.samples.rows["status"][:3] = Status.TIMEOUT
        good.samples.rows["due_ns"][:3] -= 1_000_000_000
        (line,) = timeline(build, good).to_dict("records")
        assert (line["requests"], line["failed"], line["rate"], line["p50_ms"]) == (10, 3, 7.0, 1.0)

    def test_rows_need_not_be_in_order_of_completion(self, build: Build) -> None:
        table = timeline(build, timed(build, [2500.0, 500.0, 1500.0, 600.0], start_s=0.0, wall_s=2.5))
        assert table.requests.tolist() == [2, 1, 1]

    def test_every_request_is_counted_once(self, build: Build) -> None:
        run = noisy_run(build)
        assert timeline_table(run).requests.sum() == sum(len(t.samples.rows) for t in run.trials)
