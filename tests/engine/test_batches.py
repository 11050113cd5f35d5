"""Batches through every engine: one body, one row, the class of the worst item."""

import json
from dataclasses import replace

import pytest

from rpcbench.model.samples import Status
from tests.engine.conftest import ignore, make_workload


def results(exchange, pick=lambda items: items):
    """An answer to each call of the batch, chosen and ordered by `pick`."""
    items = [{"jsonrpc": "2.0", "id": one["id"], "result": one["params"]} for one in json.loads(exchange.body)]
    return json.dumps(pick(items)).encode()


def error(items):
    return {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "batch requests are disabled"}}


@pytest.mark.parametrize(
    ("pick", "expected"),
    [
        (lambda items: items, (Status.OK, 0)),
        (lambda items: items[::-1], (Status.OK, 0)),
        (lambda items: items[1:], (Status.BAD_REPLY, 200)),
        (lambda items: [*items, items[0]], (Status.BAD_REPLY, 200)),
        (lambda items: [{"id": items[0]["id"], "error": {"code": -32600}}], (Status.RPC_ERROR, -32600)),
        (error, (Status.RPC_ERROR, -32600)),
        (lambda items: [*items[1:], {"id": items[0]["id"], "result": None}], (Status.NULL_RESULT, 0)),
    ],
    ids=["in order", "backwards", "partial", "twice", "one element", "disabled", "one null"],
)
def test_the_row_of_a_batch(kind, pick, expected):
    with kind.server(lambda x: x.send(x.wire(results(x, pick)))) as server:
        samples = kind.send(server.url, 3, batch=10)
        assert server.counts == {1000: 1, 1001: 1, 1002: 1}
    assert [(row["status"], row["code"]) for row in samples.rows] == [expected] * 3


def test_order_of_the_items_changes_no_digest_and_pieces_no_judgement(kind):
    def behave(exchange):
        data = exchange.wire(results(exchange, lambda items: items[:: 1 if exchange.nth % 2 else -1]))
        exchange.send(data[:200])
        exchange.send(data[200:])

    with kind.server(behave) as server:
        digests = [kind.send(server.url, 2, batch=10).rows["digest"].tolist() for _ in range(2)]
    assert digests[0] == digests[1]
    assert digests[0][0] != digests[0][1]


def test_batches_and_single_calls_in_one_workload(kind):
    def behave(exchange):
        exchange.send(exchange.wire(results(exchange) if exchange.body[:1] == b"[" else exchange.result()))

    with kind.server(behave) as server:
        workload = make_workload(server.url, 4, batch=5)
        singles = make_workload(server.url, 8).calls
        mixed = replace(workload, calls=[*workload.calls, *singles[4:]], order=make_workload("http://h", 8).order)
        rows = kind.engine.run(mixed, ignore).rows
    assert rows["status"].tolist() == [Status.OK] * 8
    assert rows["call"].tolist() == list(range(1000, 1008))
