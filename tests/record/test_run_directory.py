"""Runs on disk: whole files, readable whatever happened, no secrets."""

import errno
import json
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from rpcbench.errors import ResultsError, UsageError
from rpcbench.model.facts import NodeFacts
from rpcbench.model.run import TrialRecord
from rpcbench.model.samples import SAMPLE, Samples, Status, count_failures
from rpcbench.model.scenario import Arrival, CallSpec, Chain, Closed, Open, Scenario
from rpcbench.model.verdict import Analysis, Notice, Weight
from rpcbench.model.workload import Call, Phase, Trial
from rpcbench.record import files
from rpcbench.record.history import add_to_history
from rpcbench.record.manifest import Host, Manifest, NodeEntry, RunStatus, Tool
from rpcbench.record.run_directory import RunDirectory, load_manifest, load_run, write_derived

FACTS = NodeFacts(
    "juno", "localhost:6060/rpc/v0_10", "0x1", "0.10.2", "juno/1", 100, "0xab", 95, "0xcd", False, 1.5, 0.4, 7
)
NOTICE = Notice("k", Weight.INFO, "saw", "why", "do")
CLOSED = Closed(4)
CALLS = [Call(0, 0, b'{"id":0}'), Call(1, 1, b'{"id":1}')]


def manifest(load=CLOSED):
    calls = (CallSpec("starknet_blockNumber", [], 1.0, "blockNumber"), CallSpec("starknet_chainId", [], 1.0, "chainId"))
    return Manifest(
        id="20260101T000000Z-t-abcd", status=RunStatus.RUNNING, started_utc="2026-01-01T00:00:00+00:00",
        command="rpcbench compare juno pathfinder", labels={"host": "x"}, noise=0.01, simulated=False,
        tool=Tool(version="0", engine="asyncio", python="3.11"), host=Host(system="Linux", cpus=2, memory_mb=None),
        scenario=Scenario("t", "about", Chain.STARKNET, calls, load, text="name: t\n"), head=95, fingerprint="f",
        nodes=[NodeEntry(name=n, place="p", header_names=[], tags=[]) for n in ("juno", "path/finder")],
        before=[FACTS], after=[], trials=[], notices=[],
    )  # fmt: skip


def samples(n=50, status=Status.OK):
    rows = np.zeros(n, dtype=SAMPLE)
    rows["done_ns"] = np.arange(n) * 1000 + 5
    rows["digest"] = np.iinfo(np.uint64).max
    rows["status"] = status
    return Samples(
        rows, started_unix_ns=1_700_000_000_123_456_789, wall_ns=1_234_567, cpu_ns=99, connects=4, reconnects=1
    )


def record(index=0, node=0, number=1, **kwargs):
    return TrialRecord(Trial(index, number, node, Phase.MEASURE), samples(**kwargs), planned=50)


@pytest.mark.parametrize("load", [Closed(3), Open(120.5, Arrival.CONSTANT, 77)])
def test_what_is_written_is_read_back(tmp_path, load):
    directory = RunDirectory.create(tmp_path, manifest(load), CALLS)
    directory.add_trial(record(0, 0))
    directory.add_trial(record(1, 1, n=20))
    directory.finish(
        RunStatus.DONE, "2026-01-01T00:01:00+00:00", [FACTS], [Notice("k", Weight.INFO, "saw", "why", "do")]
    )
    info, run, notices = load_run(directory.path)
    assert run.nodes == ("juno", "path/finder")
    assert run.scenario.load == load
    assert run.scenario.calls == manifest().scenario.calls
    assert run.call_spec.tolist() == [0, 1]
    assert [t.trial for t in run.trials] == [record(0, 0).trial, record(1, 1).trial]
    for got, wanted in zip(run.trials, (record(0, 0), record(1, 1, n=20)), strict=True):
        assert np.array_equal(got.samples.rows, wanted.samples.rows)
        assert (got.samples.wall_ns, got.samples.cpu_ns, got.planned) == (1_234_567, 99, 50)
        assert got.samples.started_unix_ns == 1_700_000_000_123_456_789
    assert (run.before, run.after, run.interrupted) == ((FACTS,), (FACTS,), False)
    assert notices == (NOTICE,)
    assert info.labels == {"host": "x"}
    assert (directory.path / "calls.jsonl").read_text() == '{"id":0}\n{"id":1}\n'
    assert (directory.path / "scenario.yaml").read_text() == "name: t\n"


def test_a_killed_run_keeps_its_finished_trials(tmp_path):
    directory = RunDirectory.create(tmp_path, manifest(), CALLS)
    directory.add_trial(record())
    (directory.path / "samples" / ".001-r01-x.npy.part").write_bytes(b"half a file")
    _, run, _ = load_run(directory.path)
    assert run.interrupted
    assert len(run.trials) == 1


