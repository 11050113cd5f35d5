"""Before the load all nodes are asked a sample of the calls: what it finds is kept, told, and can void a call."""

import csv
import json
import time
from contextlib import contextmanager

import pytest

from rpcbench.sim.node import EmbeddedNode, Faults, SimSpec

SHORT = ("-n", "150", "--rounds", "2", "--warmup", "0", "-c", "2")
BLOCKS = "starknet_getBlockWithTxs"


@contextmanager
def pair(faults):
    """A healthy juno, and a pathfinder on the same chain that has these faults."""
    epoch = int(time.time())
    with (
        EmbeddedNode(SimSpec("juno", epoch_unix_s=epoch, pace=0.0)) as juno,
        EmbeddedNode(SimSpec("pathfinder", epoch_unix_s=epoch, pace=0.0, faults=faults)) as pathfinder,
    ):
        yield f"juno={juno.url}", f"pathfinder={pathfinder.url}"


def kept(tmp_path):
    (directory,) = [d for d in (tmp_path / "results").iterdir() if d.is_dir()]
    lines = (directory / "findings.jsonl").read_text().splitlines()
    return directory, json.loads((directory / "run.json").read_text()), [json.loads(line) for line in lines]


def test_nodes_that_differ_only_in_how_they_write_agree(rpcbench, tmp_path):
    with pair(Faults()) as nodes:
        done = rpcbench("compare", *nodes, "-s", "mixed", *SHORT)
    assert done.code == 0, done.err
    _, manifest, findings = kept(tmp_path)
    assert {f["outcome"] for f in findings} <= {"equal", "inconclusive"}
    assert len(findings) == 24
    assert len({f["label"] for f in findings}) == 5
    equal = sum(f["outcome"] == "equal" for f in findings)
    assert equal >= 15
    assert f"{equal} of {equal} sampled replies agree" in " ".join(done.out.split())
    assert manifest["agreement"]["equal"] == equal
    assert not [n for n in manifest["notices"] if n["kind"] == "replies_differ"]


def test_one_field_is_found_with_its_path_and_told_again_by_report(rpcbench, tmp_path):
    with pair(Faults(failures={"altered": 1}, methods=(BLOCKS,))) as nodes:
        done = rpcbench("compare", *nodes, "-s", "getBlockWithTxs", *SHORT)
    assert done.code == 0, done.err
    directory, _, findings = kept(tmp_path)
    assert all(f["outcome"] == "different" for f in findings)
    assert all(f["deviations"][0]["path"] == "$.block_hash" for f in findings)
    assert all(line.startswith("curl ") for f in findings for line in f["curls"].values())
    told = " ".join(done.out.split())
    assert "pathfinder and juno answer 24 of 24 sampled getBlockWithTxs calls differently, at $.block_hash" in told
    assert "0 of 24 sampled replies agree" in told
    assert "Believable" not in told
    again = rpcbench("report", directory.relative_to(tmp_path))
    assert again.code == 0, again.err
    assert " ".join(again.out.split()) == told


def test_nodes_that_do_different_work_are_not_ranked(rpcbench, tmp_path):
    with pair(Faults(failures={"empty_result": 1}, methods=(BLOCKS,), delay_ms=2)) as nodes:
        done = rpcbench("compare", *nodes, "-s", "mixed", *SHORT)
    assert done.code == 4, done.err
    directory, manifest, _ = kept(tmp_path)
    (notice,) = [n for n in manifest["notices"] if n["kind"] == "replies_differ"]
    assert (notice["call"], notice["node"], notice["weight"]) == ("getBlockWithTxs", "pathfinder", "void")
    with (directory / "compare.csv").open() as file:
        verdicts = {(row["call"], row["verdict"] == "invalid") for row in csv.DictReader(file)}
    assert ("getBlockWithTxs", True) in verdicts
    assert ("getBlockWithTxs", False) not in verdicts
    assert ("getEvents", False) in verdicts


def test_a_node_alone_agrees_with_nobody(rpcbench, tmp_path):
    with EmbeddedNode(SimSpec("juno", pace=0.0)) as node:
        done = rpcbench("run", node.url, "-s", "getBlockWithTxs", *SHORT)
        assert node.stats()["requests"] < 2 * 150 + 30
    assert done.code == 0, done.err
    with pytest.raises(FileNotFoundError):
        kept(tmp_path)
    assert "sampled" not in done.out
