"""Nodes on real sockets that answer alike, or not, or cannot know."""

from __future__ import annotations

import base64
import copy
import gzip
import json
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from rpcbench.model.facts import NodeFacts
from rpcbench.model.finding import Cause, Finding, Outcome
from rpcbench.model.node import Node
from rpcbench.model.scenario import Chain
from rpcbench.model.workload import Call
from rpcbench.protocol.rules import RuleBook, Rules, parse_pattern
from rpcbench.survey.agreement import agree, sample
from tests.survey.conftest import Start
from tests.survey.fake_node import MISSING, FakeNode, Raw

Answer = Callable[[str, Any], Any]
HEAD = 50


def error(code: int, message: str = "no") -> Any:
    return {"error": {"code": code, "message": message}}


def block(number: int) -> Any:
    return {
        "block_number": number,
        "block_hash": hex(0xABC000 + number),
        "status": "ACCEPTED_ON_L2",
        "starknet_version": "0.13.4",
        "transactions": [
            {"transaction_hash": hex(16 * number + i), "max_fee": "0x1f", "nonce": "0x0"} for i in range(5)
        ],
    }


def answer(method: str, params: Any) -> Any:
    """A node as it should be."""
    if method == "starknet_getBlockWithTxs":
        return block(params["block_id"]["block_number"])
    return MISSING


@pytest.fixture
def node(start: Start) -> Callable[..., FakeNode]:
    """Starts a node that answers by a function; `usual` is the one above."""

    def run(name: str, respond: Answer = answer, **more: Any) -> FakeNode:
        fake = FakeNode(name=name, **more)
        fake.answer = lambda seen, params: respond(seen.method, params)  # type: ignore[method-assign]
        return start(fake)

    return run


def call(method: str, params: Any, id: int = 7, spec: int = 0) -> Call:
    return Call(id, spec, json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode())


def by_number(number: int, id: int = 7) -> Call:
    return call("starknet_getBlockWithTxs", {"block_id": {"block_number": number}}, id)


def ask(fakes: list[FakeNode], *calls: Call, chain: Chain = Chain.STARKNET, **more: Any) -> tuple[Finding, ...]:
    return agree([fake.node() for fake in fakes], calls, chain, HEAD, **more)


def verdict(fakes: list[FakeNode], asked: Call, **more: Any) -> tuple[Outcome, Cause | None]:
    (finding,) = ask(fakes, asked, **more)
    return finding.outcome, finding.cause


def fixed(value: Any) -> Answer:
    return lambda method, params: value


EQUAL = (Outcome.EQUAL, None)
DIFFERENT = (Outcome.DIFFERENT, None)


def test_one_field_of_one_block_is_found_with_its_path_and_a_command(node: Callable[..., FakeNode]) -> None:
    def wrong(method: str, params: Any) -> Any:
        found = answer(method, params)
        if found["block_number"] == 17:
            found["transactions"][3]["max_fee"] = "0x20"
        return found

    fakes = [node("a"), node("b", wrong)]
    findings = ask(fakes, *(by_number(n, id=n) for n in range(10, 20)))
    assert [f.outcome for f in findings if f.call != 17] == [Outcome.EQUAL] * 9
    finding = findings[7]
    assert (finding.outcome, finding.call, finding.method) == (Outcome.DIFFERENT, 17, "starknet_getBlockWithTxs")
    assert finding.params == '{"block_id":{"block_number":17}}'
    (place,) = finding.deviations
    assert place.path == "$.transactions[3].max_fee"
    assert (place.base, place.base_value, place.other, place.other_value) == ("a", '"0x1f"', "b", '"0x20"')
    assert finding.groups == (("a",), ("b",))
    assert finding.majority == ()
    assert not finding.more


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed here")
def test_the_commands_bring_the_answers_that_differ(node: Callable[..., FakeNode]) -> None:
    fakes = [node("a"), node("b", fixed({"block_number": 5}))]
    (finding,) = ask(fakes, by_number(17))
    answers = {}
    for name, line in finding.curls:
        ran = subprocess.run(["/bin/sh", "-c", line], capture_output=True, check=True, timeout=5)
        answers[name] = json.loads(ran.stdout)["result"]
    assert answers == {"a": block(17), "b": {"block_number": 5}}


