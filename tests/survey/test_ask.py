"""What the survey finds out, at which path, and with how many questions."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from rpcbench.errors import NodesError
from rpcbench.model.node import Node
from rpcbench.model.scenario import Chain
from rpcbench.survey.survey import ask, judge, simulated
from tests.survey.conftest import Start
from tests.survey.fake_node import SN_MAIN, devnet, geth, juno, pathfinder


def test_facts_of_two_starknet_nodes(start: Start) -> None:
    one, other = start(juno(head=100)), start(pathfinder(head=98))
    survey = ask([one.node(), other.node()], None)
    judge(survey)
    assert survey.chain is Chain.STARKNET
    assert [node.url for node in survey.nodes] == [f"http://{n.place}/rpc/v0_10" for n in (one, other)]
    first, second = survey.facts
    assert (first.node, first.place) == ("juno", f"{one.place}/rpc/v0_10")
    assert (first.client_version, second.client_version) == ("Juno 0.16.1", "Pathfinder 0.23.0")
    assert (first.chain_id, first.spec_version, first.syncing) == (SN_MAIN, "0.10.2", False)
    assert (first.head, first.head_hash) == (100, one.hash_of(100))
    assert (second.head, second.head_hash) == (98, one.hash_of(98))
    assert first.common_height == second.common_height == 93
    assert first.common_hash == second.common_hash == one.hash_of(93)
    assert first.clock_skew_s == pytest.approx(1.5, abs=2)
    assert 0 < first.round_trip_ms < 1000
    assert abs(first.asked_unix_ns - time.time_ns()) < 10e9
    assert survey.problems == survey.notices == ()


def test_facts_of_two_ethereum_nodes(start: Start) -> None:
    one, other = start(geth(head=20)), start(geth(name="reth", head=21))
    survey = ask([one.node(), other.node()], None)
    judge(survey)
    assert survey.chain is Chain.ETHEREUM
    assert [node.url for node in survey.nodes] == [f"http://{n.place}" for n in (one, other)]
    assert [fact.client_version for fact in survey.facts] == ["Geth/v1.17.7-stable"] * 2
    assert [(f.chain_id, f.spec_version, f.head, f.common_height) for f in survey.facts] == [
        ("0x1", None, 20, 15),
        ("0x1", None, 21, 15),
    ]
    assert survey.facts[0].common_hash == one.hash_of(15)
    assert survey.notices == ()


def test_a_young_chain_is_compared_at_its_first_block(start: Start) -> None:
    survey = ask([start(geth(head=2)).node(), start(geth(name="b", head=4)).node()], Chain.ETHEREUM)
    assert [fact.common_height for fact in survey.facts] == [0, 0]


@pytest.mark.parametrize(
    ("fake", "chain", "questions"),
    [
        (juno, None, 6),
        (pathfinder, None, 7),
        (pathfinder, Chain.STARKNET, 7),
        (geth, Chain.ETHEREUM, 5),
        (geth, None, 6),
        (devnet, None, 13),
    ],
)
def test_questions_are_few(start: Start, fake: object, chain: Chain | None, questions: int) -> None:
    node = start(fake())  # type: ignore[operator]
    ask([node.node()], chain)
    assert len(node.seen) == questions, Counter(seen.method for seen in node.seen)


def test_the_highest_path_that_all_serve_is_taken(start: Start) -> None:
    new, old = start(juno()), start(pathfinder(specs={"/": "0.7.1", "/rpc/v0_8": "0.8.1", "/rpc/v0_7": "0.7.1"}))
    survey = ask([new.node(), old.node()], None)
    judge(survey)
    assert [node.url.rpartition("/")[2] for node in survey.nodes] == ["v0_8", "v0_8"]
    assert [fact.spec_version for fact in survey.facts] == ["0.8.1", "0.8.1"]


def test_without_a_common_path_the_specs_differ(start: Start) -> None:
    new = start(juno(specs={"/": "0.10.2", "/rpc/v0_10": "0.10.2"}))
    old = start(pathfinder(specs={"/": "0.8.1", "/rpc/v0_8": "0.8.1", "/rpc/v0_7": "0.7.1"}))
    survey = ask([new.node(), old.node()], None)
    assert [fact.spec_version for fact in survey.facts] == ["0.10.2", "0.8.1"]
    assert len(survey.problems) == 1
    assert f"pathfinder ({old.place}/rpc/v0_8) speaks spec 0.8.1 and juno" in survey.problems[0]
    with pytest.raises(NodesError, match=r"speaks spec 0\.8\.1"):
        judge(survey)


def test_a_path_in_the_url_is_kept_and_followed_by_the_others(start: Start) -> None:
    given, free = start(pathfinder()), start(juno())
    survey = ask([given.node(path="/rpc/v0_8"), free.node()], None)
    judge(survey)
    assert [node.url for node in survey.nodes] == [f"http://{n.place}/rpc/v0_8" for n in (given, free)]
    assert survey.facts[0].client_version == "Pathfinder 0.23.0"


def test_two_given_paths_of_different_spec_are_a_problem(start: Start) -> None:
    one, other = start(juno()), start(pathfinder())
    survey = ask([one.node(path="/rpc/v0_9"), other.node(path="/rpc/v0_8")], Chain.STARKNET)
    assert [node.url for node in survey.nodes] == [f"http://{one.place}/rpc/v0_9", f"http://{other.place}/rpc/v0_8"]
    assert len(survey.problems) == 1
    assert "speaks spec 0.8.1" in survey.problems[0]


def test_a_path_that_answers_with_another_version_is_not_that_version(start: Start) -> None:
    node = start(juno(specs={"/": "0.8.1", "/rpc/v0_10": "0.8.1", "/rpc/v0_9": "0.8.1", "/rpc/v0_8": "0.8.1"}))
    survey = ask([node.node()], None)
    assert survey.nodes[0].url.endswith("/rpc/v0_8")


def test_a_node_without_versioned_paths_is_asked_at_its_root(start: Start) -> None:
    node = start(devnet())
    survey = ask([node.node(), start(juno()).node()], None)
    assert survey.nodes[0].url == f"http://{node.place}"
    assert survey.nodes[1].url.endswith("/rpc/v0_10")
    assert [(notice.kind, notice.node) for notice in survey.notices] == [("unversioned_path", "devnet")]
    assert survey.facts[0].spec_version == "0.10.2"
    assert survey.facts[0].client_version is None


def test_the_query_of_the_url_goes_along_to_the_versioned_path(start: Start) -> None:
    node = start(juno())
    node.specs = {f"{path}?key=abcd1234": spec for path, spec in node.specs.items()}
    survey = ask([node.node(path="/?key=abcd1234")], None)
    assert survey.problems == ()
    assert survey.nodes[0].url.endswith("/rpc/v0_10?key=abcd1234")


def test_headers_of_the_node_are_sent_with_every_question(start: Start) -> None:
    node = start(juno())
    ask([node.node(headers=(("Authorization", "Bearer hush"), ("X-Team", "blue")))], None)
    assert all(seen.headers["authorization"] == "Bearer hush" for seen in node.seen)
    assert all(seen.headers["x-team"] == "blue" for seen in node.seen)
    assert all(seen.headers["accept-encoding"] == "identity" for seen in node.seen)
    assert all(seen.headers["content-type"] == "application/json" for seen in node.seen)


def test_user_and_password_of_the_url_are_sent(start: Start) -> None:
    node = start(geth())
    ask([Node("geth", f"http://ann:sesame@{node.place}")], None)
    assert all(seen.headers["authorization"] == "Basic YW5uOnNlc2FtZQ==" for seen in node.seen)


def test_proxy_settings_of_the_environment_are_not_used(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    assert ask([start(geth()).node()], None).problems == ()


def test_simulated_nodes_are_known_by_their_client_version(start: Start) -> None:
    real, embedded = start(juno()), start(juno(name="sim", answers={"juno_version": "v0.16.1-rpcbench-sim"}))
    assert not simulated(ask([real.node()], None).facts)
    assert simulated(ask([real.node(), embedded.node()], None).facts)


def test_a_client_version_is_one_short_printable_line(start: Start) -> None:
    node = start(geth(answers={"web3_clientVersion": "Evil\x1b[2J\n" + "x" * 500}))
    version = ask([node.node()], None).facts[0].client_version
    assert version is not None
    assert version.isprintable()
    assert version.startswith("Evil [2J xxx")
    assert len(version) == 100
