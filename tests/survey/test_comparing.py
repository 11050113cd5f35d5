"""Why nodes cannot be compared, and what is doubtful when they can."""

from __future__ import annotations

import pytest

from rpcbench.errors import NodesError
from rpcbench.model.scenario import Chain
from rpcbench.model.verdict import Weight
from rpcbench.survey.survey import Survey, ask, judge
from tests.survey.conftest import Start
from tests.survey.fake_node import MISSING, SN_SEPOLIA, devnet, geth, juno, pathfinder


def kinds(survey: Survey) -> list[tuple[str, str | None]]:
    return [(notice.kind, notice.node) for notice in survey.notices]


def test_lag_within_the_limit_is_accepted(start: Start) -> None:
    judge(ask([start(juno(head=100)).node(), start(pathfinder(head=95)).node()], None))


def test_lag_beyond_the_limit_names_who_is_behind_and_by_how_much(start: Start) -> None:
    one, other = start(juno(head=2000)), start(pathfinder(head=1994))
    survey = ask([one.node(), other.node()], None)
    assert survey.problems == (
        f"pathfinder ({other.place}/rpc/v0_10) is 6 blocks behind juno ({one.place}/rpc/v0_10), 1,994 against 2,000, "
        "and 5 are allowed: let it catch up, or allow more (--max-lag 6).",
    )
    with pytest.raises(NodesError, match="6 blocks behind"):
        judge(survey)
    judge(ask([one.node(), other.node()], None, max_lag=6))


def test_the_first_node_can_be_the_one_behind(start: Start) -> None:
    survey = ask([start(geth(head=1)).node(), start(geth(name="reth", head=2)).node()], None, max_lag=0)
    assert len(survey.problems) == 1
    assert survey.problems[0].startswith("geth (")
    assert "is 1 block behind reth" in survey.problems[0]


def test_another_chain_id_is_told_once_and_by_name(start: Start) -> None:
    one, other = start(juno()), start(pathfinder(chain_id=SN_SEPOLIA, head=5, fork=1))
    survey = ask([one.node(), other.node()], None)
    assert len(survey.problems) == 1
    assert "is on chain SN_SEPOLIA (0x534e5f5345504f4c4941) and juno" in survey.problems[0]


def test_ethereum_chains_are_told_apart(start: Start) -> None:
    survey = ask([start(geth()).node(), start(geth(name="b", chain_id="0xaa36a7")).node()], Chain.ETHEREUM)
    assert len(survey.problems) == 1
    assert "Sepolia (0xaa36a7)" in survey.problems[0]
    assert "mainnet (0x1)" in survey.problems[0]


def test_leading_zeros_make_no_other_chain_or_block(start: Start) -> None:
    other = start(pathfinder(chain_id="0x0534e5f4d41494e"))
    other.hash_of = lambda number: "0x000" + hex(0xABC0000000 + number)[2:].upper()  # type: ignore[method-assign]
    judge(ask([start(juno()).node(), other.node()], None))


@pytest.mark.parametrize("make", [juno, geth])
def test_another_history_below_the_heads_is_no_common_chain(start: Start, make: object) -> None:
    one, other = start(make(name="a")), start(make(name="b", fork=1))  # type: ignore[operator]
    survey = ask([one.node(), other.node()], None)
    assert len(survey.problems) == 1
    assert survey.problems[0].startswith("b (")
    assert "is not on the same chain as a" in survey.problems[0]
    assert "block 95 has hash 0xabc01000… on the one and 0xabc00000… on the other" in survey.problems[0]


def test_lag_means_nothing_where_the_histories_differ(start: Start) -> None:
    survey = ask([start(geth(head=900)).node(), start(geth(name="b", head=20, fork=1)).node()], None)
    assert len(survey.problems) == 1
    assert "is not on the same chain" in survey.problems[0]


def test_different_genesis_blocks_are_found(start: Start) -> None:
    survey = ask([start(geth(head=0)).node(), start(geth(name="b", head=0, fork=3)).node()], None)
    assert len(survey.problems) == 1
    assert "a different genesis" in survey.problems[0]


