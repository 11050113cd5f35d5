from dataclasses import replace

import numpy as np
import pytest

from rpcbench.analysis.advice import Route, routes
from rpcbench.analysis.analyse import analyse
from rpcbench.model.verdict import Notice, Weight
from tests.analysis.conftest import Build

TEN = np.linspace(9, 11, 10)
WOBBLE = 1 + np.array([-6, 5, -4, 3, -2, 2, -3, 4, -5, 6]) / 100


def best(build, **factors):
    return routes(analyse(build.paced({"juno": TEN} | {node: TEN * f for node, f in factors.items()})))


@pytest.mark.parametrize(
    ("factors", "node"),
    [
        ({"pathfinder": 2.0}, "juno"),
        ({"pathfinder": 0.5}, "pathfinder"),
        ({"pathfinder": 0.5, "madara": 0.4}, "madara"),
        ({"pathfinder": 2.0, "madara": 3.0}, "juno"),
        ({"pathfinder": 0.5, "madara": 2.0}, "pathfinder"),
    ],
)
def test_the_fastest_node_gets_the_call(build: Build, factors, node) -> None:
    assert best(build, **factors) == (Route("getBlock", node),)


@pytest.mark.parametrize(
    "factors",
    [
        {"pathfinder": 1.0},
        {"pathfinder": WOBBLE},
        {"pathfinder": 2.0, "madara": 1.0},
        {"pathfinder": 0.5, "madara": 0.5 * WOBBLE},
    ],
)
def test_no_advice_where_none_is_shown_to_be_the_fastest(build: Build, factors) -> None:
    assert best(build, **factors) == ()


def test_calls_may_go_to_different_nodes_in_the_scenarios_order(build: Build) -> None:
    slow, fast = np.full(9, 10.0), np.full(9, 5.0)
    rows = {
        "juno": np.concatenate([build.rows(slow), build.rows(fast, call=1)]),
        "pathfinder": np.concatenate([build.rows(fast), build.rows(slow, call=1)]),
    }
    run = build.run({(r, n): rows[n] for r in range(1, 11) for n in rows}, calls=("getEvents", "getBlock"))
    assert routes(analyse(run)) == (Route("getEvents", "pathfinder"), Route("getBlock", "juno"))


def test_an_invalid_run_gives_no_advice(build: Build) -> None:
    void = Notice("heads_apart", Weight.VOID, "the heads moved apart", "", "")
    analysis = analyse(build.paced({"juno": TEN, "pathfinder": TEN * 2}))
    assert routes(analysis) != ()
    assert routes(replace(analysis, notices=(void,))) == ()
