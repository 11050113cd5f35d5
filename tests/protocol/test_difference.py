"""Where two answers part, and what may differ all the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpcbench.protocol.difference import ABSENT, Difference, Items, difference, shown
from rpcbench.protocol.normalise import RpcError, normalise
from rpcbench.protocol.rules import Label, RuleBook, Rules, Tolerance, parse_pattern, written


def ignoring(*paths: str) -> Rules:
    return Rules(ignored=tuple(parse_pattern(path) for path in paths))


def within(path: str, relative: float = 0.0, absolute: float = 0.0) -> Rules:
    return Rules(tolerances=(Tolerance(parse_pattern(path), relative, absolute),))


def test_equal_values_have_no_difference() -> None:
    value = {"a": [1, 2.0, None, "x", {"b": True}]}
    assert difference(value, {"a": [1, 2, None, "x", {"b": True}]}) == []


@pytest.mark.parametrize(
    ("left", "right", "path"),
    [
        ({"transactions": [{"max_fee": "0x1"}]}, {"transactions": [{"max_fee": "0x2"}]}, "$.transactions[0].max_fee"),
        ([[1], [2]], [[1], [3]], "$[1][0]"),
        ({"a b": 1}, {"a b": 2}, '$["a b"]'),
        (1, 2, "$"),
    ],
)
def test_a_difference_is_named_by_its_path(left: Any, right: Any, path: str) -> None:
    assert [one.path for one in difference(left, right)] == [path]


@pytest.mark.parametrize(
    ("left", "right"),
    [(1, True), (0, False), (0, None), ("1", 1), ([], {}), ({}, None), (0.0, "0x0"), (1.0, 1.1), (RpcError(20), None)],
)
def test_values_of_other_types_differ(left: Any, right: Any) -> None:
    assert difference(left, right) == [Difference("$", left, right)]


def test_the_last_digits_of_floats_do_not_count() -> None:
    assert difference(0.005438938477508597, 0.0054389384775) == []
    assert len(difference(0.005438, 0.005439)) == 1


def test_a_member_that_is_not_there_is_absent() -> None:
    assert difference({"a": None}, {}) == [Difference("$.a", None, ABSENT)]
    assert difference({}, {"a": 0}) == [Difference("$.a", ABSENT, 0)]


def test_errors_are_compared_by_their_code() -> None:
    assert difference(RpcError(20), RpcError(20)) == []
    assert difference(RpcError(20), RpcError(24)) == [Difference("$", RpcError(20), RpcError(24))]


def test_a_missing_item_is_told_by_the_length_and_the_first_place() -> None:
    found = difference({"t": ["a", "b", "c", "d"]}, {"t": ["a", "c", "d"]})
    assert found == [Difference("$.t", Items(4), Items(3)), Difference("$.t[1]", "b", "c")]
    assert difference([1, 2], [1]) == [Difference("$", Items(2), Items(1)), Difference("$[1]", 2, ABSENT)]


def test_no_more_than_the_limit_is_told() -> None:
    left, right = list(range(100)), list(range(1, 101))
    assert len(difference(left, right)) == 20
    assert [one.path for one in difference(left, right, limit=2)] == ["$[0]", "$[1]"]


def test_an_ignored_path_takes_all_below_it_along() -> None:
    left, right = {"l1_gas_price": {"fri": 1, "wei": 2}, "n": 1}, {"l1_gas_price": {"fri": 3}, "n": 1}
    assert difference(left, right, ignoring("$.l1_gas_price")) == []
    assert difference(left, {"n": 1}, ignoring("$.l1_gas_price")) == []
    assert len(difference(left, right, ignoring("$.l1_gas_price.fri"))) == 1
    assert difference(1, 2, ignoring("$")) == []


@pytest.mark.parametrize("path", ["$.t[*].fee", "$.*[0].fee", "$.t[0].*", "$[*][*][*]", "$['t'][0][\"fee\"]"])
def test_wildcards_stand_for_any_member_and_item(path: str) -> None:
    assert difference({"t": [{"fee": 1}]}, {"t": [{"fee": 2}]}, ignoring(path)) == []


@pytest.mark.parametrize("path", ["$.t[*]", "$.t[1].fee", "$.t[*].tip", "$.t[*].fee.x", "$.*"])
def test_a_path_to_elsewhere_changes_nothing_here(path: str) -> None:
    ignored = difference({"t": [{"fee": 1}]}, {"t": [{"fee": 2}]}, ignoring(path))
    assert ignored == ([] if path in ("$.t[*]", "$.*") else [Difference("$.t[0].fee", 1, 2)])


def test_an_item_of_a_set_is_reached_by_the_path_that_is_shown() -> None:
    def nonces(value: str) -> Any:
        return normalise("starknet_getStateUpdate", {"nonces": [{"contract_address": "0x5", "nonce": value}]})

    (found,) = difference(nonces("0x1"), nonces("0x2"))
    assert found.path == "$.nonces[contract_address=0x5].nonce"
    assert difference(nonces("0x1"), nonces("0x2"), ignoring(found.path)) == []
    assert difference(nonces("0x1"), nonces("0x2"), ignoring("$.nonces[*].nonce")) == []


@pytest.mark.parametrize(
    ("left", "right", "relative", "absolute", "equal"),
    [
        (100, 110, 0.1, 0, True),
        (100, 112, 0.1, 0, False),
        (-100, -109, 0.1, 0, True),
        ("0x64", "0x6e", 0.1, 0, True),
        ("0x64", "0x7e", 0.1, 0, False),
        (5, 8, 0, 3, True),
        (5, 9, 0, 3, False),
        (0, 0.001, 0.1, 0, False),
        ("FRI", "WEI", 1.0, 9, False),
        (1, True, 1.0, 9, False),
        pytest.param("0x" + "f" * 65, "0x" + "e" * 65, 1.0, 0, False, id="bytes, not a number"),
        pytest.param(10**400, 10**400 + 1, 1.0, 9, False, id="too large to calculate with"),
        (float("inf"), 1, 1.0, 9, False),
    ],
)
def test_numbers_may_lie_as_far_apart_as_they_are_allowed(
    left: Any, right: Any, relative: float, absolute: float, equal: bool
) -> None:
    rules = within("$.fee", relative, absolute)
    assert (difference({"fee": left}, {"fee": right}, rules) == []) is equal
    assert len(difference({"other": left}, {"other": right}, rules)) == 1


def test_estimates_may_differ_by_themselves_and_a_rule_can_be_stricter() -> None:
    left, right = [{"overall_fee": "0x64", "unit": "FRI"}], [{"overall_fee": "0x69", "unit": "FRI"}]
    assert difference(left, right, RuleBook().rules_for("starknet_estimateFee")) == []
    assert len(difference(left, right, RuleBook().rules_for("starknet_call"))) == 1
    strict = RuleBook((("starknet_estimate*", within("$[*].overall_fee")),))
    assert len(difference(left, right, strict.rules_for("starknet_estimateFee"))) == 1


def test_rules_hold_for_the_methods_they_name() -> None:
    book = RuleBook((("starknet_trace*", ignoring("$.fee")), ("*", ignoring("$.status"))))
    assert difference({"fee": 1, "status": 1}, {}, book.rules_for("starknet_traceTransaction")) == []
    assert [one.path for one in difference({"fee": 1, "status": 1}, {}, book.rules_for("eth_call"))] == ["$.fee"]


@pytest.mark.parametrize("text", ["", "a", "$a", "$.", "$..a", "$[", "$[]", "$.a[", "$['a", "$.a b", '$["\\x"]'])
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write"):
        parse_pattern(text)


STEPS = (
    st.integers(0, 99) | st.text(max_size=6) | st.from_regex(r"[a-z]{1,5}=0x[0-9a-f]{1,4}", fullmatch=True).map(Label)
)


@given(st.lists(STEPS, max_size=5))
def test_every_path_that_is_shown_can_be_written_into_a_rule(path: list[int | str]) -> None:
    assert parse_pattern(written(path)).fits(path)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (ABSENT, "absent"),
        (Items(1), "1 item"),
        (Items(20), "20 items"),
        (RpcError(-32602), "error -32602"),
        ("0x1", '"0x1"'),
        (None, "null"),
        ({"a": [1, True]}, '{"a":[1,true]}'),
    ],
)
def test_values_are_shown_as_json(value: Any, text: str) -> None:
    assert shown(value) == text


def test_long_values_are_cut_and_sets_shown_as_lists() -> None:
    assert shown("x" * 100, limit=10) == '"xxxxxxxx…'
    keyed = normalise("starknet_getStateUpdate", {"nonces": [{"contract_address": "0x5", "nonce": "0x1"}]})
    assert shown(keyed) == '{"nonces":[{"contract_address":"0x5","nonce":"0x1"}]}'
