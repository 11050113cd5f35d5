"""What the reply to a batch means: items by id, the worst of them for the whole."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpcbench.model.samples import Status
from rpcbench.protocol.batch import BatchReply, classify_batch, encode_batch, item_id
from rpcbench.protocol.jsonrpc import encode

CALL, SIZE = 7, 4
IDS = [item_id(CALL, i) for i in range(SIZE)]


def item(call_id, **members):
    return {"jsonrpc": "2.0", "id": call_id, **members}


def answers(**of_second):
    """All four answered, the second one as given."""
    return [item(one, **(of_second or {"result": n}) if n == 1 else {"result": n}) for n, one in enumerate(IDS)]


def judge(content, http_status=200, *, retry_after=False):
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return classify_batch(http_status, retry_after, body, CALL, SIZE)


def test_ids_are_distinct_exact_and_begin_with_the_calls_own():
    calls = range(0, 3_000_000, 999_999)
    ids = [item_id(call, i) for call in calls for i in range(1000)]
    assert len(set(ids)) == len(ids)
    assert max(ids) < 2**53
    assert [item_id(call, 0) for call in calls] == list(calls)


def test_a_body_holds_every_call():
    body = encode_batch([encode(one, "m", [n]) for n, one in enumerate(IDS)])
    assert [(each["id"], each["params"]) for each in json.loads(body)] == [(one, [n]) for n, one in enumerate(IDS)]


def test_items_are_matched_by_id_and_never_by_position():
    in_order = answers()
    first = judge(in_order)
    assert (first.status, first.code) == (Status.OK, 0)
    shuffled = in_order[:]
    random.Random(1).shuffle(shuffled)
    assert shuffled != in_order
    assert judge(shuffled) == first
    swapped = [item(IDS[1], result=0), item(IDS[0], result=1), *in_order[2:]]
    assert judge(swapped).digest != first.digest


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ({"result": None}, (Status.NULL_RESULT, 0)),
        ({"error": {"code": -32003, "message": "response too large"}}, (Status.RPC_ERROR, -32003)),
        ({"error": {"code": 3}}, (Status.REVERTED, 3)),
        ({"error": {"code": -32005}}, (Status.RATE_LIMITED, -32005)),
        ({}, (Status.OK, 0)),
        ({"neither": 1}, (Status.BAD_REPLY, 200)),
    ],
)
def test_the_worst_item_decides(second, expected):
    assert judge(answers(**second))[:2] == expected


def test_of_two_failures_the_worse_decides():
    both = answers(error={"code": -1})
    both[3] = item(IDS[3], error={"code": -32005})
    assert judge(both)[:2] == (Status.RATE_LIMITED, -32005)


TOO_LARGE = {"code": -32600, "message": "batch too large"}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([item(IDS[0], error=TOO_LARGE)], (Status.RPC_ERROR, -32600)),  # geth: one element for all
        ([item(None, error=TOO_LARGE)], (Status.RPC_ERROR, -32600)),
        (item(None, error=TOO_LARGE), (Status.RPC_ERROR, -32600)),  # Juno, Pathfinder: an object
        (item(None, error={"code": -32005}), (Status.RATE_LIMITED, -32005)),
        ([item(IDS[0], result=1)], (Status.BAD_REPLY, 200)),
        (item(IDS[0], result=1), (Status.BAD_REPLY, 200)),
        (answers()[:3], (Status.BAD_REPLY, 200)),  # partial
        ([*answers()[:3], answers()[0]], (Status.BAD_REPLY, 200)),  # one twice, one missing
        ([*answers(), answers()[0]], (Status.BAD_REPLY, 200)),
        ([*answers()[:3], item(99, result=1)], (Status.BAD_REPLY, 200)),
        ([*answers()[:3], item(str(IDS[3]), result=1)], (Status.BAD_REPLY, 200)),
        ([], (Status.BAD_REPLY, 200)),
        ([1, 2, 3, 4], (Status.BAD_REPLY, 200)),
        (b"[" + b"{" * 5000, (Status.BAD_REPLY, 200)),
        (b'["\xff"]', (Status.BAD_REPLY, 200)),
        (b"", (Status.BAD_REPLY, 200)),
    ],
)
def test_replies_that_are_not_one_item_for_each_call(content, expected):
    assert judge(content)[:2] == expected


@pytest.mark.parametrize(
    ("http_status", "retry_after", "expected"),
    [
        (429, False, (Status.RATE_LIMITED, 429)),
        (503, True, (Status.RATE_LIMITED, 503)),
        (500, False, (Status.HTTP_ERROR, 500)),
    ],
)
def test_the_http_status_comes_first(http_status, retry_after, expected):
    assert judge(answers(), http_status, retry_after=retry_after)[:2] == expected


@given(cuts=st.lists(st.integers(0, 400), max_size=5), damage=st.none() | st.tuples(st.integers(0, 150), st.binary()))
@settings(max_examples=200, deadline=None)
def test_any_split_gives_one_judgement_and_no_bytes_raise(cuts, damage):
    body = json.dumps(answers()).encode()
    if damage is not None:
        at, extra = damage
        body = body[:at] + extra + body[at + 1 :]
    streamed = BatchReply(CALL, SIZE)
    at = 0
    for cut in [*sorted(cuts), len(body)]:
        streamed.feed(memoryview(body)[at:cut])
        at = max(at, cut)
    assert streamed.finish(200, False) == judge(body)
