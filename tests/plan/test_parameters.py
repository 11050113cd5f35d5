"""The parameter language: what is drawn, within which bounds, how it is written, and how slips are told."""

import random
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpcbench.errors import SpecError
from rpcbench.model.scenario import Chain
from rpcbench.plan.parameters import TemplateError, compile_params, draw, is_constant

HEADS = st.integers(0, 10**9)
SEEDS = st.integers(0, 2**32)
BOUNDS = st.one_of(st.integers(0, 10**6), st.sampled_from(["head", "head-10", "head - 7"]))
RANGES = st.lists(BOUNDS, min_size=2, max_size=2).filter(
    lambda r: not (isinstance(r[0], int) and isinstance(r[1], int) and r[0] > r[1])
)
GENERATORS = st.one_of(
    RANGES.map(lambda r: {"uniform": r}),
    RANGES.map(lambda r: {"sequential": r}),
    RANGES.map(lambda r: {"zipf": {"range": r, "s": 1.3}}),
    st.integers(1, 10**6).map(lambda n: {"recent": n}),
    BOUNDS.map(lambda b: {"at": b}),
)


def drawn(params: Any, head: int = 1000, seed: int = 1, index: int = 0, chain: Chain = Chain.STARKNET) -> Any:
    return draw(compile_params(params, chain), random.Random(seed), head, index)


@given(GENERATORS, HEADS, SEEDS, st.integers(0, 10**6))
def test_every_height_is_on_the_chain(generator: Any, head: int, seed: int, index: int) -> None:
    assert 0 <= drawn(generator, head, seed, index) <= head


@given(st.integers(0, 1000), st.integers(0, 1000), SEEDS)
def test_uniform_keeps_its_bounds(low: int, width: int, seed: int) -> None:
    assert low <= drawn({"uniform": [low, low + width]}, 10_000, seed) <= low + width


@given(GENERATORS, HEADS, SEEDS)
def test_one_seed_gives_the_same_values_again(generator: Any, head: int, seed: int) -> None:
    params = [generator, {"choice": ["latest", {"recent": 9}]}]
    template = compile_params(params, Chain.STARKNET)
    first, second = random.Random(seed), random.Random(seed)
    assert [draw(template, first, head, i) for i in range(5)] == [draw(template, second, head, i) for i in range(5)]


def test_different_seeds_give_different_values() -> None:
    assert len({drawn({"uniform": [0, "head"]}, 10**9, seed) for seed in range(20)}) == 20


@given(HEADS, SEEDS)
def test_a_named_number_bounds_later_fields(head: int, seed: int) -> None:
    params = {"from": {"uniform": [0, 2000], "as": "a"}, "to": {"uniform": ["a", "head"]}, "end": {"at": "a+100"}}
    values = drawn(params, head, seed)
    assert values["from"] <= values["to"] <= head
    assert values["end"] == min(values["from"] + 100, head)


def test_short_chains_pull_bounds_in() -> None:
    assert drawn({"uniform": [100, 200]}, head=20) == 20
    assert drawn({"at": "head-50"}, head=20) == 0
    assert {drawn({"uniform": [0, 2000]}, head=1, seed=s) for s in range(30)} == {0, 1}
    assert drawn([{"recent": 3, "as": "a"}, {"uniform": ["head", "a"]}], head=0) == [0, 0]


def test_uniform_reaches_both_ends() -> None:
    assert {drawn({"uniform": [3, 5]}, seed=s) for s in range(60)} == {3, 4, 5}


def test_recent_covers_the_newest_blocks_and_no_other() -> None:
    assert {drawn({"recent": 3}, head=10, seed=s) for s in range(60)} == {8, 9, 10}


def test_zipf_prefers_new_blocks() -> None:
    heights = [drawn({"zipf": {"range": [0, "head"], "s": 1.1}}, seed=s) for s in range(300)]
    assert sum(h > 900 for h in heights) > 150
    assert min(heights) < 500


def test_sequential_walks_its_range_over_and_over() -> None:
    assert [drawn({"sequential": [5, 7]}, index=i) for i in range(5)] == [5, 6, 7, 5, 6]


def test_choice_gives_all_of_its_values_and_templates() -> None:
    got = [drawn({"choice": ["latest", {"block_number": {"at": "head"}}]}, seed=s) for s in range(30)]
    assert "latest" in got
    assert {"block_number": 1000} in got


def test_choice_follows_weights() -> None:
    values = [{"value": 10, "weight": 9}, {"value": 500, "weight": 1}]
    got = [drawn({"choice": values}, seed=s) for s in range(1000)]
    assert 850 < got.count(10) < 950
    assert set(got) == {10, 500}


def test_choice_is_not_pulled_onto_the_chain() -> None:
    assert drawn({"choice": [512]}, head=3) == 512


def test_a_chosen_number_can_be_named() -> None:
    assert drawn([{"choice": [7], "as": "a"}, {"at": "a+1"}]) == [7, 8]


@pytest.mark.parametrize(("height", "written"), [(0, "0x0"), (27, "0x1b"), (1000, "0x3e8")])
def test_ethereum_numbers_are_minimal_hex(height: int, written: str) -> None:
    assert drawn([{"at": height}, {"choice": [height]}], chain=Chain.ETHEREUM) == [written, written]
    assert drawn([{"at": height}]) == [height]