def test_trials_say_what_went_wrong(tmp_path):
    directory = RunDirectory.create(tmp_path, manifest(), CALLS)
    rows = samples(10).rows
    rows["status"][:3], rows["code"][:3] = Status.RPC_ERROR, -32602
    rows["status"][3] = Status.TIMEOUT
    directory.add_trial(TrialRecord(Trial(0, 1, 0, Phase.MEASURE), Samples(rows, 0, 2_000_000_000, 10**9, 1, 0), None))
    trial = json.loads((directory.path / "run.json").read_text())["trials"][0]
    assert trial["errors"] == {"rpc_error[-32602]": 3, "timeout": 1}
    assert (trial["node"], trial["round"], trial["requests"]) == ("juno", 1, 10)
    assert (trial["wall_s"], trial["cpu_s"], trial["rate_per_s"]) == (2.0, 1.0, 5.0)


def test_answers_are_no_errors():
    assert count_failures(samples(5, Status.REVERTED).rows) == {}


def test_a_full_disk_costs_only_the_trial_that_was_being_written(tmp_path, monkeypatch):
    directory = RunDirectory.create(tmp_path, manifest(), CALLS)
    directory.add_trial(record(0))

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(ResultsError, match="disk is full"):
        directory.add_trial(record(1, 1))
    monkeypatch.undo()
    _, run, _ = load_run(directory.path)
    assert len(run.trials) == 1
    assert not list(directory.path.rglob("*.part"))


def test_a_directory_that_cannot_be_made_is_a_usage_error(tmp_path):
    (tmp_path / "results").write_text("a file is in the way")
    with pytest.raises(UsageError, match="not a directory"):
        RunDirectory.create(tmp_path / "results", manifest(), CALLS)


def make_newer(path):
    manifest_file = path / "run.json"
    manifest_file.write_text(manifest_file.read_text().replace('"version": 1', '"version": 9'))


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda p: (p / "run.json").unlink(), "no run.json"),
        (lambda p: (p / "run.json").write_text("{"), "run.json"),
        (make_newer, "another version"),
        (lambda p: next((p / "samples").iterdir()).write_bytes(b"\x93NUMPY"), "damaged"),
        (lambda p: np.save(next((p / "samples").iterdir()), samples(3).rows), "3 rows where run.json says 50"),
        (lambda p: np.save(next((p / "samples").iterdir()), np.zeros(3)), "another layout"),
    ],
)  # fmt: skip
def test_a_damaged_run_is_refused_in_words(tmp_path, damage, sentence):
    directory = RunDirectory.create(tmp_path, manifest(), CALLS)
    directory.add_trial(record())
    damage(directory.path)
    with pytest.raises(ResultsError, match=sentence):
        load_run(directory.path)


def test_ctrl_c_waits_for_the_write_to_finish(tmp_path):
    target = tmp_path / "file"

    def slow(file):
        file.write(b"first ")
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.05)  # the signal arrives here
        file.write(b"second")

    with pytest.raises(KeyboardInterrupt):
        files.write_whole(target, slow)
    assert target.read_bytes() == b"first second"


def test_a_failed_write_leaves_the_old_file(tmp_path):
    target = tmp_path / "file"
    target.write_bytes(b"old")

    def refuse(file):
        file.write(b"new")
        raise OSError(errno.EDQUOT, "quota")

    with pytest.raises(ResultsError, match="quota"):
        files.write_whole(target, refuse)
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_derived_files_go_where_they_say(tmp_path):
    write_derived(tmp_path, [("plots/a.png", lambda f: f.write(b"x")), ("report.md", lambda f: f.write(b"y"))])
    assert (tmp_path / "plots" / "a.png").read_bytes() == b"x"
    assert (tmp_path / "report.md").read_bytes() == b"y"


def test_history_only_grows_and_lines_do_not_mix(tmp_path):
    analysis = Analysis((), (), ())
    threads = [threading.Thread(target=add_to_history, args=(tmp_path, manifest(), analysis)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = (tmp_path / "history.jsonl").read_text().splitlines()
    assert len(lines) == 16
    assert {json.loads(line)["id"] for line in lines} == {manifest().id}


def test_the_manifest_on_disk_is_always_whole(tmp_path):
    directory = RunDirectory.create(tmp_path, manifest(), CALLS)
    seen: list[int] = []
    done = threading.Event()

    def watch():
        while not done.is_set():
            seen.append(len(load_manifest(Path(directory.path)).trials))

    watcher = threading.Thread(target=watch)
    watcher.start()
    for index in range(20):
        directory.add_trial(record(index, n=5))
    done.set()
    watcher.join()
    assert seen == sorted(seen)
    assert len(load_manifest(directory.path).trials) == 20
