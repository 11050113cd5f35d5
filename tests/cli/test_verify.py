"""`rpcbench verify` as a user runs it, against nodes on real sockets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.survey.fake_node import FakeNode, Seen, juno, pathfinder

SCENARIO = """\
name: mine
chain: starknet
calls:
  - method: starknet_getBlockWithTxs
    weight: 100000
    params: {block_id: {block_number: {uniform: [0, head]}}}
  - method: starknet_getNonce
    params: {block_id: latest, contract_address: "0x1"}
  - method: starknet_blockNumber
"""
ODD_BLOCK = 17

Change = Callable[[dict[str, Any]], dict[str, Any]]
Start = Callable[..., str]


def block(number: int) -> dict[str, Any]:
    return {"block_number": number, "transactions": [{"nonce": hex(i)} for i in range(3)]}


def as_it_is(found: dict[str, Any]) -> dict[str, Any]:
    return found


def odd(found: dict[str, Any]) -> dict[str, Any]:
    """Wrong in one field of one block."""
    if found["block_number"] == ODD_BLOCK:
        found["transactions"][2]["nonce"] = "0xbad"
    return found


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a node whose blocks `change` may alter; returns `name=url`. A scenario lies in the working directory."""
    (tmp_path / "mine.yaml").write_text(SCENARIO)
    servers = []

    def run(fake: FakeNode, change: Change = as_it_is, path: str = "") -> str:
        of_the_survey = fake.answer

        def answer(seen: Seen, params: Any) -> Any:
            if seen.method == "starknet_getBlockWithTxs":
                return change(block(params["block_id"]["block_number"]))
            return "0x5" if seen.method == "starknet_getNonce" else of_the_survey(seen, params)

        fake.answer = answer  # type: ignore[method-assign]
        servers.append(fake.start())
        return f"{fake.name}=http://127.0.0.1:{fake.port}{path}"

    yield run
    for server in servers:
        server.shutdown()
        server.server_close()


def test_nodes_that_agree(rpcbench: Any, start: Start) -> None:
    done = rpcbench("verify", start(juno()), start(pathfinder()), "-s", "mine.yaml", "-n", "30", "--fail-on-diff")
    assert (done.code, done.err) == (0, "")
    assert "30 distinct calls to 2 nodes, at blocks up to 95" in done.out
    assert "the nodes agree: 29 of 29 compared answers are equal" in done.out
    assert "inconclusive blockNumber × 1: about the node itself" in done.out
    assert "DIFFERENT" not in done.out


def test_a_difference_is_shown_with_path_values_and_commands(rpcbench: Any, start: Start) -> None:
    nodes = [start(juno()), start(pathfinder(), odd)]
    done = rpcbench("verify", *nodes, "-s", "mine.yaml", "-n", "200")
    assert done.code == 0
    lines = [line.split() for line in done.out.splitlines()]
    assert ["DIFFERENT", "getBlockWithTxs", '{"block_id":{"block_number":17}}'] in lines
    assert ["$.transactions[2].nonce"] in lines
    assert ["juno", '"0x2"'] in lines
    assert ["pathfinder", '"0xbad"'] in lines
    commands = [line for line in done.out.splitlines() if line.strip().startswith("curl ")]
    assert [command.split("'")[-2].count('"block_number":17') for command in commands] == [1, 1]
    assert rpcbench("verify", *nodes, "-s", "mine.yaml", "-n", "200", "--fail-on-diff").code == 3


def test_of_many_differences_the_first_are_shown_and_the_others_counted(rpcbench: Any, start: Start) -> None:
    nodes = [start(juno()), start(pathfinder(), lambda found: {**found, "status": "REJECTED"})]
    done = rpcbench("verify", *nodes, "-s", "mine.yaml", "-n", "12")
    assert "10 of 11 compared answers differ" in done.out
    assert done.out.count("DIFFERENT") == 2
    assert "and 8 more that differ: --json has them all" in done.out


