"""The main job, as a user runs it, against embedded nodes in processes of their own."""

import csv
import json
import signal
import subprocess
import time

import numpy as np
import pandas as pd
import pytest

from rpcbench.sim.node import EmbeddedNode, Faults, SimSpec
from tests.cli.conftest import RPCBENCH

EPOCH_S = int(time.time())
SHORT = ("--rounds", "6", "-d", "300ms", "--warmup", "100ms", "-c", "2")


def spec(personality="juno", **kwargs):
    return SimSpec(personality=personality, epoch_unix_s=EPOCH_S, pace=kwargs.pop("pace", 0.0), **kwargs)


@pytest.fixture
def pair():
    with EmbeddedNode(spec("juno")) as a, EmbeddedNode(spec("pathfinder")) as b:
        yield a, b


def only_run(tmp_path, output="results"):
    (directory,) = [d for d in (tmp_path / output).iterdir() if d.is_dir()]
    return directory, json.loads((directory / "run.json").read_text())


def verdicts(directory, metric="p50"):
    with (directory / "compare.csv").open() as file:
        return {row["call"]: row for row in csv.DictReader(file) if row["metric"] == metric}


def test_a_slower_node_is_called_slower_by_what_it_is_slower(rpcbench, tmp_path):
    with EmbeddedNode(spec()) as a, EmbeddedNode(spec(delay_ms=2.0)) as b:
        done = rpcbench("compare", f"a={a.url}", f"b={b.url}", "-s", "blockHashAndNumber", *SHORT)
        assert done.code == 0, done.err
        directory, _ = only_run(tmp_path)
        row = verdicts(directory)["blockHashAndNumber"]
        assert row["verdict"] == "slower"
        assert float(row["difference_ms"]) == pytest.approx(2.0, abs=0.3)
        assert "b takes" in done.out


def test_what_was_sent_is_what_is_recorded_and_what_arrived(rpcbench, tmp_path, pair):
    a, b = pair
    done = rpcbench("compare", f"a={a.url}", f"b={b.url}", "-s", "mixed", *SHORT)
    assert done.code in {0, 4}, done.err
    directory, manifest = only_run(tmp_path)
    requests = pd.read_csv(directory / "requests.csv")
    for name, node in (("a", a), ("b", b)):
        recorded = int((requests.node == name).sum())
        assert recorded == sum(t["requests"] for t in manifest["trials"] if t["node"] == name)
        quiet = node.stats()["requests"] - recorded
        assert 0 < quiet < 60, node.stats()


def test_three_lines_of_pandas_equal_the_report(rpcbench, tmp_path, pair):
    a, b = pair
    rpcbench("compare", f"a={a.url}", f"b={b.url}", "-s", "mixed", *SHORT)
    directory, _ = only_run(tmp_path)
    df = pd.read_csv(directory / "requests.csv")
    ok = df[(df.phase == "measure") & df.status.isin(["ok", "reverted"])]
    quantiles = ok.groupby(["node", "call"]).latency_ms.quantile([0.5, 0.9])
    summary = pd.read_csv(directory / "summary.csv").set_index(["node", "call"])
    assert len(summary) == 10
    for (node, call), row in summary.iterrows():
        assert row.latency_p50_ms == pytest.approx(quantiles[node, call, 0.5], abs=1e-5)
        assert row.latency_p90_ms == pytest.approx(quantiles[node, call, 0.9], abs=1e-5)


def test_an_open_loop_sends_exactly_what_was_planned(rpcbench, tmp_path, pair):
    a, b = pair
    options = ("-r", "200", "-d", "500ms", "--rounds", "2", "--warmup", "0")
    done = rpcbench("compare", f"a={a.url}", f"b={b.url}", "-s", "blockHashAndNumber", *options)
    assert done.code == 0, done.err
    _, manifest = only_run(tmp_path)
    assert [(t["requests"], t["planned"]) for t in manifest["trials"]] == [(100, 100)] * 4


