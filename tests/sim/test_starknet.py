"""What the two Starknet personalities answer: alike in content, each in its own manner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

BLOCK = {"block_id": {"block_number": 7}}
TRANSFER = "0x99cd8bde557814842a3121e8ddfd433a539b8c9f14bf31ebf108d12e6196e9"
STRK = "0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d"
SELECTOR = "0x2e4263afad30923c891518314c3c95dbe830a16874e8abc5777a9a20b54c76e"


def ordered(value: Any) -> Any:
    """The value with the arrays of a state diff sorted, since nodes give them in any order."""
    if not isinstance(value, dict) or "state_diff" not in value:
        return value

    def in_order(inner: Any) -> Any:
        if isinstance(inner, dict):
            return {key: in_order(inner[key]) for key in sorted(inner)}
        return sorted(map(in_order, inner), key=repr) if isinstance(inner, list) else inner

    return in_order(value)


def key_orders(value: Any) -> list[list[str]]:
    if isinstance(value, dict):
        return [list(value), *[order for inner in value.values() for order in key_orders(inner)]]
    return [order for inner in value for order in key_orders(inner)] if isinstance(value, list) else []


def first_transaction(juno: Any) -> dict[str, str]:
    return {"transaction_hash": juno.result("starknet_getBlockWithTxHashes", BLOCK)["transactions"][0]}


def questions(juno: Any) -> list[tuple[str, dict[str, Any]]]:
    """Every method once, by name, about things that exist."""
    tx = first_transaction(juno)
    sender = juno.result("starknet_getTransactionByHash", tx).get("sender_address", STRK)
    span = {"from_block": BLOCK["block_id"], "to_block": BLOCK["block_id"]}
    return [
        ("starknet_chainId", {}),
        ("starknet_blockNumber", {}),
        ("starknet_blockHashAndNumber", {}),
        ("starknet_syncing", {}),
        ("starknet_getBlockWithTxHashes", BLOCK),
        ("starknet_getBlockWithTxs", BLOCK),
        ("starknet_getBlockWithReceipts", BLOCK),
        ("starknet_getBlockTransactionCount", BLOCK),
        ("starknet_getStateUpdate", BLOCK),
        ("starknet_getTransactionByHash", tx),
        ("starknet_getTransactionByBlockIdAndIndex", {**BLOCK, "index": 0}),
        ("starknet_getTransactionReceipt", tx),
        ("starknet_getTransactionStatus", tx),
        ("starknet_getNonce", {**BLOCK, "contract_address": sender}),
        ("starknet_getClassHashAt", {**BLOCK, "contract_address": STRK}),
        ("starknet_getStorageAt", {"contract_address": STRK, "key": "0x5", **BLOCK}),
        (
            "starknet_call",
            {"request": {"contract_address": STRK, "entry_point_selector": SELECTOR, "calldata": ["0x1"]}, **BLOCK},
        ),
        ("starknet_getEvents", {"filter": {**span, "chunk_size": 1000}}),
    ]


@pytest.mark.parametrize("path", ["/rpc/v0_8", "/rpc/v0_9", "/rpc/v0_10"])
def test_both_give_the_same_results_on_every_version(juno: Any, pathfinder: Any, path: str) -> None:
    for method, params in questions(juno):
        mine = ordered(juno.result(method, params, path))
        assert mine == ordered(pathfinder.result(method, params, path)), method
        assert mine or mine is False, method


def test_healthy_nodes_are_not_syncing(juno: Any, pathfinder: Any) -> None:
    assert juno.result("starknet_syncing") is False
    assert pathfinder.result("starknet_syncing") is False


def test_positional_parameters_in_the_specifications_order_mean_the_same(juno: Any, pathfinder: Any) -> None:
    for method, params in questions(juno):
        for client in (juno, pathfinder):
            named, positional = (client.result(method, given) for given in (params, list(params.values())))
            assert ordered(named) == ordered(positional), method


def test_pathfinder_sorts_its_keys_and_juno_keeps_the_order_of_structs(juno: Any, pathfinder: Any) -> None:
    orders = key_orders(pathfinder.rpc("starknet_getBlockWithReceipts", BLOCK))
    assert all(order == sorted(order) for order in orders)
    reply = juno.rpc("starknet_getBlockWithReceipts", BLOCK)
    assert list(reply) == ["jsonrpc", "result", "id"]
    assert list(reply["result"])[:3] == ["status", "block_hash", "parent_hash"]


def test_a_state_updates_arrays_come_in_another_order_each_time(juno: Any) -> None:
    updates = [juno.result("starknet_getStateUpdate", BLOCK) for _ in range(5)]
    assert len({repr(update) for update in updates}) > 1
    assert len({repr(ordered(update)) for update in updates}) == 1


def test_the_versions_differ_where_the_specification_does(juno: Any) -> None:
    by_version = {v: f"/rpc/v0_{v}" for v in (8, 9, 10)}
    specs = [juno.result("starknet_specVersion", path=path) for path in by_version.values()]
    assert specs == ["0.8.1", "0.9.0", "0.10.2"]
    headers = {v: juno.result("starknet_getBlockWithTxHashes", BLOCK, path) for v, path in by_version.items()}
    assert "event_commitment" in headers[10]
    assert "event_commitment" not in headers[9]
    page = {"filter": {"chunk_size": 1}}
    events = {v: juno.result("starknet_getEvents", page, path)["events"][0] for v, path in by_version.items()}
    assert events[10].keys() - events[9].keys() == {"transaction_index", "event_index"}


@pytest.mark.parametrize(
    ("personality", "path", "spec"),
    [
        ("juno", "/", "0.10.2"),
        ("juno", "/rpc", "0.10.2"),
        ("juno", "/v0_8", "0.8.1"),
        ("juno", "/rpc/v0_8", "0.8.1"),
        ("juno", "/v0_10", "0.10.2"),
        ("pathfinder", "/", "0.8.1"),
        ("pathfinder", "/rpc/v0_9", "0.9.0"),
        ("pathfinder", "/rpc/v0_10", "0.10.2"),
    ],
)
def test_each_path_serves_its_version(by_name: dict[str, Any], personality: str, path: str, spec: str) -> None:
    assert by_name[personality].result("starknet_specVersion", path=path) == spec


@pytest.mark.parametrize(
    ("personality", "path"), [("juno", "/rpc/v0_7"), ("juno", "/rpc/"), ("pathfinder", "/v0_8"), ("geth", "/rpc")]
)
def test_other_paths_are_not_found(by_name: dict[str, Any], personality: str, path: str) -> None:
    assert by_name[personality].send({}, path).status == 404


def test_nodes_say_that_they_are_simulated(by_name: dict[str, Any]) -> None:
    versions = [
        by_name["juno"].result("juno_version"),
        by_name["pathfinder"].result("pathfinder_version"),
        by_name["pathfinder"].result("pathfinder_version", path="/rpc/pathfinder/v0_1"),
        by_name["geth"].result("web3_clientVersion"),
    ]
    assert all("rpcbench-sim" in version for version in versions)
    assert by_name["pathfinder"].error("starknet_blockNumber", path="/rpc/pathfinder/v0_1")["code"] == -32601
    assert by_name["juno"].error("pathfinder_version") == {"code": -32601, "message": "Method Not Found"}


def article(first: int, last: int) -> dict[str, int]:
    return {"fromBlock": first, "toBlock": last, "page_size": 1000, "page_number": 0, "chunk_size": 10}


@pytest.mark.parametrize("wrap", [lambda f: [f], lambda f: {"filter": f}], ids=["positional", "named"])
def test_the_articles_request_is_an_error_on_one_and_a_constant_on_the_other(
    juno: Any, pathfinder: Any, wrap: Callable[[Any], Any]
) -> None:
    requests = [wrap(article(n, n + 9)) for n in (0, 5, 20, 451_104)]
    pages = [juno.result("starknet_getEvents", params) for params in requests]
    assert all(page == pages[0] for page in pages)
    assert len(pages[0]["events"]) == 10
    assert {event["block_number"] for event in pages[0]["events"]} == {0}
    reason = 'unexpected fields: "fromBlock", "page_number", "page_size", "toBlock" for "filter"'
    refused = {"code": -32602, "message": "Invalid params", "data": {"reason": reason}}
    assert [pathfinder.error("starknet_getEvents", params) for params in requests] == [refused] * 4


@pytest.mark.parametrize("personality", ["juno", "pathfinder"])
@pytest.mark.parametrize(
    "narrow", [{}, {"address": STRK}, {"keys": [[TRANSFER]]}, {"address": [STRK, "0x5"], "keys": [[], [], []]}]
)
def test_pages_follow_one_another_to_the_end(by_name: dict[str, Any], personality: str, narrow: dict[str, Any]) -> None:
    client = by_name[personality]
    wanted = {"from_block": {"block_number": 3}, "to_block": {"block_number": 6}, **narrow}
    whole = client.result("starknet_getEvents", {"filter": {**wanted, "chunk_size": 1024}})
    assert "continuation_token" not in whole
    paged, token = [], {}
    while True:
        page = client.result("starknet_getEvents", {"filter": {**wanted, "chunk_size": 7, **token}})
        paged += page["events"]
        if "continuation_token" not in page:
            break
        assert len(page["events"]) == 7
        token = {"continuation_token": page["continuation_token"]}
    assert paged == whole["events"]
    assert len(paged) > 7
    for event in paged:
        assert 3 <= event["block_number"] <= 6
        assert narrow.get("address") is None or event["from_address"] == STRK
        assert narrow.get("keys") != [[TRANSFER]] or event["keys"][0] == TRANSFER


def test_filtered_events_are_those_of_the_receipts(juno: Any) -> None:
    block = juno.result("starknet_getBlockWithReceipts", BLOCK)
    expected = [
        (entry["receipt"]["transaction_hash"], event["keys"], event["data"])
        for entry in block["transactions"]
        for event in entry["receipt"]["events"]
        if event["from_address"] == STRK
    ]
    span = {"from_block": BLOCK["block_id"], "to_block": BLOCK["block_id"], "address": STRK, "chunk_size": 1000}
    events = juno.result("starknet_getEvents", {"filter": span})["events"]
    assert [(e["transaction_hash"], e["keys"], e["data"]) for e in events] == expected
    assert expected


def test_a_token_means_something_else_on_each_node(juno: Any, pathfinder: Any) -> None:
    page = {"filter": {"address": STRK, "chunk_size": 3}}
    walked, matched = (c.result("starknet_getEvents", page)["continuation_token"] for c in (juno, pathfinder))
    assert matched == "0-3"
    assert int(walked.removeprefix("0-")) > 3


def test_the_largest_page_is_ten_times_as_large_on_juno(juno: Any, pathfinder: Any) -> None:
    assert len(pathfinder.result("starknet_getEvents", {"filter": {"chunk_size": 1024}})["events"]) == 1024
    assert len(juno.result("starknet_getEvents", {"filter": {"chunk_size": 10240}})["events"]) > 1024


def test_what_no_event_can_match_is_an_empty_page(juno: Any) -> None:
    for narrow in ({"address": "0xdead"}, {"keys": [["0xdead"]]}, {"from_block": {"block_number": 9_999_999}}):
        assert juno.result("starknet_getEvents", {"filter": {**narrow, "chunk_size": 5}}) == {"events": []}


STRICT, LENIENT = "pathfinder", "juno"
EVENTS = "starknet_getEvents"


@pytest.mark.parametrize(
    ("personality", "method", "params", "expected"),
    [
        (STRICT, EVENTS, {"filter": {}}, {"data": {"reason": 'missing field: "chunk_size"'}, "code": -32602}),
        (STRICT, EVENTS, article(1, 2), {"data": {"reason": 'missing field: "filter"'}, "code": -32602}),
        (STRICT, EVENTS, {"filter": {"chunk_size": 1025}}, {"message": "Requested page size is too big", "code": 31}),
        (
            STRICT,
            EVENTS,
            {"filter": {"chunk_size": 0}},
            {"data": {"error": "requested page size is too small, supported minimum is 1"}, "code": -32603},
        ),
        (
            STRICT,
            EVENTS,
            {"filter": {"chunk_size": 2, "continuation_token": "zzz"}},
            {"message": "The supplied continuation token is invalid or unknown", "code": 33},
        ),
        (
            STRICT,
            EVENTS,
            {"filter": {"chunk_size": 2, "keys": [[]] * 17}},
            {"data": {"limit": 16, "requested": 17}, "code": 34},
        ),
        (STRICT, "starknet_blockNumber", ["x"], {"data": {"reason": "This method takes no inputs"}, "code": -32602}),
        (STRICT, "starknet_getBlockWithTxHashes", ["zzz"], {"data": {"reason": "Invalid block id"}, "code": -32602}),
        (STRICT, "starknet_getBlockWithTxHashes", ["pending"], {"data": {"reason": "Invalid block id"}}),
        (STRICT, "starknet_getBlockWithTxHashes", {**BLOCK, "x": 1}, {"data": {"reason": 'unexpected field: "x"'}}),
        (LENIENT, EVENTS, {"filter": {"chunk_size": 10241}}, {"message": "Requested page size is too big", "code": 31}),
        (LENIENT, EVENTS, {"filter": {}}, {"message": "Invalid Params", "code": -32602}),
        (
            LENIENT,
            EVENTS,
            {"filter": {"chunk_size": 2, "continuation_token": "zzz"}},
            {"message": "Invalid continuation token", "code": 33},
        ),
        (LENIENT, EVENTS, {"filter": {"chunk_size": 2, "keys": [["0x1"] * 1024]}}, {"code": 34}),
        (LENIENT, "starknet_getBlockWithTxHashes", {**BLOCK, "x": 1}, {"data": "unexpected params: x"}),
        (LENIENT, "starknet_blockNumber", 5, {"message": "Invalid Request", "code": -32600}),
    ],
)
def test_each_complains_in_its_own_words(
    by_name: dict[str, Any], personality: str, method: str, params: Any, expected: dict[str, Any]
) -> None:
    error = by_name[personality].error(method, params)
    assert {key: error.get(key) for key in expected} == expected


@pytest.mark.parametrize("personality", ["juno", "pathfinder"])
@pytest.mark.parametrize(
    ("method", "params", "code", "message"),
    [
        ("starknet_getBlockWithTxs", [{"block_number": 99_999_999}], 24, "Block not found"),
        ("starknet_getBlockWithTxs", [{"block_hash": "0x123"}], 24, "Block not found"),
        ("starknet_getTransactionReceipt", ["0x123"], 29, "Transaction hash not found"),
        ("starknet_getTransactionByBlockIdAndIndex", ["latest", 999], 27, "Invalid transaction index in a block"),
        ("starknet_getNonce", ["latest", "0x1"], 20, "Contract not found"),
        (
            "starknet_call",
            [{"contract_address": STRK, "entry_point_selector": "0x1", "calldata": []}, "latest"],
            21,
            "Requested entry point does not exist in the contract",
        ),
    ],
)
def test_what_is_not_there_is_the_specifications_error(
    by_name: dict[str, Any], personality: str, method: str, params: Any, code: int, message: str
) -> None:
    assert by_name[personality].error(method, params) == {"code": code, "message": message}


def test_tags_depend_on_version_and_node(juno: Any, pathfinder: Any) -> None:
    def works(client: Any, tag: str, version: int) -> bool:
        return "result" in client.rpc("starknet_getBlockWithTxHashes", [tag], path=f"/rpc/v0_{version}")

    answers = {
        tag: [works(client, tag, v) for client in (juno, pathfinder) for v in (8, 10)]
        for tag in ("latest", "pending", "pre_confirmed", "l1_accepted")
    }
    assert answers == {
        "latest": [True, True, True, True],
        "pending": [True, False, True, False],
        "pre_confirmed": [False, True, False, True],
        "l1_accepted": [False, True, True, True],
    }


def test_a_block_is_found_by_its_hash_and_refers_to_its_parent(juno: Any) -> None:
    block = juno.result("starknet_getBlockWithTxHashes", BLOCK)
    by_hash = juno.result("starknet_getBlockWithTxHashes", [{"block_hash": block["block_hash"]}])
    parent = juno.result("starknet_getBlockWithTxHashes", [{"block_hash": block["parent_hash"]}])
    assert by_hash == block
    assert parent["block_number"] == block["block_number"] - 1
