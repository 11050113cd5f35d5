"""Odd requests: ids, notifications, batches, malformed JSON; Pathfinder's and geth's words are recorded ones."""

from __future__ import annotations

from typing import Any

import pytest

NUMBER = {"juno": "starknet_blockNumber", "pathfinder": "starknet_blockNumber", "geth": "eth_blockNumber"}
HEAD = {"juno": "40", "pathfinder": "40", "geth": '"0x28"'}


@pytest.mark.parametrize(
    ("personality", "body", "expected"),
    [
        ("pathfinder", '{"jsonrpc":"2.0","id":1,"method":"$"}', '{"id":1,"jsonrpc":"2.0","result":40}'),
        ("pathfinder", '{"jsonrpc":"2.0","id":"abc","method":"$"}', '{"id":"abc","jsonrpc":"2.0","result":40}'),
        ("pathfinder", '{"jsonrpc":"2.0","id":null,"method":"$"}', '{"id":null,"jsonrpc":"2.0","result":40}'),
        ("pathfinder", '{"jsonrpc":"2.0","id":1,"method":"$","params":{}}', '{"id":1,"jsonrpc":"2.0","result":40}'),
        (
            "pathfinder",
            '{"jsonrpc":"1.0","id":1,"method":"$"}',
            '{"error":{"code":-32600,"data":{"reason":"Jsonrpc version must be 2.0"},"message":"Invalid request"},'
            '"id":null,"jsonrpc":"2.0"}',
        ),
        (
            "pathfinder",
            '{"jsonrpc":',
            '{"error":{"code":-32700,"data":{"reason":"EOF while parsing a value at line 1 column 11"},'
            '"message":"Parse error"},"id":null,"jsonrpc":"2.0"}',
        ),
        (
            "pathfinder",
            "",
            '{"error":{"code":-32700,"data":{"reason":"EOF while parsing a value at line 1 column 0"},'
            '"message":"Parse error"},"id":null,"jsonrpc":"2.0"}',
        ),
        (
            "pathfinder",
            "hello",
            '{"error":{"code":-32700,"data":{"reason":"expected value at line 1 column 1"},'
            '"message":"Parse error"},"id":null,"jsonrpc":"2.0"}',
        ),
        (
            "pathfinder",
            "[]",
            '{"error":{"code":-32600,"data":{"reason":"A batch request must contain at least one request"},'
            '"message":"Invalid request"},"id":null,"jsonrpc":"2.0"}',
        ),
        ("geth", '{"jsonrpc":"2.0","id":1.5,"method":"$"}', '{"jsonrpc":"2.0","id":1.5,"result":"0x28"}'),
        ("geth", '{"jsonrpc":"2.0","id":null,"method":"$"}', '{"jsonrpc":"2.0","id":null,"result":"0x28"}'),
        (
            "geth",
            '{"jsonrpc":"1.0","id":1,"method":"$"}',
            '{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"invalid request"}}',
        ),
        ("geth", "hello", '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}'),
        ("geth", "", ""),
        ("geth", "[]", '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"empty batch"}}'),
        ("juno", '{"jsonrpc":"2.0","id":"abc","method":"$"}', '{"jsonrpc":"2.0","result":40,"id":"abc"}'),
        ("juno", '{"jsonrpc":"2.0","id":null,"method":"$"}', ""),
        (
            "juno",
            '{"jsonrpc":"2.0","id":1.0,"method":"$"}',
            '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request",'
            '"data":"id should be a string or an integer"},"id":null}',
        ),
        (
            "juno",
            "[]",
            '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request","data":"empty batch"},"id":null}',
        ),
    ],
)
def test_odd_requests(by_name: dict[str, Any], personality: str, body: str, expected: str) -> None:
    answer = by_name[personality].send(body.replace("$", NUMBER[personality]).encode())
    assert answer.status == 200
    assert answer.body.decode() == expected


@pytest.mark.parametrize("personality", ["juno", "pathfinder"])
@pytest.mark.parametrize("identity", ["1.5", "true", "[1]", "{}"])
def test_other_ids_are_invalid(by_name: dict[str, Any], personality: str, identity: str) -> None:
    body = f'{{"jsonrpc":"2.0","id":{identity},"method":"starknet_blockNumber"}}'.encode()
    reply = by_name[personality].send(body).json
    assert (reply["error"]["code"], reply["id"]) == (-32600, None)


@pytest.mark.parametrize("hostile", [b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', b"[" * 50_000, b'{"id":"\\ud800"}'])
def test_hostile_bodies_are_answered_too(by_name: dict[str, Any], hostile: bytes) -> None:
    for client in by_name.values():
        assert client.send(hostile).json["error"]["code"] in (-32700, -32600)


@pytest.mark.parametrize(("personality", "executed"), [("juno", 1), ("pathfinder", 0), ("geth", 1)])
def test_a_notification_has_no_reply(node: Any, personality: str, executed: int) -> None:
    client = node(personality=personality)
    answer = client.send({"jsonrpc": "2.0", "method": NUMBER[personality]})
    stats = client.node.stats()
    assert (answer.status, answer.body) == (200, b"")
    assert (stats["notifications"], stats["requests"]) == (1, executed)


def batch(method: str, count: int) -> list[dict[str, Any]]:
    return [{"jsonrpc": "2.0", "id": i, "method": method, "params": []} for i in range(count)]


@pytest.mark.parametrize("personality", ["juno", "pathfinder", "geth"])
def test_a_batch_has_one_reply_for_each_request_with_an_id(by_name: dict[str, Any], personality: str) -> None:
    requests = batch(NUMBER[personality], 5)
    replies = by_name[personality].send([*requests, {"jsonrpc": "2.0", "method": NUMBER[personality]}]).json
    assert sorted(reply["id"] for reply in replies) == list(range(5))
    assert all(str(reply["result"]) == HEAD[personality].strip('"') for reply in replies)


def test_juno_replies_to_a_batch_as_items_complete_and_pathfinder_in_order(node: Any) -> None:
    orders = {}
    for personality in ("juno", "pathfinder"):
        replies = node(personality=personality, pace=0.1).send(batch(NUMBER[personality], 20)).json
        orders[personality] = [reply["id"] for reply in replies]
    assert orders["pathfinder"] == list(range(20))
    assert orders["juno"] != list(range(20))
    assert sorted(orders["juno"]) == list(range(20))