def test_one_seed_one_plan_on_the_wire(rpcbench, tmp_path, pair):
    a, b = pair
    a.set(freeze_head=True)  # blocks are drawn below the common head, so that must stay where it is
    for output in ("one", "two"):
        rpcbench("compare", f"a={a.url}", f"b={b.url}", "-n", "50", "--rounds", "1", "--warmup", "0", "-o", output)
    first, second = (only_run(tmp_path, output)[0] / "calls.jsonl" for output in ("one", "two"))
    assert first.read_bytes() == second.read_bytes()


def test_a_dry_run_shows_the_plan_and_sends_no_load(rpcbench, tmp_path, pair):
    a, b = pair
    done = rpcbench("compare", f"a={a.url}", f"b={b.url}", "-r", "1000", "-d", "10s", "--dry-run")
    assert done.code == 0, done.err
    assert "about 200,000 requests" in " ".join(done.out.split())
    assert "seed 1" in done.out
    assert not (tmp_path / "results").exists()
    assert a.stats()["requests"] < 60


def test_a_node_that_dies_in_the_middle_is_told_and_costs_nothing(rpcbench, tmp_path):
    with EmbeddedNode(spec()) as a, EmbeddedNode(spec(faults=Faults(stop_after=400))) as b:
        done = rpcbench("compare", f"a={a.url}", f"b={b.url}", "-s", "blockHashAndNumber", *SHORT, "--timeout", "1s")
    assert done.code == 4, done.err
    assert "INVALID" in done.out
    directory, manifest = only_run(tmp_path)
    assert manifest["status"] == "done"
    assert len(manifest["trials"]) == 14
    assert verdicts(directory)["blockHashAndNumber"]["verdict"] == "invalid"


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        ({"chain_id": "0x534e5f4d41494e"}, ["chain"]),
        ({"lag_blocks": 50}, ["behind"]),
        ({"other_genesis": True}, ["hash"]),
        ({"required_header": ["X-Key", "right"]}, ["401"]),
        ({"failures": {"html": 1}}, ["HTML"]),
        ({"failures": {"empty": 1}}, ["empty"]),
        ({"failures": {"http_429": 1}}, ["429"]),
    ],
    ids=lambda v: " ".join(map(str, v)),
)
def test_nodes_that_cannot_be_compared_are_refused_before_the_load(rpcbench, tmp_path, pair, faults, words):
    a, b = pair
    b.set(**faults)
    done = rpcbench("compare", f"a={a.url}", f"b={b.url}", *SHORT)
    done.refused(4, "b", *words)
    assert not (tmp_path / "results").exists()
    checked = rpcbench("check", f"a={a.url}", f"b={b.url}")
    checked.refused(4, "b", *words)


def test_nodes_without_a_common_spec_are_refused(rpcbench, pair):
    a, b = pair
    a.set(spec_versions=["0.10"])
    b.set(spec_versions=["0.8"])
    rpcbench("compare", f"a={a.url}", f"b={b.url}").refused(4, "spec", "0.10", "0.8")


def test_an_unreachable_node_is_named(rpcbench, pair):
    a, _ = pair
    rpcbench("compare", f"a={a.url}", "b=http://127.0.0.1:9").refused(4, "b", "127.0.0.1:9")


def test_check_prints_what_nodes_say(rpcbench, pair):
    a, b = pair
    done = rpcbench("check", f"juno={a.url}", f"pathfinder={b.url}")
    assert done.code == 0, done.err
    for word in ("juno", "pathfinder", "0.10.2", "rpcbench-sim"):
        assert word in done.out


def test_simulated_nodes_are_called_simulated_everywhere(rpcbench, tmp_path, pair):
    a, b = pair
    done = rpcbench("compare", f"a={a.url}", f"b={b.url}", "-n", "30", "--rounds", "1", "--warmup", "0")
    directory, manifest = only_run(tmp_path)
    assert manifest["simulated"] is True
    for text in (done.out, (directory / "report.md").read_text(), (directory / "report.html").read_text()):
        assert "simulated" in text.lower()
    for table in ("requests", "summary", "compare", "timeline"):
        assert pd.read_csv(directory / f"{table}.csv").simulated.all()


