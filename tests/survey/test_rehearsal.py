"""The calls tried out before the load begins."""

from __future__ import annotations

import json
import time

import pytest

from rpcbench.model.node import Node
from rpcbench.model.samples import Status
from rpcbench.model.workload import Call
from rpcbench.survey.rehearsal import rehearse
from tests.survey.conftest import Start
from tests.survey.fake_node import FakeNode, Raw, Seen, geth


def call(id: int, spec: int, method: str, *params: object) -> Call:
    body = json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode()
    return Call(id, spec, body)


CHAIN_ID = call(10, 0, "eth_chainId")
BLOCK = call(11, 1, "eth_getBlockByNumber", "0x5", False)
UNKNOWN = call(12, 2, "trace_block", "0x5")


def test_each_call_goes_once_to_each_node_byte_for_byte(start: Start) -> None:
    one, other = start(geth(name="one")), start(geth(name="other"))
    rehearsals = rehearse([one.node(), other.node()], [CHAIN_ID, BLOCK])
    assert [(r.node, r.spec) for r in rehearsals] == [("one", 0), ("one", 1), ("other", 0), ("other", 1)]
    assert all((r.status, r.code, r.message) == (Status.OK, 0, "") for r in rehearsals)
    for fake in (one, other):
        assert [seen.body for seen in fake.seen] == [CHAIN_ID.body, BLOCK.body]


def test_size_and_latency_are_medians_over_the_calls_of_a_kind(start: Start) -> None:
    calls = [call(id, 0, "web3_clientVersion") for id in (1, 2, 3)]
    fake = geth()
    sizes, delays_s = iter([10, 5000, 70]), iter([0.0, 0.3, 0.05])

    def reply(seen: Seen) -> Raw:
        time.sleep(next(delays_s))
        id = json.loads(seen.body)["id"]
        body = json.dumps({"jsonrpc": "2.0", "id": id, "result": ""}).encode()
        return Raw(200, body[:-2] + b"x" * (next(sizes) - 2) + body[-2:])

    fake.raw = reply
    (rehearsal,) = rehearse([start(fake).node()], calls)
    envelope = len(b'{"jsonrpc": "2.0", "id": 1, "result": ""}')
    assert rehearsal.bytes_in == envelope + 70 - 2
    assert 50 <= rehearsal.latency_ms < 300


def test_a_call_that_only_one_node_refuses(start: Start) -> None:
    one, other = start(geth(name="one", answers={"trace_block": []})), start(geth(name="other"))
    answered, refused = rehearse([one.node(), other.node()], [UNKNOWN])
    assert (answered.status, answered.code, answered.failed) == (Status.OK, 0, False)
    assert (refused.status, refused.code, refused.failed) == (Status.RPC_ERROR, -32601, True)
    assert refused.message == "Method not found"


def test_the_first_failure_is_told_and_the_medians_are_of_the_answers(start: Start) -> None:
    calls = [
        call(id, 0, "eth_getBlockByNumber", block, False) for id, block in ((1, "0x5"), (2, "0xfff"), (3, "0xffe"))
    ]
    (rehearsal,) = rehearse([start(geth()).node()], calls)
    assert rehearsal.status is Status.NULL_RESULT
    (answered,) = rehearse([start(geth()).node()], [calls[0]])
    assert rehearsal.bytes_in == answered.bytes_in > 100


def test_a_reverted_call_is_an_answer(start: Start) -> None:
    reverted = {"error": {"code": 3, "message": "execution reverted", "data": "0x"}}
    (rehearsal,) = rehearse([start(geth(answers={"eth_call": reverted})).node()], [call(1, 0, "eth_call")])
    assert (rehearsal.status, rehearsal.failed, rehearsal.message) == (Status.REVERTED, False, "")


def test_the_reason_of_a_refusal_is_kept_and_cut_without_secrets(start: Start) -> None:
    reason = "unexpected field in s3cretKey " + "x" * 500
    fake = start(
        FakeNode(
            answers={
                "starknet_getEvents": {
                    "error": {"code": -32602, "message": "Invalid params", "data": {"reason": reason}}
                }
            }
        )
    )
    (rehearsal,) = rehearse([fake.node(path="/s3cretKey")], [call(1, 0, "starknet_getEvents")])
    assert (rehearsal.status, rehearsal.code) == (Status.RPC_ERROR, -32602)
    assert rehearsal.message.startswith("Invalid params: unexpected field in … xxx")
    assert len(rehearsal.message) == 200


@pytest.mark.parametrize(
    ("raw", "status", "code"),
    [
        (Raw(500, b"oops"), Status.HTTP_ERROR, 500),
        (Raw(429, b""), Status.RATE_LIMITED, 429),
        (Raw(503, b"Too many requests", (("Retry-After", "1"),)), Status.RATE_LIMITED, 503),
        (Raw(200, b"<html>"), Status.BAD_REPLY, 200),
    ],
)
def test_replies_are_classified_as_the_measured_ones(start: Start, raw: Raw, status: Status, code: int) -> None:
    (rehearsal,) = rehearse([start(geth(raw=raw)).node()], [CHAIN_ID])
    assert (rehearsal.status, rehearsal.code) == (status, code)


def test_a_node_that_is_not_there(start: Start) -> None:
    gone = Node("gone", "http://127.0.0.1:1/s3cretKey")
    lost, answered = rehearse([gone, start(geth()).node()], [CHAIN_ID])
    assert (lost.status, lost.code, lost.bytes_in) == (Status.NETWORK, 0, 0)
    assert lost.message.startswith("gone (127.0.0.1:1/…) refuses the connection")
    assert answered.status is Status.OK


def test_a_node_that_does_not_answer_in_time(start: Start) -> None:
    fake = geth(raw=lambda _: time.sleep(0.5))
    (rehearsal,) = rehearse([start(fake).node()], [CHAIN_ID], timeout_s=0.2)
    assert rehearsal.status is Status.TIMEOUT
    assert rehearsal.latency_ms >= 200


def test_headers_of_the_node_are_sent(start: Start) -> None:
    fake = start(geth())
    rehearse([fake.node(headers=(("X-Key", "hush"),))], [CHAIN_ID])
    assert fake.seen[0].headers["x-key"] == "hush"


def test_calls_go_out_one_at_a_time(start: Start) -> None:
    one, other = geth(name="one"), geth(name="other")
    busy: list[str] = []

    def slow(seen: Seen) -> None:
        busy.append("in")
        time.sleep(0.03)
        busy.append("out")

    one.raw = other.raw = slow
    rehearse([start(one).node(), start(other).node()], [CHAIN_ID, BLOCK])
    assert busy == ["in", "out"] * 4