def test_mixed_chains_are_a_problem(start: Start) -> None:
    one, other = start(juno()), start(geth())
    survey = ask([one.node(), other.node()], None)
    assert survey.chain is Chain.STARKNET
    assert survey.problems == (
        f"geth ({other.place}) speaks Ethereum and juno ({one.place}) Starknet: name nodes of one chain.",
    )
    assert [fact.node for fact in survey.facts] == ["juno"]


def test_a_node_of_the_chain_that_was_not_asked_for_is_a_problem(start: Start) -> None:
    survey = ask([start(juno()).node()], Chain.ETHEREUM)
    assert len(survey.problems) == 1
    assert "speaks Starknet, but the scenario is for Ethereum" in survey.problems[0]
    assert survey.facts == ()


def test_patch_versions_of_the_spec_may_differ(start: Start) -> None:
    other = start(pathfinder(specs={"/": "0.10.1", "/rpc/v0_10": "0.10.1"}))
    survey = ask([start(juno()).node(), other.node()], None)
    judge(survey)
    assert kinds(survey) == [("spec_patch", "pathfinder")]
    assert survey.notices[0].weight is Weight.INFO
    assert "speaks spec 0.10.1 and juno" in survey.notices[0].saw


@pytest.mark.parametrize(
    ("answer", "syncing"),
    [
        (False, False),
        ({"current_block_num": 100, "highest_block_num": 500, "starting_block_num": 0}, True),
        ({"current_block_num": "0x64", "highest_block_num": "0x1f4"}, True),
        ({"current_block_num": 100, "highest_block_num": 106}, False),
        ({"current_block_num": 100, "highest_block_num": 107}, True),
        (True, True),
        (MISSING, None),
    ],
)
def test_syncing_nodes_are_noticed(start: Start, answer: object, syncing: bool | None) -> None:
    node = start(juno(head=100))
    node.answers["starknet_syncing"] = answer
    survey = ask([node.node()], None)
    assert survey.facts[0].syncing is syncing
    assert kinds(survey) == ([("syncing", "juno")] if syncing else [])


def test_a_syncing_ethereum_node_is_noticed(start: Start) -> None:
    survey = ask([start(geth(answers={"eth_syncing": {"currentBlock": "0x64", "highestBlock": "0x1f4"}})).node()], None)
    assert kinds(survey) == [("syncing", "geth")]
    assert survey.notices[0].weight is Weight.WARNING


@pytest.mark.parametrize(("age_s", "says"), [(720, "12 min old"), (-7300, "2 h in the future"), (590, None)])
def test_a_latest_block_far_from_now_is_noticed(start: Start, age_s: float, says: str | None) -> None:
    survey = ask([start(geth(age_s=age_s)).node()], None)
    assert survey.facts[0].clock_skew_s == pytest.approx(age_s, abs=3)
    assert kinds(survey) == ([("clock_skew", "geth")] if says else [])
    assert says is None or says in survey.notices[0].saw


@pytest.mark.parametrize("make", [juno, geth])
def test_a_node_without_the_common_block_is_noticed(start: Start, make: object) -> None:
    node = start(make())  # type: ignore[operator]
    usual = node.answer

    def pruned(seen: object, params: object) -> object:
        answer = usual(seen, params)
        is_block = isinstance(answer, dict) and ("number" in answer or "block_number" in answer)
        latest = "latest" in str(params)
        if not is_block or latest:
            return answer
        return None if node.chain == "ethereum" else {"error": {"code": 24, "message": "Block not found"}}

    node.answer = pruned
    survey = ask([node.node()], None)
    assert survey.facts[0].common_hash is None
    assert kinds(survey) == [("common_block_missing", node.name)]


def test_all_problems_are_told_at_once(start: Start) -> None:
    specs = {"/": "0.8.1", "/rpc/v0_8": "0.8.1"}
    ahead, behind = start(juno(head=200)), start(pathfinder(head=50, specs=specs))
    closed = devnet(port=1)
    survey = ask([ahead.node(path="/rpc/v0_10"), behind.node(), closed.node()], None)
    told = [problem.split(" (")[0] for problem in survey.problems]
    assert told == ["devnet", "pathfinder", "pathfinder"]
    with pytest.raises(NodesError) as raised:
        judge(survey)
    assert str(raised.value).splitlines() == list(survey.problems)
    assert len(survey.nodes) == 3
    assert [fact.node for fact in survey.facts] == ["juno", "pathfinder"]