def test_ctrl_c_keeps_what_is_finished(tmp_path, environment, pair, rpcbench):
    a, b = pair
    words = [RPCBENCH, "compare", f"a={a.url}", f"b={b.url}", "--rounds", "40", "-d", "300ms", "-c", "1"]
    with subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        wait_for_trials(tmp_path, 4)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=30)
    assert run.returncode == 130, err
    assert b"Traceback" not in err
    assert b"interrupted" in out.lower() + err.lower()
    directory, manifest = only_run(tmp_path)
    assert manifest["status"] == "interrupted"
    assert len(manifest["trials"]) >= 4
    again = rpcbench("report", directory)
    assert again.code in {0, 4}, again.err
    assert "interrupted" in again.out


def test_kill_9_costs_only_the_unfinished_trial(tmp_path, environment, pair, rpcbench):
    a, b = pair
    words = [RPCBENCH, "compare", f"a={a.url}", f"b={b.url}", "--rounds", "40", "-d", "300ms", "-c", "1"]
    run = subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    wait_for_trials(tmp_path, 4)
    run.kill()
    run.wait()
    directory, manifest = only_run(tmp_path)
    kept = len(manifest["trials"])
    assert kept >= 4
    again = rpcbench("report", directory)
    assert again.code in {0, 4}, again.err
    requests = pd.read_csv(directory / "requests.csv")
    assert len(requests) == sum(t["requests"] for t in manifest["trials"])
    time.sleep(0.5)
    arrived = a.stats()["requests"]
    time.sleep(0.5)
    assert a.stats()["requests"] == arrived, "the worker went on sending after its parent was killed"


def test_an_unwritable_results_directory_is_refused_before_the_load(rpcbench, tmp_path, pair):
    a, b = pair
    (tmp_path / "results").write_text("a file is in the way")
    rpcbench("compare", f"a={a.url}", f"b={b.url}", *SHORT).refused(2, "results")
    assert a.stats()["requests"] < 60


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MB, mounted at `small` for the test."""
    disk = tmp_path / "small"
    disk.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if subprocess.run(mounting, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root may mount the small file system that this test fills")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_ends_the_run_in_words_and_keeps_the_trials(rpcbench, pair, small_disk):
    a, b = pair
    options = ("-s", "blockHashAndNumber", "-n", "3000", "--rounds", "10", "--warmup", "0", "-o", small_disk)
    done = rpcbench("compare", f"a={a.url}", f"b={b.url}", *options)
    done.refused(1, "cannot write", "disk is full")
    (directory,) = small_disk.glob("2*")
    kept = json.loads((directory / "run.json").read_text())["trials"]
    assert 1 <= len(kept) < 20
    assert not list(directory.rglob("*.part"))
    for trial in kept:
        assert len(np.load(directory / trial["file"])) == 3000


def test_no_secret_is_ever_shown_or_kept(rpcbench, tmp_path, environment, pair):
    a, b = pair
    secret = "s3cr3tk3y"
    (tmp_path / "nodes.yaml").write_text(
        f"a:\n  url: {a.url}/?key=${{RPC_KEY}}\n  headers: {{X-Key: '${{RPC_KEY}}'}}\n"
        f"b: {b.url.replace('http://', 'http://user:${RPC_KEY}@')}\n"
    )
    options = ("-n", "40", "--rounds", "2", "--warmup", "0", "-H", f"Authorization: Bearer {secret}")
    done = rpcbench("compare", "a", "b", *options, RPC_KEY=secret)
    checked = rpcbench("check", "a", "b", RPC_KEY=secret)
    named = rpcbench("nodes", RPC_KEY=secret)
    directory, _ = only_run(tmp_path)
    assert done.code in {0, 4}, done.err
    for result in (done, checked, named):
        assert secret not in result.out + result.err
    for file in directory.parent.rglob("*"):
        assert file.is_dir() or secret.encode() not in file.read_bytes(), file


def wait_for_trials(tmp_path, count, limit_s=30):
    """Until the run directory names that many finished trials."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        for file in tmp_path.glob("results/*/run.json"):
            if len(json.loads(file.read_text())["trials"]) >= count:
                return
        time.sleep(0.05)
    raise AssertionError(f"no {count} trials within {limit_s} s")
