"""What a scenario file may not do without being asked twice, and the thresholds it may hold."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rpcbench.config.scenario_file import load_scenario
from rpcbench.errors import SpecError

WriteFile = Callable[[str, str], Path]

CALL = "chain: starknet\ncalls:\n  - method: starknet_blockNumber\n"
ADD = "  - method: starknet_addInvokeTransaction\n    params: {invoke_transaction: {}}\n"


def refusal(path: Path, **options: object) -> list[str]:
    with pytest.raises(SpecError) as caught:
        load_scenario(str(path), **options)
    return str(caught.value).splitlines()


def test_a_call_that_writes_is_refused_with_its_line_and_the_flag(write: WriteFile) -> None:
    assert refusal(write("x.yaml", CALL + ADD)) == [
        "x.yaml:4: field `calls[1].method`: `starknet_addInvokeTransaction` can change the chain, the node or its "
        "accounts; --allow-writes sends it all the same"
    ]


def test_it_is_let_through_when_that_is_meant(write: WriteFile) -> None:
    scenario = load_scenario(str(write("x.yaml", CALL + ADD)), allow_writes=True)
    assert [call.label for call in scenario.calls] == ["blockNumber", "addInvokeTransaction"]


@pytest.mark.parametrize("method", ["katana_setNextBlockTimestamp", "eth_sendBundle", "anvil_mine", "admin_addPeer"])
def test_nor_does_leaving_out_validation_let_it_through(write: WriteFile, method: str) -> None:
    path = write("x.yaml", f"chain: ethereum\ncalls:\n  - method: {method}\n")
    (sentence,) = refusal(path, validate=False)
    assert sentence.startswith(f"x.yaml:3: field `calls[0].method`: `{method}` can change")
    assert load_scenario(str(path), validate=False, allow_writes=True).calls[0].method == method


def test_an_unknown_method_that_reads_is_let_through_without_validation(write: WriteFile) -> None:
    path = write("x.yaml", "chain: ethereum\ncalls:\n  - method: erigon_getHeaderByNumber\n")
    assert load_scenario(str(path), validate=False).calls[0].label == "erigon_getHeaderByNumber"


def test_faults_of_a_call_that_writes_are_told_beside_it(write: WriteFile) -> None:
    sentences = refusal(write("x.yaml", CALL + "  - method: devnet_mint\n    params: {address: 5, amount: 1}\n"))
    assert [s.split(": ")[1] for s in sentences] == ["field `calls[1].method`", "field `calls[1].params.address`"]


def test_thresholds_are_read_with_the_calls_of_the_file(write: WriteFile) -> None:
    path = write("x.yaml", CALL + 'thresholds:\n  - "blockNumber.p99<1s"\n  - block.p99<1s\n  - p99<200\n')
    assert refusal(path) == [
        "x.yaml:6: field `thresholds[1]`: `block` (character 1) is no call of this scenario; did you mean blockNumber?",
        "x.yaml:7: field `thresholds[2]`: `200` (character 5) has no unit; write a time above zero with its unit, "
        "such as 200ms or 1.5s",
    ]


def test_thresholds_may_name_the_nodes_of_the_run_alone(write: WriteFile) -> None:
    path = write("x.yaml", CALL + "thresholds: [p99(b)/p99(a)<2]\n")
    assert load_scenario(str(path), nodes=["a", "b"]).thresholds == ("p99(b)/p99(a)<2",)
    assert load_scenario(str(path)).thresholds == ("p99(b)/p99(a)<2",)
    assert refusal(path, nodes=["a", "c"]) == [
        "x.yaml:4: field `thresholds[0]`: `b` (character 5) is no node of this run; write a or c"
    ]


def test_a_warning_needs_no_quotes(write: WriteFile) -> None:
    scenario = load_scenario(str(write("x.yaml", CALL + "thresholds:\n  - warn: p99<1s\n  - 'warn: errors<1%'\n")))
    assert scenario.thresholds == ("warn: p99<1s", "warn: errors<1%")


def test_another_mapping_is_no_threshold(write: WriteFile) -> None:
    (sentence,) = refusal(write("x.yaml", CALL + "thresholds:\n  - fail: p99<1s\n"))
    assert sentence.startswith("x.yaml:5: field `thresholds[0]`: is {'fail': 'p99<1s'}; write some text")