def turned(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: turned(item) for key, item in reversed(value.items())}
    return [turned(item) for item in value] if isinstance(value, list) else value


def test_key_order_padding_sets_null_and_packing_make_no_difference(node: Callable[..., FakeNode]) -> None:
    program = json.dumps({"data": ["0x1"]}).encode()
    one = {
        "starknet_getStateUpdate": {
            "old_root": "0x1f",
            "state_diff": {
                "nonces": [{"contract_address": "0x1", "nonce": "0xa"}, {"contract_address": "0x2", "nonce": "0xb"}],
                "deprecated_declared_classes": ["0xc", "0xd"],
            },
        },
        "starknet_getTransactionStatus": {"finality_status": "ACCEPTED_ON_L2", "failure_reason": None},
        "starknet_getClass": {"program": base64.b64encode(gzip.compress(program, 9)).decode(), "abi": None},
    }
    other = turned(copy.deepcopy(one))
    other["starknet_getStateUpdate"]["old_root"] = "0x001F"
    other["starknet_getStateUpdate"]["state_diff"]["nonces"].reverse()
    other["starknet_getStateUpdate"]["state_diff"]["deprecated_declared_classes"].reverse()
    other["starknet_getTransactionStatus"] = {"finality_status": "ACCEPTED_ON_L1"}
    other["starknet_getClass"] = {"program": base64.b64encode(gzip.compress(program, 1)).decode()}
    fakes = [node("a", lambda method, _: one[method]), node("b", lambda method, _: other[method])]
    calls = [call(method, {"block_id": {"block_number": 1}}, id) for id, method in enumerate(one)]
    assert [finding.outcome for finding in ask(fakes, *calls)] == [Outcome.EQUAL] * 3


def test_the_majority_of_three_is_shown(node: Callable[..., FakeNode]) -> None:
    fakes = [node("odd", fixed({"block_number": 1})), node("one"), node("two")]
    (finding,) = ask(fakes, by_number(17))
    assert finding.outcome is Outcome.DIFFERENT
    assert finding.groups == (("one", "two"), ("odd",))
    assert finding.majority == ("one", "two")
    assert {(place.base, place.other) for place in finding.deviations} == {("one", "odd")}
    assert [name for name, _ in finding.curls] == ["odd", "one", "two"]


def test_of_two_equal_groups_the_earlier_nodes_is_the_base(node: Callable[..., FakeNode]) -> None:
    other = fixed({"block_number": 1})
    fakes = [node("a"), node("b", other), node("c", other), node("d")]
    (finding,) = ask(fakes, by_number(17))
    assert finding.groups == (("a", "d"), ("b", "c"))
    assert finding.majority == ()


def test_rules_say_what_does_not_count(node: Callable[..., FakeNode]) -> None:
    fakes = [node("a", fixed({"x": 1, "y": 2})), node("b", fixed({"x": 1, "y": 3}))]
    assert verdict(fakes, by_number(1)) == DIFFERENT
    for pattern in ("starknet_getBlockWithTxs", "starknet_*"):
        rules = RuleBook(((pattern, Rules(ignored=(parse_pattern("$.y"),))),))
        assert verdict(fakes, by_number(1), rules=rules) == EQUAL
    elsewhere = RuleBook((("starknet_call", Rules(ignored=(parse_pattern("$.y"),))),))
    assert verdict(fakes, by_number(1), rules=elsewhere) == DIFFERENT


def test_calls_at_the_latest_block_are_asked_at_the_height_that_all_have(node: Callable[..., FakeNode]) -> None:
    fakes = [node("a"), node("b")]
    assert verdict(fakes, call("starknet_getBlockWithTxs", {"block_id": "latest"})) == EQUAL
    for fake in fakes:
        (seen,) = fake.seen
        assert json.loads(seen.body)["params"] == {"block_id": {"block_number": HEAD}}
        assert json.loads(seen.body)["id"] == 7


