"""Whole runs, from rows to everything that is said about them."""

import subprocess
import sys

import numpy as np

from rpcbench.analysis.analyse import analyse
from rpcbench.model.samples import Status
from rpcbench.model.verdict import Verdict, Weight
from tests.analysis.conftest import Build

ROUNDS = range(1, 11)


def test_the_article_that_compared_a_parse_error_with_a_cached_constant(build: Build) -> None:
    """Blocks are served by both; one node rejects the events request, the other gives all of them one reply."""
    blocks = build.rows(np.linspace(1, 3, 400))
    juno = np.concatenate([blocks, build.rows(np.linspace(0.1, 0.3, 400), call=1, digest=42)])
    refused = build.rows(np.linspace(0.1, 0.2, 400), call=1, digest=0, status=Status.RPC_ERROR, code=-32602)
    pathfinder = np.concatenate([build.rows(np.linspace(1, 3, 400) * 1.36), refused])
    run = build.run(
        {(r, n): rows for r in ROUNDS for n, rows in (("juno", juno), ("pathfinder", pathfinder))},
        calls=("getBlockWithTxs", "getEvents"),
    )
    analysis = analyse(run)

    assert [n.saw for n in analysis.notices if n.weight is Weight.VOID] == [
        "pathfinder answered 100 % of getEvents with rpc_error[-32602]",
        "juno gave one constant reply to 400 different getEvents requests",
    ]
    events = [c for c in analysis.comparisons if c.call == "getEvents"]
    assert {(c.verdict, c.ratio, c.difference_ms) for c in events} == {(Verdict.INVALID, None, None)}
    assert {c.reason for c in events} == {"pathfinder answered 100 % of getEvents with rpc_error[-32602]"}
    blocks_p50 = next(c for c in analysis.comparisons if c.call == "getBlockWithTxs")
    assert blocks_p50.verdict is Verdict.SLOWER
    assert round(blocks_p50.ratio.value, 3) == 1.36
    assert analysis.valid


def test_a_run_with_every_call_void_is_not_valid(build: Build) -> None:
    refused = build.rows([0.1] * 400, status=Status.RPC_ERROR)
    analysis = analyse(build.run({(r, n): refused for r in ROUNDS for n in ("juno", "pathfinder")}))
    assert not analysis.valid
    assert {n.kind for n in analysis.notices} == {"unanswered"}  # which says it all


def test_one_node_is_summarised_and_not_compared(build: Build) -> None:
    analysis = analyse(build.alike(nodes=("juno",)))
    assert len(analysis.summaries) == 1
    assert (analysis.comparisons, analysis.notices, analysis.valid) == ((), (), True)


def test_every_call_and_node_has_a_summary_in_the_scenarios_order(build: Build) -> None:
    rows = np.concatenate([build.rows([1.0] * 9), build.rows([1.0] * 9, call=1)])
    run = build.run({(1, n): rows for n in ("juno", "pathfinder")}, calls=("getEvents", "getBlock"))
    assert [(s.call, s.node) for s in analyse(run).summaries] == [
        ("getEvents", "juno"),
        ("getEvents", "pathfinder"),
        ("getBlock", "juno"),
        ("getBlock", "pathfinder"),
    ]


def test_the_room_is_entered_without_its_heavy_libraries() -> None:
    code = "import sys, rpcbench.analysis.analyse, rpcbench.analysis.tables, rpcbench.analysis.advice as a; "
    code += "print(sorted({m.split('.')[0] for m in sys.modules} & {'pandas', 'scipy', 'matplotlib'}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
