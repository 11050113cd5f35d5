"""Rules files: what they mean, and every mistake with its file, line and field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rpcbench.config.rules_file import load_rules
from rpcbench.errors import SpecError
from rpcbench.protocol.difference import difference
from rpcbench.protocol.rules import RuleBook


def load(tmp_path: Path, text: str) -> RuleBook:
    path = tmp_path / "rules.yaml"
    path.write_text(text)
    return load_rules(path)


def agree(book: RuleBook, method: str, left: Any, right: Any) -> bool:
    return difference(left, right, book.rules_for(method)) == []


def test_one_path_or_a_list_of_them(tmp_path: Path) -> None:
    book = load(
        tmp_path,
        """\
starknet_getBlockWithTxs:
  ignore: $.l1_gas_price
starknet_trace*:
  ignore:
    - $.fee
    - $.calls[*].gas
""",
    )
    assert agree(book, "starknet_getBlockWithTxs", {"l1_gas_price": 1}, {})
    assert not agree(book, "starknet_getBlockWithTxHashes", {"l1_gas_price": 1}, {})
    assert agree(book, "starknet_traceTransaction", {"fee": 1, "calls": [{"gas": 1}]}, {"calls": [{"gas": 2}]})
    assert not agree(book, "starknet_traceTransaction", {"calls": [{"gas": 1, "to": 1}]}, {"calls": [{"gas": 2}]})


def test_tolerances_relative_and_absolute(tmp_path: Path) -> None:
    book = load(
        tmp_path,
        """\
eth_feeHistory:
  tolerance:
    - {path: "$.ratio[*]", relative: 0.1}
    - path: $.fee
      absolute: 5
"*":
  tolerance: {path: $.overall_fee, relative: 0.5, absolute: 1}
""",
    )
    assert agree(book, "eth_feeHistory", {"ratio": [10.0], "fee": "0x1"}, {"ratio": [11.0], "fee": "0x6"})
    assert not agree(book, "eth_feeHistory", {"ratio": [10.0]}, {"ratio": [12.0]})
    assert not agree(book, "eth_feeHistory", {"fee": "0x1"}, {"fee": "0x7"})
    assert agree(book, "starknet_call", {"overall_fee": 2}, {"overall_fee": 4})


def test_a_rule_can_be_stricter_than_what_always_holds(tmp_path: Path) -> None:
    assert agree(RuleBook(), "eth_estimateGas", "0x3e8", "0x3e9")
    book = load(tmp_path, "eth_estimateGas:\n  tolerance: {path: $, relative: 0}\n")
    assert not agree(book, "eth_estimateGas", "0x3e8", "0x3e9")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("starknet_getBlokWithTxs:\n  ignore: $.x\n", ["rules.yaml:1:", "did you mean `starknet_getBlockWithTxs`?"]),
        ("zzz*:\n  ignore: $.x\n", ["rules.yaml:1:", "fits no method"]),
        ("eth_call:\n  ignore: x\n", ["rules.yaml:2: field `eth_call.ignore`", "does not begin with $"]),
        ("eth_call:\n  ignore:\n    - $.x\n    - $.y[\n", ["rules.yaml:4: field `eth_call.ignore[1]`", "`[`"]),
        ("eth_call:\n  ignore: 2024-01-01\n", ["rules.yaml:2:", "is no path"]),
        ("eth_call:\n  ignor: $.x\n", ["rules.yaml:2:", "did you mean `ignore`?"]),
        ("eth_call:\n", ["rules.yaml:1:", "no mapping"]),
        ("eth_call: {}\n", ["rules.yaml:1:", "says nothing"]),
        ("eth_call:\n  tolerance: 0.1\n", ["rules.yaml:2: field `eth_call.tolerance`", "no mapping"]),
        ("eth_call:\n  tolerance: {path: $.x}\n", ["rules.yaml:2:", "relative: 0.1"]),
        ("eth_call:\n  tolerance: {relative: 0.1}\n", ["field `eth_call.tolerance.path`", "missing"]),
        ("eth_call:\n  tolerance:\n    path: $.x\n    relative: -1\n", ["rules.yaml:4:", "number from 0 on"]),
        ("eth_call:\n  tolerance:\n    path: $.x\n    relative: .inf\n", ["rules.yaml:4:", "number from 0 on"]),
        ("eth_call:\n  tolerance:\n    path: $.x\n    absolute: true\n", ["rules.yaml:4:", "number from 0 on"]),
        ("eth_call:\n  tolerance:\n    path: $.x\n    absolute: '5'\n", ["rules.yaml:4:", "number from 0 on"]),
        ("eth_call:\n  tolerance: {path: $.x, relativ: 0.1}\n", ["did you mean `relative`?"]),
        ("eth_call:\n  ignore: $.x\neth_call:\n  ignore: $.y\n", ["rules.yaml:3:", "already on line 1"]),
        ("- $.x\n", ["rules.yaml:1:", "no mapping"]),
        ("", ["rules.yaml:1:", "empty"]),
    ],
)
def test_mistakes_are_told_with_line_and_field(tmp_path: Path, text: str, words: list[str]) -> None:
    with pytest.raises(SpecError) as raised:
        load(tmp_path, text)
    for word in words:
        assert word in str(raised.value)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as raised:
        load(tmp_path, "eth_cal:\n  ignore: x\n  tolerance: {path: y, relative: no}\n")
    assert [line.split(": ")[0].rpartition(":")[2] for line in str(raised.value).splitlines()] == ["1", "2", "3"]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"nothing\.yaml"):
        load_rules(tmp_path / "nothing.yaml")
