"""A run that must not be believed says so everywhere, and names no winner anywhere."""

import csv
import json
import re
import time

import pytest

from rpcbench.sim.node import EmbeddedNode, SimSpec

SHORT = ("-n", "60", "--rounds", "6", "--warmup", "0", "-c", "2")
# Every phrase by which a report prefers one node.
WINNER = re.compile(r"times as (long|fast|many)|\b(faster|slower)\b|\bby call, send\b")


@pytest.fixture
def pair():
    """A node that answers at once, and one so much slower that there would be a winner."""
    epoch = int(time.time())
    with (
        EmbeddedNode(SimSpec("juno", epoch_unix_s=epoch, pace=0.0)) as a,
        EmbeddedNode(SimSpec("pathfinder", epoch_unix_s=epoch, pace=0.0, delay_ms=4.0)) as b,
    ):
        yield a, b


def compared(rpcbench, tmp_path, pair, scenario="mixed"):
    """What was said on the terminal, in each file, and the rows of compare.csv."""
    a, b = pair
    done = rpcbench("compare", f"juno={a.url}", f"pathfinder={b.url}", "-s", scenario, *SHORT)
    (directory,) = [d for d in (tmp_path / "results").iterdir() if d.is_dir()]
    with (directory / "compare.csv").open() as file:
        rows = list(csv.DictReader(file))
    texts = {name: (directory / name).read_text() for name in ("report.html", "report.md")}
    return done, directory, rows, {"terminal": done.out, **texts}


def plain(text):
    """The words of a report, without markup, pictures and styles."""
    return " ".join(re.sub(r"<style.*?</style>|<[^>]+>|\*\*", " ", text, flags=re.S).split())


def test_the_same_nodes_without_a_fault_have_a_winner(rpcbench, tmp_path, pair):
    """Else the other tests would find none for want of one."""
    done, directory, rows, texts = compared(rpcbench, tmp_path, pair, "blockHashAndNumber")
    assert done.code == 0, done.err
    assert {row["verdict"] for row in rows if row["metric"] == "p50"} == {"slower"}
    for name, text in texts.items():
        assert WINNER.search(plain(text)), name
        assert "INVALID" not in text, name
    assert (directory / "plots" / "round-ratios.png").exists()


def test_an_invalid_run_names_no_winner_anywhere(rpcbench, tmp_path, pair):
    pair[0].set(failures={"http_429": 0.1}, methods=["starknet_blockHashAndNumber"])
    done, directory, rows, texts = compared(rpcbench, tmp_path, pair, "blockHashAndNumber")
    assert done.code == 4, done.err
    assert rows
    assert {row["verdict"] for row in rows} == {"invalid"}
    assert all(not row[name] for row in rows for name in row if name.startswith(("ratio", "difference")))
    assert all("rate_limited[429]" in row["reason"] for row in rows)
    for name, text in texts.items():
        words = plain(text)
        assert "INVALID" in words, name
        assert "this run names no winner" in words, name
        assert "juno refused" in words, name
        assert not WINNER.search(words), (name, WINNER.search(words))
        assert words.index("INVALID") < words.index(" p50 "), f"{name}: figures before the warning"
    assert not (directory / "plots" / "round-ratios.png").exists()
    (line,) = (tmp_path / "results" / "history.jsonl").read_text().splitlines()
    assert not json.loads(line)["valid"]
    assert {(c["verdict"], c["ratio"]) for c in json.loads(line)["compare"]} == {("invalid", None)}
    again = rpcbench("report", directory)
    assert again.code == 4
    assert "this run names no winner" in again.out


def test_one_invalid_call_leaves_the_others_their_answer(rpcbench, tmp_path, pair):
    pair[1].set(failures={"rpc_error": 1}, methods=["starknet_getEvents"])
    done, _, rows, texts = compared(rpcbench, tmp_path, pair)
    assert done.code == 4, done.err
    of_events = {row["verdict"] for row in rows if row["call"] == "getEvents"}
    assert of_events == {"invalid"}
    assert "invalid" not in {row["verdict"] for row in rows if row["call"] != "getEvents"}
    for name, text in texts.items():
        words = plain(text)
        assert "INVALID" in words, name
        assert "getEvents is not compared between pathfinder and juno" in words, name
        assert not re.search(r"times as \w+ as \w+ for getEvents|answers getEvents", words), name
        assert "100 % of getEvents with rpc" in words.replace("\\", ""), name