def test_fixed_calls_are_sent_byte_for_byte(node: Callable[..., FakeNode]) -> None:
    fakes = [node("a"), node("b")]
    ask(fakes, by_number(17))
    assert [seen.body for fake in fakes for seen in fake.seen] == [by_number(17).body] * 2


def test_pending_blocks_that_differ_prove_nothing(node: Callable[..., FakeNode]) -> None:
    pending = call("starknet_getBlockWithTxs", {"block_id": "pre_confirmed"})
    fakes = [node("a", fixed({"n": 1})), node("b", fixed({"n": 2}))]
    assert verdict(fakes, pending) == (Outcome.INCONCLUSIVE, Cause.MOVED)
    assert verdict([node("a", fixed({"n": 1})), node("b", fixed({"n": 1}))], pending) == EQUAL


def test_proofs_are_compared_when_they_are_of_one_block(node: Callable[..., FakeNode]) -> None:
    def proof(block_hash: str, root: str) -> Answer:
        return fixed({"classes_proof": [], "global_roots": {"block_hash": block_hash, "classes_tree_root": root}})

    asked = call("starknet_getStorageProof", {"block_id": "latest"})
    one = node("a", proof("0x1", "0x5"))
    assert verdict([one, node("b", proof("0x1", "0x5"))], asked) == EQUAL
    assert verdict([one, node("b", proof("0x1", "0x6"))], asked) == DIFFERENT
    assert verdict([one, node("b", proof("0x2", "0x6"))], asked) == (Outcome.INCONCLUSIVE, Cause.MOVED)


def test_a_node_that_does_not_repeat_its_answer_proves_nothing(node: Callable[..., FakeNode]) -> None:
    count = iter(range(100))
    fakes = [node("a"), node("b", lambda method, params: {"n": next(count)})]
    (finding,) = ask(fakes, by_number(17))
    assert (finding.outcome, finding.cause, finding.curls) == (Outcome.INCONCLUSIVE, Cause.MOVED, ())
    assert [fake.asked("starknet_getBlockWithTxs") for fake in fakes] == [2, 2]


def test_equal_answers_are_not_asked_for_twice(node: Callable[..., FakeNode]) -> None:
    fakes = [node("a"), node("b")]
    ask(fakes, by_number(17))
    assert [len(fake.seen) for fake in fakes] == [1, 1]


@pytest.mark.parametrize("method", ["starknet_blockNumber", "starknet_syncing", "juno_version"])
def test_what_nodes_say_of_themselves_is_not_asked(node: Callable[..., FakeNode], method: str) -> None:
    fakes = [node("a", fixed(1)), node("b", fixed(2))]
    assert verdict(fakes, call(method, [])) == (Outcome.INCONCLUSIVE, Cause.NODE_OWN)
    assert fakes[0].seen == []


@pytest.mark.parametrize("method", ["starknet_addInvokeTransaction", "devnet_mint", "eth_sendRawTransaction"])
def test_nothing_is_ever_written(node: Callable[..., FakeNode], method: str) -> None:
    fakes = [node("a", fixed(1)), node("b", fixed(2))]
    assert verdict(fakes, call(method, [])) == (Outcome.INCONCLUSIVE, Cause.WRITES)
    assert fakes[0].seen == []


# --- set-up, errors, silence --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("refusal", "cause"),
    [
        (error(-32601, "Method not found"), Cause.UNSERVED),
        (error(24, "Block not found"), Cause.HISTORY),
        (error(42), Cause.HISTORY),
        (error(-32000, "missing trie node"), Cause.HISTORY),
    ],
)
def test_what_one_node_is_not_set_up_for_is_no_difference(
    node: Callable[..., FakeNode], refusal: Any, cause: Cause
) -> None:
    fakes = [node("a"), node("b", fixed(refusal))]
    (finding,) = ask(fakes, by_number(17))
    assert (finding.outcome, finding.cause) == (Outcome.ENVIRONMENT, cause)
    assert finding.groups == (("a",),)
    ((name, said),) = finding.apart
    assert name == "b"
    assert said.startswith(f"error {refusal['error']['code']} ")