def test_literal_escapes_a_mapping() -> None:
    template = compile_params({"literal": {"uniform": [1, 2]}}, Chain.STARKNET)
    assert is_constant(template)
    assert draw(template, random.Random(1), 5, 0) == {"uniform": [1, 2]}
    assert drawn([{"literal": {"at": 3}}, {"at": 3}]) == [{"at": 3}, 3]


@pytest.mark.parametrize("params", [[], {}, ["0x1", {"a": [1, None, True, 1.5]}], {"as": "text"}])
def test_plain_values_are_constant(params: Any) -> None:
    template = compile_params(params, Chain.STARKNET)
    assert is_constant(template)
    assert draw(template, random.Random(1), 5, 0) == params


def test_parameters_with_a_generator_are_not_constant() -> None:
    assert not is_constant(compile_params({"a": [{"b": {"recent": 5}}]}, Chain.STARKNET))


def test_values_beside_a_generator_stay_as_they_are() -> None:
    assert drawn({"a": {"at": 5}, "b": [1, {"c": None}], "d": "x"}) == {"a": 5, "b": [1, {"c": None}], "d": "x"}


WRONG: list[tuple[Any, tuple[str | int, ...], str]] = [
    ({"a": {"uniform": [0, "head"], "b": 1}}, ("a",), "`b` cannot stand beside it"),
    ({"a": {"uniform": [0, 1], "recent": 5}}, ("a",), "`recent` cannot stand beside it"),
    ({"literal": {}, "as": "x"}, (), "`as` cannot stand beside it"),
    ([{"unifrom": [0, 1]}], (0,), "`unifrom` is no generator; did you mean `uniform`?"),
    ([{"block": [0, 1], "as": "x"}], (0,), "`block` is no generator; write one of uniform"),
    ([{"uniform": 5}], (0, "uniform"), "write [lowest, highest]"),
    ([{"uniform": [1, 2, 3]}], (0, "uniform"), "write [lowest, highest]"),
    ([{"uniform": [5, 1]}], (0, "uniform"), "begins at 5 and ends at 1"),
    ([{"uniform": [-1, 5]}], (0, "uniform", 0), "is -1; write a block number"),
    ([{"uniform": [True, 5]}], (0, "uniform", 0), "is True"),
    ([{"uniform": [0, "head*2"]}], (0, "uniform", 1), "`head-10`"),
    ([{"uniform": [0, "from"]}], (0, "uniform", 1), "nothing is named `from` yet"),
    ([{"at": "a"}, {"recent": 1, "as": "a"}], (0, "at"), "nothing is named `a` yet"),
    ([{"recent": 1, "as": "a"}, {"recent": 1, "as": "a"}], (1, "as"), "already names an earlier number"),
    ([{"recent": 1, "as": "head"}], (0, "as"), "always the newest block"),
    ([{"recent": 1, "as": True}], (0, "as"), "is no name"),
    ([{"recent": 0}], (0, "recent"), "is 0; write how many"),
    ([{"recent": -5}], (0, "recent"), "is -5; write how many"),
    ([{"zipf": [0, "head"]}], (0, "zipf"), "write {range: [0, head], s: 1.1}"),
    ([{"zipf": {"range": [0, 9], "s": 0}}], (0, "zipf", "s"), "above 0 and up to 10"),
    ([{"zipf": {"range": [0, 9], "s": float("nan")}}], (0, "zipf", "s"), "above 0 and up to 10"),
    ([{"choice": []}], (0, "choice"), "is not a list of values"),
    ([{"choice": [{"value": 1, "weight": 1}, 2]}], (0, "choice", 1), "has no weight"),
    ([{"choice": [{"value": 1, "weight": 0}]}], (0, "choice", 0, "weight"), "write a number above 0"),
    ([{"choice": ["a", {"at": "b"}]}], (0, "choice", 1, "at"), "nothing is named `b`"),
    ([{"choice": ["a"], "as": "x"}], (0, "as"), "only a number can be named"),
    ([{"choice": ["a", {"recent": 1, "as": "x"}]}, {"at": "x"}], (1, "at"), "nothing is named `x`"),
    ({"a": [date(2024, 1, 2)]}, ("a", 0), "JSON cannot express"),
    ({"a": float("inf")}, ("a",), "JSON cannot express"),
    ({"literal": [float("nan")]}, ("literal", 0), "JSON cannot express"),
    ({"a": {5: 1}}, ("a",), "put it in quotes"),
]


@pytest.mark.parametrize(("params", "path", "words"), WRONG)
def test_a_slip_is_told_with_its_place(params: Any, path: tuple[str | int, ...], words: str) -> None:
    with pytest.raises(TemplateError) as caught:
        compile_params(params, Chain.STARKNET)
    assert caught.value.path == path
    assert words in caught.value.message
    assert isinstance(caught.value, SpecError)


def test_the_error_alone_is_a_sentence_with_its_place() -> None:
    with pytest.raises(TemplateError, match=r"^params\.a\[1\]\.recent: is 0; write how many"):
        compile_params({"a": [1, {"recent": 0}]}, Chain.STARKNET)


@settings(max_examples=20)
@given(HEADS)
def test_draws_do_not_disturb_each_other(head: int) -> None:
    template = compile_params([{"uniform": [0, "head"], "as": "a"}, {"at": "a"}], Chain.STARKNET)
    rng = random.Random(head)
    assert all(a == b for a, b in (draw(template, rng, head, i) for i in range(10)))
