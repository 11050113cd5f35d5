"""Calls that write: refused until somebody says so, and then no secret is made of them."""

import time

import pytest

from rpcbench.sim.node import EmbeddedNode, SimSpec

SCENARIO = """\
chain: starknet
calls:
  - method: starknet_blockNumber
  - method: starknet_addInvokeTransaction
    params: {invoke_transaction: {}}
"""
QUICK = ("--rounds", "1", "-n", "20", "--warmup", "0", "-c", "1")


@pytest.mark.parametrize(("verb", "validation"), [("run", "--no-validate"), ("compare", "--validate")])
def test_they_are_refused_before_any_request(rpcbench, tmp_path, listener, verb, validation):
    url, reached = listener
    (tmp_path / "mine.yaml").write_text(SCENARIO)
    nodes = [f"a={url}", f"b={url}"][: 1 if verb == "run" else 2]
    refused = rpcbench(verb, *nodes, "-s", "mine.yaml", validation)
    refused.refused(2, "mine.yaml:4", "`starknet_addInvokeTransaction` can change the chain", "--allow-writes")
    assert reached == []


def test_a_name_that_looks_like_one_is_refused_without_validation(rpcbench, tmp_path, listener):
    url, reached = listener
    (tmp_path / "mine.yaml").write_text(
        SCENARIO.replace("starknet_addInvokeTransaction", "katana_setNextBlockTimestamp")
    )
    rpcbench("run", f"a={url}", "-s", "mine.yaml", "--no-validate").refused(2, "mine.yaml:4", "katana_setNext")
    assert reached == []


def test_they_are_sent_when_that_is_meant_and_told_beforehand(rpcbench, tmp_path):
    (tmp_path / "mine.yaml").write_text(SCENARIO)
    with EmbeddedNode(SimSpec(personality="juno", epoch_unix_s=int(time.time()), pace=0.0)) as node:
        done = rpcbench("run", f"a={node.url}", "-s", "mine.yaml", "--allow-writes", *QUICK)
        methods = node.stats()["by_method"]
    assert done.code in {0, 4}, done.err
    assert "warning: addInvokeTransaction can change the chain, the node or its accounts" in done.err
    assert methods["starknet_addInvokeTransaction"] > 3
    assert "--allow-writes" in next(tmp_path.glob("results/*/run.json")).read_text()


def test_validation_says_which_calls_need_the_flag(rpcbench, tmp_path):
    (tmp_path / "mine.yaml").write_text(SCENARIO)
    done = rpcbench("scenarios", "validate", "mine.yaml", "mixed")
    assert done.code == 0, done.err
    assert done.out.splitlines()[:3] == [
        "mine.yaml: valid, 2 calls on starknet",
        "  addInvokeTransaction (starknet_addInvokeTransaction) can change the chain, the node or its accounts: "
        "a run needs --allow-writes",
        "mixed: valid, 5 calls on starknet",
    ]


def test_showing_one_needs_no_flag(rpcbench, tmp_path):
    (tmp_path / "mine.yaml").write_text(SCENARIO)
    assert rpcbench("scenarios", "show", "mine.yaml").out == SCENARIO


def test_the_help_warns(rpcbench):
    words = " ".join(rpcbench("compare", "--help").out.replace("│", " ").split())
    assert "can change the chain, the node or its accounts" in words
    assert "may be thrown away" in words