def test_the_others_are_compared_all_the_same(node: Callable[..., FakeNode]) -> None:
    fakes = [node("a"), node("pruned", fixed(error(24))), node("c", fixed({"n": 1}))]
    (finding,) = ask(fakes, by_number(17))
    assert finding.outcome is Outcome.DIFFERENT
    assert finding.groups == (("a",), ("c",))
    assert [name for name, _ in finding.apart] == ["pruned"]


def test_members_of_a_newer_spec_are_no_difference(node: Callable[..., FakeNode]) -> None:
    newer = lambda method, params: {**answer(method, params), "event_count": 103}  # noqa: E731
    fakes = [node("a"), node("b", newer)]

    def facts(*specs: str) -> list[NodeFacts]:
        return [
            NodeFacts(n, "", "0x1", spec, None, 99, None, None, None, False, 0.0, 1.0, 0)
            for n, spec in zip("ab", specs, strict=True)
        ]

    assert verdict(fakes, by_number(1), facts=facts("0.10.1", "0.10.2")) == (Outcome.ENVIRONMENT, Cause.SPEC)
    assert verdict(fakes, by_number(1), facts=facts("0.10.2", "0.10.2")) == DIFFERENT
    wrong = node("b", lambda method, params: {**newer(method, params), "status": "REJECTED"})
    assert verdict([fakes[0], wrong], by_number(1), facts=facts("0.10.1", "0.10.2")) == DIFFERENT


def test_an_error_against_an_answer_is_a_difference_and_told_in_the_nodes_words(node: Callable[..., FakeNode]) -> None:
    fakes = [node("a"), node("b", fixed(error(-32602, "Invalid params")))]
    (finding,) = ask(fakes, by_number(17))
    assert finding.outcome is Outcome.DIFFERENT
    (place,) = finding.deviations
    assert (place.path, place.other_value) == ("$", "error -32602 Invalid params")
    assert place.base_value.startswith('{"block_number":17,')


def test_errors_with_other_codes_differ(node: Callable[..., FakeNode]) -> None:
    assert verdict([node("a", fixed(error(20))), node("b", fixed(error(-32602)))], by_number(1)) == DIFFERENT


@pytest.mark.parametrize("codes", [(20, 20), (24, 24), (-32601, -32601), (-32601, 24)])
def test_two_failures_agree_on_nothing(node: Callable[..., FakeNode], codes: tuple[int, int]) -> None:
    fakes = [node("a", fixed(error(codes[0], "one text"))), node("b", fixed(error(codes[1], "another")))]
    (finding,) = ask(fakes, by_number(1))
    assert (finding.outcome, finding.cause) == (Outcome.INCONCLUSIVE, Cause.BOTH_ERROR)
    assert dict(finding.apart) == {"a": f"error {codes[0]} one text", "b": f"error {codes[1]} another"}


def test_a_call_that_both_revert_is_answered_alike(node: Callable[..., FakeNode]) -> None:
    asked = call("starknet_call", {"request": {}, "block_id": {"block_number": 1}})
    one = node("a", fixed(error(40, "Contract error")))
    assert verdict([one, node("b", fixed(error(40, "other text")))], asked) == EQUAL
    assert verdict([one, node("b", fixed(["0x1"]))], asked) == DIFFERENT


