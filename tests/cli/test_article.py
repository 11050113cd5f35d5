"""The request that an article timed: refused, and where it is forced, told for what it is (see the scenario)."""

import csv
import time
from pathlib import Path

import pytest

from rpcbench.sim.node import EmbeddedNode, SimSpec

ARTICLE = Path(__file__).parents[1] / "scenarios" / "reddio-article.yaml"
SHORT = ("--rounds", "6", "-d", "200ms", "--warmup", "0", "-c", "2")


@pytest.fixture
def lenient_and_strict():
    epoch = int(time.time())
    with (
        EmbeddedNode(SimSpec("juno", epoch_unix_s=epoch, pace=0.0)) as juno,
        EmbeddedNode(SimSpec("pathfinder", epoch_unix_s=epoch, pace=0.0, delay_ms=2.0)) as pathfinder,
    ):
        yield juno, pathfinder


def asked(nodes):
    return [f"{name}={node.url}" for name, node in zip(("juno", "pathfinder"), nodes, strict=True)]


def test_it_is_refused_before_anybody_is_asked(rpcbench, tmp_path, lenient_and_strict):
    done = rpcbench("compare", *asked(lenient_and_strict), "-s", ARTICLE, *SHORT)
    done.refused(
        2,
        "reddio-article.yaml:16: field `calls[1].params[0].fromBlock`: unknown field `fromBlock`; "
        "did you mean `from_block`?",
        "unknown field `toBlock`; did you mean `to_block`?",
        "unknown field `page_size`; pages are asked for with `chunk_size` and `continuation_token`",
        "unknown field `page_number`; pages are asked for with `chunk_size` and `continuation_token`",
    )
    assert not (tmp_path / "results").exists()
    assert [node.stats()["requests"] for node in lenient_and_strict] == [0, 0]


def test_sent_all_the_same_it_has_no_winner_and_the_blocks_have_theirs(rpcbench, tmp_path, lenient_and_strict):
    done = rpcbench("compare", *asked(lenient_and_strict), "-s", ARTICLE, "--no-validate", *SHORT)
    assert done.code == 4, done.err
    told = " ".join(done.out.split())
    assert "INVALID getEvents is not compared between pathfinder and juno" in told
    assert "pathfinder answered 100 % of getEvents with rpc_error[-32602]" in told
    assert "juno gave one constant reply to" in told
    assert "pathfinder takes" in told
    assert "as long as juno for getBlockWithTxs at the median" in told
    (directory,) = [d for d in (tmp_path / "results").iterdir() if d.is_dir()]
    with (directory / "compare.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "p50"]
    assert {row["call"]: row["verdict"] for row in rows} == {"getBlockWithTxs": "slower", "getEvents": "invalid"}
