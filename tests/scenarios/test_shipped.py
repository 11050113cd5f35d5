"""Every scenario that ships with rpcbench, against the catalogue, on chains of any height."""

import random
from pathlib import Path

import pytest

from rpcbench.config.scenario_file import load_scenario, scenario_directory, shipped_scenarios
from rpcbench.model.scenario import Chain
from rpcbench.plan.parameters import compile_params, draw
from rpcbench.protocol.catalogue import check_call, writes

NAMES = shipped_scenarios()
DRAWS = 1000


def test_the_promised_scenarios_are_there() -> None:
    promised = {"getBlockWithTxs", "getEvents", "blockHashAndNumber", "mixed", "reddio-2023", "eth-blocks", "eth-mixed"}
    assert set(NAMES) == promised
    assert {path.name for path in scenario_directory().glob("*.y*ml")} == {f"{name}.yaml" for name in promised}


@pytest.mark.parametrize("name", NAMES)
def test_it_loads_and_says_what_it_is_for(name: str) -> None:
    scenario = load_scenario(name)
    assert scenario.name == name
    assert scenario.about.endswith(".")
    assert scenario.chain is (Chain.ETHEREUM if name.startswith("eth-") else Chain.STARKNET)


@pytest.mark.parametrize("head", [0, 3, 20, 1_000_000])
@pytest.mark.parametrize("name", NAMES)
def test_everything_it_draws_fits_the_catalogue(name: str, head: int) -> None:
    scenario, rng = load_scenario(name), random.Random(head)
    templates = [compile_params(call.params, scenario.chain) for call in scenario.calls]
    for index in range(DRAWS):
        for call, template in zip(scenario.calls, templates, strict=True):
            params = draw(template, rng, head, index)
            assert check_call(scenario.chain, call.method, params) == [], params


@pytest.mark.parametrize("name", NAMES)
def test_it_only_reads(name: str) -> None:
    assert not [call.method for call in load_scenario(name).calls if writes(call.method)]


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("eth-")])
def test_starknet_parameters_are_named(name: str) -> None:
    """Some nodes refuse the positional form of methods with optional parameters."""
    assert all(isinstance(call.params, dict) or call.params == [] for call in load_scenario(name).calls)


def test_the_article_s_mix_is_drawn_as_it_was_meant() -> None:
    head, rng = 450_000, random.Random(1)
    blocks, events = load_scenario("reddio-2023").calls
    assert blocks.weight == events.weight
    heights = [
        _block(draw(compile_params(blocks.params, Chain.STARKNET), rng, head, i)["block_id"]) for i in range(2000)
    ]
    assert min(heights) < 5_000
    assert max(heights) > 445_000
    for index in range(2000):
        event_filter = draw(compile_params(events.params, Chain.STARKNET), rng, head, index)["filter"]
        low, high = _block(event_filter["from_block"]), _block(event_filter["to_block"])
        assert 0 <= low <= 2000
        assert low <= high <= head
        assert event_filter["chunk_size"] == 10


def test_logs_and_events_are_asked_for_in_windows_that_end_on_the_chain() -> None:
    (logs,) = [call for call in load_scenario("eth-mixed").calls if call.method == "eth_getLogs"]
    template, rng = compile_params(logs.params, Chain.ETHEREUM), random.Random(2)
    for index in range(500):
        (window,) = draw(template, rng, 1000, index)
        low, high = int(window["fromBlock"], 16), int(window["toBlock"], 16)
        assert high == min(low + 99, 1000)


def test_in_a_wheel_the_scenarios_are_inside_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "rpcbench"
    (package / "scenarios").mkdir(parents=True)
    monkeypatch.setattr("rpcbench.config.scenario_file.__file__", str(package / "config" / "scenario_file.py"))
    assert scenario_directory() == package / "scenarios"
    (package / "scenarios").rmdir()
    assert scenario_directory() == tmp_path / "scenarios"


def _block(block_id: dict[str, int]) -> int:
    return block_id["block_number"]