def test_a_node_that_gives_no_answer_proves_nothing(node: Callable[..., FakeNode]) -> None:
    def raw(status: int, body: bytes = b"") -> FakeNode:
        return node("b", raw=Raw(status, body))

    for broken in (raw(503, b"busy"), raw(429), raw(200, b"<html>"), raw(200, b'{"jsonrpc"')):
        (finding,) = ask([node("a"), broken], by_number(1))
        assert (finding.outcome, finding.cause) == (Outcome.INCONCLUSIVE, Cause.NO_ANSWER)
        assert finding.apart[0][0] == "b"
    gone = FakeNode(name="b", port=1)
    assert verdict([node("a"), gone], by_number(1)) == (Outcome.INCONCLUSIVE, Cause.NO_ANSWER)


def test_a_node_that_is_too_slow_proves_nothing_and_is_not_asked_for_ever(node: Callable[..., FakeNode]) -> None:
    def slow(method: str, params: Any) -> Any:
        time.sleep(0.4)

    fakes = [node("a"), node("b", slow)]
    findings = ask(fakes, *(by_number(n, id=n) for n in range(8)), timeout_s=0.1)
    assert [f.cause for f in findings] == [Cause.TIMED_OUT] * 3 + [Cause.NO_ANSWER] * 5
    assert {f.outcome for f in findings} == {Outcome.INCONCLUSIVE}
    assert len(fakes[1].seen) == 3
    assert len(fakes[0].seen) == 8


def test_a_node_that_answers_now_and_then_is_asked_on(node: Callable[..., FakeNode]) -> None:
    turn = iter(range(100))
    fakes = [node("a"), node("b", raw=lambda _: Raw(503) if next(turn) % 3 else None)]
    findings = ask(fakes, *(by_number(n, id=n) for n in range(9)))
    assert [f.outcome for f in findings] == [Outcome.EQUAL, Outcome.INCONCLUSIVE, Outcome.INCONCLUSIVE] * 3


def test_a_result_that_is_nested_too_deeply_proves_nothing(node: Callable[..., FakeNode]) -> None:
    for depth in (900, 20_000):
        deep = b'{"jsonrpc":"2.0","id":7,"result":' + b"[" * depth + b"]" * depth + b"}"
        fakes = [node("a", raw=Raw(200, deep)), node("b", raw=Raw(200, deep))]
        outcome, cause = verdict(fakes, by_number(1))
        assert outcome is Outcome.INCONCLUSIVE
        assert cause in (Cause.UNREADABLE, Cause.NO_ANSWER)


# --- Ethereum: null in the place of an error ----------------------------------------------------------------------


def receipt_or_null(has: bool, keeps_block: bool) -> Answer:
    def respond(method: str, params: Any) -> Any:
        if method == "eth_getTransactionReceipt":
            return {"blockNumber": "0x5", "status": "0x1"} if has else None
        number = {"number": params[0], "hash": "0x1", "timestamp": "0x1"}
        return number if keeps_block else None

    return respond


RECEIPT = call("eth_getTransactionReceipt", ["0x" + "a" * 64])


def test_null_is_missing_history_where_the_block_is_missing_too(node: Callable[..., FakeNode]) -> None:
    fakes = [node("a", receipt_or_null(True, True)), node("b", receipt_or_null(False, False))]
    (finding,) = ask(fakes, RECEIPT, chain=Chain.ETHEREUM)
    assert (finding.outcome, finding.cause) == (Outcome.ENVIRONMENT, Cause.HISTORY)
    assert finding.apart == (("b", "does not have block 5"),)


def test_null_is_a_difference_where_the_block_is_there(node: Callable[..., FakeNode]) -> None:
    fakes = [node("a", receipt_or_null(True, True)), node("b", receipt_or_null(False, True))]
    (finding,) = ask(fakes, RECEIPT, chain=Chain.ETHEREUM)
    assert finding.outcome is Outcome.DIFFERENT
    assert finding.deviations[0].other_value == "null"


def test_a_block_is_looked_for_once_only(node: Callable[..., FakeNode]) -> None:
    fakes = [node("a", receipt_or_null(True, True)), node("b", receipt_or_null(False, False))]
    calls = [call("eth_getTransactionReceipt", ["0x" + digit * 64], id) for id, digit in enumerate("abc")]
    assert {f.cause for f in ask(fakes, *calls, chain=Chain.ETHEREUM)} == {Cause.HISTORY}
    assert fakes[1].asked("eth_getBlockByNumber") == 1