def test_a_rule_makes_it_count_no_more(rpcbench: Any, start: Start, tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text("starknet_getBlock*:\n  ignore: $.transactions[*].nonce\n")
    nodes = [start(juno()), start(pathfinder(), odd)]
    done = rpcbench("verify", *nodes, "-s", "mine.yaml", "-n", "200", "--fail-on-diff", "--rules", "rules.yaml")
    assert done.code == 0
    assert "the nodes agree" in done.out


def test_the_set_up_of_a_node_is_not_a_difference(rpcbench: Any, start: Start) -> None:
    without = pathfinder(answers={"starknet_getNonce": {"error": {"code": -32601, "message": "Method not found"}}})
    done = rpcbench("verify", start(juno()), start(without), "-s", "mine.yaml", "-n", "10", "--fail-on-diff")
    assert done.code == 0
    told = " ".join(done.out.split())
    assert "environment getNonce × 1: method not served (pathfinder: error -32601 Method not found)" in told


def test_everything_as_json(rpcbench: Any, start: Start) -> None:
    nodes = [start(juno()), start(pathfinder(), odd), start(juno(name="third"))]
    done = rpcbench("verify", *nodes, "-s", "mine.yaml", "-n", "200", "--json", "--fail-on-diff")
    assert done.code == 3
    told = json.loads(done.out)
    assert (told["chain"], told["head"], [node["name"] for node in told["nodes"]]) == (
        "starknet", 95, ["juno", "pathfinder", "third"],
    )  # fmt: skip
    assert told["counts"] == {"equal": 96, "different": 1, "environment": 0, "inconclusive": 1}
    assert len(told["findings"]) == 98
    (different,) = [finding for finding in told["findings"] if finding["outcome"] == "different"]
    assert different["label"] == "getBlockWithTxs"
    assert different["majority"] == ["juno", "third"]
    assert different["deviations"] == [
        {
            "path": "$.transactions[2].nonce",
            "base": "juno",
            "other": "pathfinder",
            "base_value": '"0x2"',
            "other_value": '"0xbad"',
        }
    ]
    assert set(different["curls"]) == {"juno", "pathfinder", "third"}


def test_a_seed_chooses_the_calls(rpcbench: Any, start: Start) -> None:
    nodes = [start(juno()), start(pathfinder())]

    def chosen(*options: str) -> list[str]:
        done = rpcbench("verify", *nodes, "-s", "mine.yaml", "-n", "8", "--json", *options)
        return [finding["params"] for finding in json.loads(done.out)["findings"]]

    first = chosen("--seed", "5")
    assert len(first) == 8
    assert chosen("--seed", "5") == first != chosen("--seed", "6")


def test_secrets_are_not_told(rpcbench: Any, start: Start) -> None:
    echo: Change = lambda found: {**found, "echo": "s3cretKey"}  # noqa: E731
    path = "/s3cretKey/rpc/v0_10"
    specs = {path: "0.10.2"}
    nodes = [start(juno(specs=specs), echo, path), start(pathfinder(specs=specs), path=path)]
    for options in ([], ["--json"]):
        done = rpcbench("verify", *nodes, "-s", "mine.yaml", "-n", "6", "-H", "X-Key: t0kenvalue", *options)
        assert "DIFFERENT" in done.out or '"different": 4' in done.out
        for secret in ("s3cretKey", "t0kenvalue"):
            assert secret not in done.out + done.err
        assert "$JUNO_KEY" in done.out
        assert "$JUNO_X_KEY" in done.out


def test_a_sample_in_which_nothing_could_be_compared_is_no_success(rpcbench: Any, start: Start, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("chain: starknet\ncalls:\n  - method: starknet_blockNumber\n")
    done = rpcbench("verify", start(juno()), start(pathfinder()), "-s", "./mine.yaml")
    assert done.code == 4
    assert "nothing could be compared" in done.out


def test_nodes_of_two_chains_are_not_compared(rpcbench: Any, start: Start) -> None:
    nodes = [start(juno()), start(pathfinder(chain_id="0x534e5f5345504f4c4941"))]
    rpcbench("verify", *nodes, "-s", "mine.yaml").refused(4, "is on chain SN_SEPOLIA")


def test_nodes_that_are_too_far_apart_are_not_compared(rpcbench: Any, start: Start) -> None:
    nodes = [start(juno(head=100)), start(pathfinder(head=90))]
    rpcbench("verify", *nodes, "-s", "mine.yaml").refused(4, "10 blocks behind", "--max-lag 10")
    assert rpcbench("verify", *nodes, "-s", "mine.yaml", "-n", "5", "--max-lag", "10").code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["juno"], ["two nodes"]),
        (["a=http://127.0.0.1:1", "b=http://127.0.0.1:2", "--rules", "missing.yaml"], ["missing.yaml"]),
        (["a=http://127.0.0.1:1", "b=http://127.0.0.1:2", "--rules", "bad.yaml"], ["bad.yaml:2", "begin with $"]),
        (["a=http://127.0.0.1:1", "b=http://127.0.0.1:2", "--seed", "-1"], ["--seed"]),
        (["a=http://127.0.0.1:1", "b=http://127.0.0.1:2", "-s", "nosuch"], ["nosuch"]),
    ],
)
def test_wrong_usage_is_refused_before_any_request(
    rpcbench: Any, tmp_path: Path, words: list[str], told: list[str]
) -> None:
    (tmp_path / "bad.yaml").write_text("eth_call:\n  ignore: x\n")
    rpcbench("verify", *words).refused(2, *told)
