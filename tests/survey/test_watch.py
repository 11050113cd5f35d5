"""Heads while a run lasts: read at one moment, seldom enough, from real nodes, and judged when it is over."""

from __future__ import annotations

import json

import pytest

from rpcbench.model.facts import HeadReading, NodeFacts
from rpcbench.model.scenario import Chain
from rpcbench.model.verdict import Weight
from rpcbench.survey.survey import ask
from rpcbench.survey.watch import HeadWatch, judge_heads
from tests.survey.conftest import Start
from tests.survey.fake_node import FakeNode, Raw, Seen, geth, juno, pathfinder

BLOCK = "starknet_getBlockWithTxHashes"


def watch(*fakes: FakeNode, every_s: float = 0.0, chain: Chain = Chain.STARKNET) -> HeadWatch:
    return HeadWatch([fake.node() for fake in fakes], chain, every_s=every_s)


def test_heads_are_read_with_one_question_each(start: Start) -> None:
    one, other = start(juno(head=120)), start(pathfinder(head=118))
    with watch(one, other) as heads:
        first = heads.look()
        one.head = 121
        second = heads.look()
    assert first is not None
    assert second is not None
    assert (first.heads, first.away, first.apart) == ({"juno": 120, "pathfinder": 118}, (), 2)
    assert (second.heads["juno"], second.apart) == (121, 3)
    assert second.asked_unix_ns > first.asked_unix_ns
    assert [len(fake.seen) for fake in (one, other)] == [2, 2]


def test_ethereum_heads(start: Start) -> None:
    one, other = start(geth(name="a", head=7)), start(geth(name="b", head=7))
    with watch(one, other, chain=Chain.ETHEREUM) as heads:
        reading = heads.look()
    assert reading is not None
    assert reading.heads == {"a": 7, "b": 7}


def test_nobody_is_asked_more_often_than_agreed(start: Start) -> None:
    one, other = start(juno()), start(pathfinder())
    with watch(one, other, every_s=60) as heads:
        assert heads.look() is not None
        assert heads.look() is None
    assert len(one.seen) == 1


def test_a_node_alone_is_not_asked(start: Start) -> None:
    one = start(juno())
    with watch(one) as heads:
        assert heads.look() is None
    assert one.seen == []


def test_a_node_that_is_gone_is_away_and_soon_left_alone(start: Start) -> None:
    one, gone = start(juno()), pathfinder(port=9)
    with watch(one, gone) as heads:
        looks = [heads.look() for _ in range(4)]
    assert [look.away for look in looks if look] == [("pathfinder",)] * 3 + [()]
    assert all(look and look.heads == {"juno": 100} for look in looks)


def test_a_node_that_turns_us_away_is_there(start: Start) -> None:
    one, other = start(juno()), start(pathfinder(raw=Raw(429)))
    with watch(one, other) as heads:
        look = heads.look()
    assert look is not None
    assert (look.heads, look.away) == ({"juno": 100}, ())


def read(*pairs: tuple[int, int]) -> list[HeadReading]:
    return [HeadReading(i, {"juno": a, "pathfinder": b}) for i, (a, b) in enumerate(pairs)]


def test_heads_within_the_limit_say_nothing() -> None:
    assert judge_heads(read((100, 100), (105, 100), (106, 106)), (), max_lag=5) == []
    assert judge_heads([], (), max_lag=0) == []


def test_heads_apart_twice_void_the_run() -> None:
    (notice,) = judge_heads(read((100, 100), (107, 101), (109, 101)), (), max_lag=5)
    assert (notice.kind, notice.weight, notice.node, notice.call) == (
        "heads_apart_during",
        Weight.VOID,
        "pathfinder",
        None,
    )
    assert notice.saw == ("pathfinder was up to 8 blocks behind juno during the run, and more than 5 in 2 of 3 looks")


def test_heads_apart_once_are_a_warning() -> None:
    (notice,) = judge_heads(read((100, 100), (101, 107), (108, 108)), (), max_lag=5)
    assert (notice.weight, notice.node) == (Weight.WARNING, "juno")


def facts(fake: FakeNode) -> tuple[NodeFacts, ...]:
    return ask([fake.node()], None).facts


def test_a_node_that_was_away_and_came_back_voids_the_run(start: Start) -> None:
    one, away = start(juno()), pathfinder(port=9)
    with watch(one, away) as heads:
        looks = [look for look in (heads.look(),) if look]
    (notice,) = judge_heads([*read((100, 100)), *looks], facts(start(pathfinder())), max_lag=5)
    assert (notice.kind, notice.weight, notice.node) == ("away_during", Weight.VOID, "pathfinder")
    assert "in 1 of 2 looks" in notice.saw


def test_a_node_that_stays_away_is_told_by_others() -> None:
    assert judge_heads([HeadReading(0, {"juno": 1}, away=("pathfinder",))], (), max_lag=5) == []


@pytest.mark.parametrize("name", ["Age", "CF-Cache-Status", "X-Cache", "Via"])
def test_a_cache_in_between_is_noticed_by_the_survey(start: Start, name: str) -> None:
    def cached(seen: Seen) -> Raw | None:
        other.raw = None
        plain = other.reply(seen)
        other.raw = cached
        return Raw(plain.status, plain.body, ((name, "HIT 12"),))

    one, other = start(juno()), start(pathfinder())
    assert [n.kind for n in ask([one.node(), other.node()], None).notices] == []
    other.raw = cached
    (notice,) = ask([one.node(), other.node()], None).notices
    assert (notice.kind, notice.weight, notice.node) == ("cache_headers", Weight.WARNING, "pathfinder")
    assert f"come with {name.lower()}: HIT 12" in notice.saw


def test_a_header_that_echoes_a_key_is_not_shown(start: Start) -> None:
    other = juno()

    def cached(seen: Seen) -> Raw | None:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}).encode()
        return Raw(200, body, (("Via", "1.1 gateway s3cr3tk3y"),))

    other.raw = cached
    start(other)
    node = other.node(headers=(("X-Key", "s3cr3tk3y"),))
    with HeadWatch([node, node], Chain.STARKNET, every_s=0) as heads:
        heads.look()
        assert all(asker.cache_headers == {"via": "1.1 gateway …"} for asker in heads._askers)
