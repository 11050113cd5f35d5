"""Thresholds as a user sets them: refused before any request, judged after the run, and told by the exit code."""

import json
import signal
import subprocess
import time

import pytest

from rpcbench.sim.node import EmbeddedNode, SimSpec
from tests.cli.conftest import RPCBENCH

EPOCH_S = int(time.time())
# Five hundred requests to each node: enough for p99.
SHORT = ("--rounds", "5", "-n", "100", "--warmup", "0", "-c", "2")
SCENARIO = """\
chain: starknet
calls:
  - method: starknet_blockHashAndNumber
    label: head
thresholds:
  - head.p50<10s
  - warn: p50<1us
"""


def spec(**kwargs):
    return SimSpec(personality="juno", epoch_unix_s=EPOCH_S, pace=0.0, **kwargs)


@pytest.fixture
def pair():
    """A node, and one that takes two milliseconds longer."""
    with EmbeddedNode(spec()) as a, EmbeddedNode(spec(delay_ms=2.0)) as b:
        yield a, b


def compared(rpcbench, pair, *thresholds, scenario="blockHashAndNumber", options=SHORT):
    """Compare the two, under these thresholds."""
    a, b = pair
    asked = [word for text in thresholds for word in ("--threshold", text)]
    return rpcbench("compare", f"a={a.url}", f"b={b.url}", "-s", scenario, *options, *asked)


def only_run(tmp_path):
    (directory,) = [d for d in (tmp_path / "results").iterdir() if d.is_dir()]
    return directory


def kept(tmp_path):
    """What the last run's line of the history says of each threshold and node."""
    text = (tmp_path / "results" / "history.jsonl").read_text().splitlines()[-1]
    line = json.loads(text, parse_constant=pytest.fail)  # NaN is no JSON
    return {(t["threshold"], t["node"]): t["outcome"] for t in line["thresholds"]}


def test_what_is_kept_only_warns_or_cannot_be_settled_exits_with_0_and_is_shown_everywhere(rpcbench, tmp_path, pair):
    relative = "p50(a)/p50(b)<=1"
    kept_ones = ("blockHashAndNumber.p99<10s", "rate(a)>=1", "mean(b)<1s", relative)
    done = compared(rpcbench, pair, *kept_ones, "warn: p50<1us", "errors<0.01%")
    assert done.code == 0, done.err
    outcomes = kept(tmp_path)
    assert [outcome for (text, _), outcome in outcomes.items() if text in kept_ones] == ["pass"] * 5
    assert outcomes["warn: p50<1us", "a"] == outcomes["warn: p50<1us", "b"] == "fail"
    assert outcomes["errors<0.01%", "a"] == outcomes["errors<0.01%", "b"] == "inconclusive"
    directory = only_run(tmp_path)
    for text in (done.out, (directory / "report.md").read_text(), (directory / "report.html").read_text()):
        assert "thresholds: 2 missed with a warning, 2 inconclusive, 5 passed" in text
        assert "none failed; it takes 36,887 requests without a failure to show this" in text


def test_what_is_missed_exits_with_3_and_so_does_its_report(rpcbench, tmp_path, pair):
    (tmp_path / "mine.yaml").write_text(SCENARIO)
    relative = "p50(b)/p50(a)<=1.05"
    done = compared(rpcbench, pair, "head.p50(b)<1ms", relative, "head.p50<10s", scenario="mine.yaml")
    assert done.code == 3, done.err
    manifest = json.loads((only_run(tmp_path) / "run.json").read_text())
    assert manifest["scenario"]["thresholds"] == ["head.p50<10s", "warn: p50<1us", "head.p50(b)<1ms", relative]
    assert "--threshold 'head.p50(b)<1ms'" in manifest["command"]
    outcomes = kept(tmp_path)
    assert (outcomes["head.p50(b)<1ms", "b"], outcomes[relative, "b/a"]) == ("fail", "fail")
    again = rpcbench("report", only_run(tmp_path))
    assert again.code == 3, again.err
    for result in (done, again):
        assert "thresholds: 2 failed, 2 missed with a warning, 2 passed" in result.out


def test_one_node_is_judged_alone_and_a_changed_record_is_refused_in_words(rpcbench, tmp_path, pair):
    done = rpcbench("run", f"b={pair[1].url}", "-s", "blockHashAndNumber", *SHORT, "--threshold", "p50<2ms")
    assert done.code == 3, done.err
    assert kept(tmp_path) == {("p50<2ms", "b"): "fail"}
    manifest = only_run(tmp_path) / "run.json"
    manifest.write_text(manifest.read_text().replace('"p50<2ms"', '"p50<2"'))
    rpcbench("report", manifest).refused(1, "run.json", "scenario.thresholds", "`2` (character 5) has no unit")


def test_an_invalid_measurement_outweighs_a_missed_threshold(rpcbench, tmp_path):
    with EmbeddedNode(spec()) as a, EmbeddedNode(spec()) as b:
        b.set(failures={"rpc_error": 1.0}, methods=["starknet_blockHashAndNumber"])
        done = compared(rpcbench, (a, b), "p50<1us", "p50(b)/p50(a)<=1")
    assert done.code == 4, done.err
    outcomes = kept(tmp_path)
    assert outcomes["p50<1us", "a"] == "fail"
    assert outcomes["p50<1us", "b"] == outcomes["p50(b)/p50(a)<=1", "b/a"] == "inconclusive"


def test_ctrl_c_outweighs_it_too(tmp_path, environment, pair):
    a, b = pair
    words = [RPCBENCH, "compare", f"a={a.url}", f"b={b.url}", "-s", "blockHashAndNumber", "--threshold", "p50<1us"]
    words += ["--rounds", "60", "-d", "200ms", "--warmup", "0", "-c", "2"]
    with subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        deadline = time.monotonic() + 30
        while len(list(tmp_path.glob("results/*/samples/*.npy"))) < 8 and time.monotonic() < deadline:
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=30)
    assert run.returncode == 130, err
    assert b"thresholds: 2 failed" in out


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("p99<200", ["-s", "mixed"], ["--threshold 'p99<200'", "`200` (character 5) has no unit", "200ms"]),
        ("getEvnts.p99<5ms", [], ["`getEvnts` (character 1) is no call of this scenario", "getEvents"]),
        ("p99(c)<5ms", [], ["`c` (character 5) is no node of this run", "write a or b"]),
    ],
)
def test_a_wrong_threshold_is_refused_before_any_request(rpcbench, listener, text, options, words):
    url, reached = listener
    rpcbench("compare", f"a={url}", f"b={url}", *options, "--threshold", text).refused(2, *words)
    assert reached == []


def test_a_wrong_one_in_a_file_is_refused_with_its_line(rpcbench, tmp_path, listener):
    url, reached = listener
    (tmp_path / "mine.yaml").write_text(SCENARIO + "  - p99(b)<1s\n")
    rpcbench("run", f"a={url}", "-s", "mine.yaml").refused(
        2, "mine.yaml:8: field `thresholds[2]`", "no node of this run"
    )
    assert reached == []


def test_a_call_of_the_other_chain_is_refused_once_the_chain_is_known(rpcbench, tmp_path, pair):
    a, b = pair
    asked = rpcbench("compare", f"a={a.url}", f"b={b.url}", "--threshold", "getLogs.p99<1s")
    asked.refused(2, "`getLogs` (character 1) is no call of this scenario")
    assert not (tmp_path / "results").exists()
    assert 0 < a.stats()["requests"] < 60