def test_both_null_is_the_same_answer(node: Callable[..., FakeNode]) -> None:
    fakes = [node("a", fixed(None)), node("b", fixed(None))]
    assert verdict(fakes, RECEIPT, chain=Chain.ETHEREUM) == EQUAL


# --- events in pages ----------------------------------------------------------------------------------------------


def paged(events: list[Any], sizes: list[int], prefix: str, stuck: bool = False) -> Answer:
    """Pages of these sizes, over and over, with tokens that only this node understands."""

    def respond(method: str, params: Any) -> Any:
        token = params["filter"].get("continuation_token")
        if token is None:
            page, at = 0, 0
        elif token.startswith(prefix):
            page, at = (int(part) for part in token.removeprefix(prefix).split("-"))
        else:
            return error(33, "The supplied continuation token is invalid or unknown")
        size = sizes[page % len(sizes)]
        more = stuck or at + size < len(events)
        return {
            "events": events[at : at + size],
            **({"continuation_token": f"{prefix}{page + 1}-{at + size}"} if more else {}),
        }

    return respond


EVENTS = [{"data": [hex(i)], "block_number": i} for i in range(30)]
SEARCH = call("starknet_getEvents", {"filter": {"from_block": {"block_number": 1}, "chunk_size": 10}})


def test_pages_are_joined_however_each_node_cuts_them(node: Callable[..., FakeNode]) -> None:
    fakes = [node("a", paged(EVENTS, [30], "a")), node("b", paged(EVENTS, [10, 0, 20], "b"))]
    assert verdict(fakes, SEARCH) == EQUAL
    assert [len(fake.seen) for fake in fakes] == [1, 3]


def test_events_are_asked_for_in_large_pages_up_to_a_fixed_block(node: Callable[..., FakeNode]) -> None:
    fakes = [node("a", paged(EVENTS, [30], "a")), node("b", paged(EVENTS, [30], "b"))]
    ask(fakes, SEARCH)
    asked = json.loads(fakes[0].seen[0].body)["params"]["filter"]
    assert asked == {"from_block": {"block_number": 1}, "to_block": {"block_number": HEAD}, "chunk_size": 1024}


def test_an_event_on_a_later_page_is_found(node: Callable[..., FakeNode]) -> None:
    other = [*EVENTS[:25], {"data": ["0xbad"], "block_number": 25}, *EVENTS[26:]]
    fakes = [node("a", paged(EVENTS, [10], "a")), node("b", paged(other, [15], "b"))]
    (finding,) = ask(fakes, SEARCH)
    assert finding.outcome is Outcome.DIFFERENT
    assert [place.path for place in finding.deviations] == ["$.events[25].data[0]"]


def test_events_that_were_not_read_to_the_end_agree_on_nothing(node: Callable[..., FakeNode]) -> None:
    fakes = [node("a", paged(EVENTS, [10], "a", stuck=True)), node("b", paged(EVENTS, [4], "b"))]
    assert verdict(fakes, SEARCH, max_pages=2) == (Outcome.INCONCLUSIVE, Cause.PAGES)
    assert [len(fake.seen) for fake in fakes] == [2, 2]


def test_they_may_differ_all_the_same(node: Callable[..., FakeNode]) -> None:
    fewer = EVENTS[:5]
    fakes = [node("a", paged(EVENTS, [10], "a")), node("b", paged(fewer, [10], "b"))]
    assert verdict(fakes, SEARCH, max_pages=2) == DIFFERENT
    other = [EVENTS[1], *EVENTS[1:]]
    fakes = [node("a", paged(EVENTS, [10], "a")), node("b", paged(other, [3], "b"))]
    assert verdict(fakes, SEARCH, max_pages=2) == DIFFERENT


