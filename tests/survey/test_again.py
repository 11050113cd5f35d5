"""What the survey after the run notices."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rpcbench.model.verdict import Notice, Weight
from rpcbench.survey.survey import Survey, ask, ask_again
from tests.survey.conftest import Start
from tests.survey.fake_node import FakeNode, Raw, geth, juno, pathfinder


def pair(start: Start) -> tuple[FakeNode, FakeNode, Survey]:
    one, other = start(juno()), start(pathfinder())
    return one, other, ask([one.node(), other.node()], None)


def brief(notices: tuple[Notice, ...]) -> list[tuple[str, Weight, str | None]]:
    return [(notice.kind, notice.weight, notice.node) for notice in notices]


def earlier(survey: Survey, seconds: float) -> Survey:
    """The same survey, made `seconds` ago."""
    facts = (replace(fact, asked_unix_ns=fact.asked_unix_ns - round(seconds * 1e9)) for fact in survey.facts)
    return replace(survey, facts=tuple(facts))


def test_nothing_to_notice_when_the_chain_simply_grew(start: Start) -> None:
    one, other, survey = pair(start)
    one.head, other.head = 131, 130
    facts, notices = ask_again(survey)
    assert [(fact.node, fact.head, fact.common_height) for fact in facts] == [
        ("juno", 131, 95),
        ("pathfinder", 130, 95),
    ]
    assert [fact.common_hash for fact in facts] == [fact.common_hash for fact in survey.facts]
    assert [fact.client_version for fact in facts] == ["Juno 0.16.1", "Pathfinder 0.23.0"]
    assert [fact.spec_version for fact in facts] == ["0.10.2", "0.10.2"]
    assert notices == ()


def test_the_second_survey_asks_at_the_measured_paths(start: Start) -> None:
    one, _, survey = pair(start)
    one.seen.clear()
    ask_again(survey)
    assert len(one.seen) == 6
    assert {seen.path for seen in one.seen} == {"/rpc/v0_10"}


def test_ethereum_nodes_are_asked_again_too(start: Start) -> None:
    node = start(geth())
    survey = ask([node.node()], None)
    node.head = 101
    facts, notices = ask_again(survey)
    assert (facts[0].head, notices) == (101, ())


def test_heads_that_moved_apart(start: Start) -> None:
    one, other, survey = pair(start)
    one.head, other.head = 120, 114
    _, notices = ask_again(survey)
    assert brief(notices) == [("heads_apart", Weight.VOID, "pathfinder")]
    assert "6 blocks behind juno" in notices[0].saw
    assert "114 against 120" in notices[0].saw
    assert ask_again(survey, max_lag=6)[1] == ()


def test_another_client_version(start: Start) -> None:
    one, _, survey = pair(start)
    one.answers["juno_version"] = "v0.16.2"
    _, notices = ask_again(survey)
    assert brief(notices) == [("node_changed", Weight.VOID, "juno")]
    assert "had client version Juno 0.16.1 before the run and has Juno 0.16.2 after it" in notices[0].saw


def test_another_spec_version_or_chain(start: Start) -> None:
    one, other, survey = pair(start)
    one.specs["/rpc/v0_10"] = "0.10.3"
    other.chain_id = "0x7"
    _, notices = ask_again(survey)
    assert brief(notices) == [("node_changed", Weight.VOID, "juno"), ("node_changed", Weight.VOID, "pathfinder")]
    assert "spec version 0.10.2 before the run and has 0.10.3" in notices[0].saw
    assert "chain id 0x534e5f4d41494e before the run and has 0x7" in notices[1].saw


def test_a_common_block_that_was_replaced(start: Start) -> None:
    one, _, survey = pair(start)
    one.fork = 1
    _, notices = ask_again(survey)
    assert brief(notices) == [("reorg", Weight.VOID, "juno")]
    assert "block 95 0xabc00000… is now 0xabc01000…" in notices[0].saw


def test_a_node_that_was_reset(start: Start) -> None:
    one, other, survey = pair(start)
    one.head = other.head = 3
    _, notices = ask_again(survey)
    assert brief(notices) == [
        ("reorg", Weight.VOID, "juno"),
        ("head_went_back", Weight.WARNING, "juno"),
        ("reorg", Weight.VOID, "pathfinder"),
        ("head_went_back", Weight.WARNING, "pathfinder"),
    ]
    assert "is gone" in notices[0].saw
    assert "went back from 100 to 3" in notices[1].saw


def test_a_head_that_went_back_a_little(start: Start) -> None:
    one, _, survey = pair(start)
    one.head = 99
    assert brief(ask_again(survey)[1]) == [("head_went_back", Weight.WARNING, "juno")]


def test_heads_that_stand_still(start: Start) -> None:
    one, _, survey = pair(start)
    assert ask_again(earlier(survey, 100))[1] == ()
    still = ask_again(earlier(survey, 190))[1]
    assert brief(still) == [("head_still", Weight.INFO, "juno"), ("head_still", Weight.INFO, "pathfinder")]
    assert "stayed at 100 for 3 min" in still[0].saw
    one.head = 104
    notices = ask_again(earlier(survey, 190))[1]
    assert brief(notices) == [("head_still", Weight.WARNING, "pathfinder")]
    assert "while others moved" in notices[0].saw


def test_a_node_that_is_gone_voids_the_run(start: Start) -> None:
    _, _, survey = pair(start)
    lost = replace(survey, nodes=(replace(survey.nodes[0], url="http://127.0.0.1:1/"), survey.nodes[1]))
    facts, notices = ask_again(lost)
    assert [fact.node for fact in facts] == ["pathfinder"]
    assert brief(notices) == [("gone", Weight.VOID, "juno")]
    assert notices[0].saw.startswith("after the run juno (127.0.0.1:1) refuses the connection")


@pytest.mark.parametrize("raw", [Raw(429), Raw(503), Raw(200, b"<html>"), Raw(404)])
def test_a_node_that_turns_us_away_afterwards_is_a_warning(start: Start, raw: Raw) -> None:
    one, _, survey = pair(start)
    one.raw = raw
    facts, notices = ask_again(survey)
    assert [fact.node for fact in facts] == ["pathfinder"]
    assert brief(notices) == [("gone", Weight.WARNING, "juno")]


def test_all_nodes_gone(start: Start) -> None:
    one, other, survey = pair(start)
    one.raw = other.raw = Raw(500)
    facts, notices = ask_again(survey)
    assert facts == ()
    assert [notice.kind for notice in notices] == ["gone", "gone"]