def test_a_node_that_refuses_its_own_token_proves_nothing(node: Callable[..., FakeNode]) -> None:
    def forgetful(method: str, params: Any) -> Any:
        if "continuation_token" in params["filter"]:
            return error(33, "invalid token")
        return {"events": EVENTS[:10], "continuation_token": "x"}

    fakes = [node("a", paged(EVENTS, [30], "a")), node("b", forgetful)]
    (finding,) = ask(fakes, SEARCH)
    assert (finding.outcome, finding.cause) == (Outcome.INCONCLUSIVE, Cause.PAGES)
    assert finding.apart == (("b", "page 2: error 33 invalid token"),)


def test_the_articles_filter_is_sent_as_it_is_and_differs(node: Callable[..., FakeNode]) -> None:
    article = {"fromBlock": 5, "toBlock": 50, "page_size": 1000, "page_number": 0, "chunk_size": 10}
    strict = node("strict", fixed(error(-32602, "Invalid params")))
    lenient = node("lenient", fixed({"events": EVENTS[:10], "continuation_token": "0-10"}))
    (finding,) = ask([strict, lenient], call("starknet_getEvents", [article]), max_pages=1)
    assert finding.outcome is Outcome.DIFFERENT
    assert json.loads(strict.seen[0].body)["params"] == [article]


# --- manners ------------------------------------------------------------------------------------------------------


def test_no_secret_is_in_a_finding(node: Callable[..., FakeNode]) -> None:
    echo = fixed({"token": "s3cretKey", "t0ken-header": 1, "s3cretKey": 2})
    fakes = [node("a", echo), node("b", fixed(error(-32602, "bad key s3cretKey")))]
    for other in (fakes[1], node("b", echo), node("b", fixed({}))):
        nodes = [
            Node("a", f"http://127.0.0.1:{fakes[0].port}/s3cretKey", headers=(("X-Key", "t0ken-header"),)),
            Node("b", f"http://127.0.0.1:{other.port}/s3cretKey"),
        ]
        (finding,) = agree(nodes, [by_number(1)], Chain.STARKNET, HEAD)
        assert "s3cretKey" not in repr(finding)
        assert "t0ken-header" not in repr(finding)


def test_the_same_question_goes_to_all_nodes_at_once_and_the_next_one_afterwards(node: Callable[..., FakeNode]) -> None:
    together = threading.Barrier(2, timeout=5)
    numbers: list[int] = []

    def held(method: str, params: Any) -> Any:
        together.wait()  # broken unless the other node is being asked too
        numbers.append(params["block_id"]["block_number"])
        return answer(method, params)

    ask([node("a", held), node("b", held)], by_number(1, id=1), by_number(2, id=2))
    assert numbers == [1, 1, 2, 2]


def test_other_peoples_nodes_are_asked_slowly(node: Callable[..., FakeNode], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Node, "is_local", property(lambda self: False))
    fakes = [node("a"), node("b")]
    ask(fakes, *(by_number(n, id=n) for n in range(6)))
    times = [seen.at_s for seen in fakes[0].seen]
    assert times[5] - times[0] >= 0.9


def test_progress_is_told(node: Callable[..., FakeNode]) -> None:
    heard: list[tuple[int, int]] = []
    calls = [by_number(n, id=n) for n in range(3)]
    ask([node("a"), node("b")], *calls, on_call=lambda done, of: heard.append((done, of)))
    assert heard == [(1, 3), (2, 3), (3, 3)]


def test_a_sample_takes_as_many_of_each_kind() -> None:
    calls = [Call(id, spec=0 if id < 90 else 1 if id < 97 else 2, body=b"") for id in range(100)]
    chosen = sample(calls, 24)
    assert [sum(call.spec == spec for call in chosen) for spec in (0, 1, 2)] == [14, 7, 3]
    assert [call.id for call in chosen] == sorted(call.id for call in chosen)
    assert sample(calls, 1000) == tuple(calls)
    assert sample([], 5) == ()
