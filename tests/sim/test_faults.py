"""Every fault switch, set at run time through the admin path, seen from the client and in the node's own counts."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from rpcbench.errors import UsageError
from rpcbench.sim.node import Failure, Faults, SimSpec
from tests.sim.client import STILL, Client, running

NUMBER = "starknet_blockNumber"
BODY = {"jsonrpc": "2.0", "id": 7, "method": NUMBER}
EVERY = 1.0


@pytest.fixture(scope="module")
def shared() -> Iterator[Client]:
    with running(STILL) as client:
        yield client


@pytest.fixture
def faulty(shared: Client) -> Client:
    """One node for the module, healthy again and counting from nought before each test."""
    healthy = Faults()
    shared.node.set(**{name: getattr(healthy, name) for name in Faults.__slots__})
    shared.node.reset_counts()
    return shared


def post(request: Any) -> bytes:
    body = json.dumps(request).encode()
    return b"POST /rpc HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def fail(client: Any, kind: Failure, share: float = EVERY) -> None:
    client.node.set(failures={kind: share})


def test_rpc_errors(faulty: Any) -> None:
    fail(faulty, Failure.RPC_ERROR)
    assert faulty.rpc(NUMBER, id=7) == {
        "jsonrpc": "2.0",
        "error": {"code": -32603, "message": "Internal error"},
        "id": 7,
    }


def test_reverts(faulty: Any) -> None:
    fail(faulty, Failure.REVERTED)
    assert faulty.rpc(NUMBER, id=7)["error"] == {"code": 40, "message": "Contract error"}


@pytest.mark.parametrize(("kind", "status"), [(Failure.HTTP_429, 429), (Failure.HTTP_503, 503)])
def test_refusals_under_load(faulty: Any, kind: Failure, status: int) -> None:
    fail(faulty, kind)
    answer = faulty.send(BODY)
    assert answer.status == status
    assert answer.headers["retry-after"] == "1"
    assert answer.headers["content-type"].startswith("text/plain")


def test_a_web_page(faulty: Any) -> None:
    fail(faulty, Failure.HTML)
    answer = faulty.send(BODY)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html")
    assert b"<html>" in answer.body


def test_an_empty_reply(faulty: Any) -> None:
    fail(faulty, Failure.EMPTY)
    assert (faulty.send(BODY).status, faulty.send(BODY).body) == (200, b"")


def test_json_cut_in_half(faulty: Any) -> None:
    whole = faulty.send(BODY).body
    fail(faulty, Failure.CUT_JSON)
    assert faulty.send(BODY).body == whole[: len(whole) // 2]


def test_a_truncated_body(faulty: Any) -> None:
    fail(faulty, Failure.TRUNCATED)
    with pytest.raises(http.client.IncompleteRead) as caught:
        faulty.send(BODY)
    assert caught.value.partial
    assert caught.value.expected


def test_a_reset_connection(faulty: Any) -> None:
    fail(faulty, Failure.RESET)
    with faulty.connected() as connection:
        connection.sendall(post(BODY))
        with pytest.raises(ConnectionResetError):
            connection.recv(1)


def test_silence(faulty: Any) -> None:
    fail(faulty, Failure.SILENT)
    with faulty.connected() as connection:
        connection.settimeout(0.3)
        connection.sendall(post(BODY))
        with pytest.raises(TimeoutError):
            connection.recv(1)
        faulty.node.set(failures={})
        connection.sendall(post(BODY))  # the connection is still taken
        with pytest.raises(TimeoutError):
            connection.recv(1)


def test_a_wrong_id(faulty: Any) -> None:
    fail(faulty, Failure.WRONG_ID)
    assert faulty.rpc(NUMBER, id=7) == {"jsonrpc": "2.0", "result": 40, "id": 8}


def test_null_results(faulty: Any) -> None:
    fail(faulty, Failure.NULL_RESULT)
    assert faulty.rpc(NUMBER) == {"jsonrpc": "2.0", "result": None, "id": 1}


def test_a_constant_reply_to_differing_requests(faulty: Any) -> None:
    fail(faulty, Failure.CONSTANT)
    replies = [faulty.rpc("starknet_getBlockWithTxs", [{"block_number": n}], id=n) for n in range(4)]
    assert [reply["id"] for reply in replies] == list(range(4))
    assert [reply["result"]["block_number"] for reply in replies] == [0] * 4


def test_a_share_of_failures_is_counted_where_it_happens(faulty: Any) -> None:
    faulty.node.set(failures={Failure.RPC_ERROR: 0.3, Failure.NULL_RESULT: 0.2})
    replies = [faulty.rpc(NUMBER) for _ in range(200)]
    errors = sum("error" in reply for reply in replies)
    nulls = sum(reply.get("result", 0) is None for reply in replies)
    assert faulty.node.stats()["failures"] == {"rpc_error": errors, "null_result": nulls}
    assert 35 < errors < 90
    assert 18 < nulls < 66


def test_failures_of_some_methods_only(faulty: Any) -> None:
    faulty.node.set(failures={Failure.RPC_ERROR: EVERY}, methods=["starknet_chainId"])
    assert "error" in faulty.rpc("starknet_chainId")
    assert "result" in faulty.rpc(NUMBER)


def test_a_frozen_head_and_a_lagging_one(node: Any) -> None:
    client = node(block_interval_s=0.1, epoch_unix_s=int(time.time()))
    client.node.set(freeze_head=True)
    frozen = client.result(NUMBER)
    time.sleep(0.35)
    assert client.result(NUMBER) == frozen
    assert client.error("starknet_getBlockTransactionCount", [{"block_number": frozen + 1}])["code"] == 24
    client.node.set(lag_blocks=20)
    assert client.result(NUMBER) == frozen - 20
    client.node.set(freeze_head=False, lag_blocks=0)
    assert client.result(NUMBER) > frozen + 2


@pytest.mark.parametrize(
    ("personality", "method", "chain_id"), [("juno", "starknet_chainId", "0x534e"), ("geth", "eth_chainId", "0x1")]
)
def test_another_chain_id(node: Any, personality: str, method: str, chain_id: str) -> None:
    client = node(personality=personality)
    before = client.result(method)
    client.node.set(chain_id=chain_id)
    assert client.result(method) == chain_id != before


def test_another_genesis(faulty: Any) -> None:
    before = faulty.result("starknet_getBlockWithTxHashes", [{"block_number": 3}])
    faulty.node.set(other_genesis=True)
    after = faulty.result("starknet_getBlockWithTxHashes", [{"block_number": 3}])
    assert after["block_hash"] != before["block_hash"]
    assert after["timestamp"] == before["timestamp"]
    assert faulty.error("starknet_getBlockWithTxHashes", [{"block_hash": before["block_hash"]}])["code"] == 24


def test_another_specification_only(faulty: Any) -> None:
    faulty.node.set(spec_versions=["0.8"])
    assert faulty.result("starknet_specVersion", path="/") == "0.8.1"
    assert faulty.send(BODY, "/rpc/v0_10").status == 404


@pytest.mark.parametrize(
    ("personality", "method", "current", "highest"),
    [
        ("juno", "starknet_syncing", "current_block_num", "highest_block_num"),
        ("geth", "eth_syncing", "currentBlock", "highestBlock"),
    ],
)
def test_syncing(node: Any, personality: str, method: str, current: str, highest: str) -> None:
    client = node(personality=personality)
    client.node.set(syncing=True)
    sync = client.result(method)
    assert int(str(sync[current]), 0) < int(str(sync[highest]), 0)


def test_a_required_header(faulty: Any) -> None:
    faulty.node.set(required_header=["X-Api-Key", "sesame"])
    assert faulty.send(BODY).status == 401
    assert faulty.send(BODY, X_Api_Key="wrong").status == 401
    assert faulty.send(BODY, x_api_key="sesame").json["result"] == 40
    assert faulty.node.stats()["requests"] == 1


def test_extra_delay(faulty: Any) -> None:
    faulty.node.set(delay_ms=80)
    started = time.perf_counter()
    faulty.rpc(NUMBER)
    assert 0.08 <= time.perf_counter() - started < 0.5


def test_headers_of_a_cache(faulty: Any) -> None:
    faulty.node.set(reply_headers={"CF-Cache-Status": "HIT", "Age": "3"})
    headers = faulty.send(BODY).headers
    assert (headers["cf-cache-status"], headers["age"]) == ("HIT", "3")
    faulty.node.set(reply_headers={})
    assert "age" not in faulty.send(BODY).headers


BLOCK = "starknet_getBlockWithTxs"


def block(client: Any) -> Any:
    return client.result(BLOCK, {"block_id": {"block_number": 7}})


def test_results_without_what_was_in_them(faulty: Any) -> None:
    assert block(faulty)
    fail(faulty, Failure.EMPTY_RESULT)
    assert block(faulty) == {}
    assert faulty.result("starknet_getEvents", {"filter": {"chunk_size": 5}}) == {"events": []}
    assert faulty.result(NUMBER) == 40  # a number cannot be empty


def test_a_result_with_one_value_changed(faulty: Any) -> None:
    whole = block(faulty)
    fail(faulty, Failure.ALTERED)
    changed = block(faulty)
    (name,) = [key for key in whole if whole[key] != changed[key]]
    assert changed[name] == whole[name].replace("0x", "0x1")


def test_a_result_with_blanks_in_it(faulty: Any) -> None:
    def ask() -> Any:
        return faulty.send({**BODY, "method": BLOCK, "params": {"block_id": {"block_number": 7}}})

    whole = ask()
    fail(faulty, Failure.PADDED)
    padded = ask()
    assert padded.json == whole.json
    assert 2.5 < len(padded.body) / len(whole.body) < 3.0


def test_the_process_ends_after_so_many_requests(node: Any) -> None:
    client = node(faults=Faults(stop_after=3))
    assert [client.result(NUMBER) for _ in range(3)] == [40] * 3
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        client.rpc(NUMBER)
    deadline = time.monotonic() + 3
    while client.node.alive and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not client.node.alive
    with pytest.raises(ConnectionError):
        client.rpc(NUMBER)


def test_counts_can_be_checked_against_a_clients_books(faulty: Any) -> None:
    for identity in (1, 2, 2, 5):
        faulty.rpc(NUMBER, id=identity)
    faulty.send([{**BODY, "id": 6}, {**BODY, "id": 6, "method": "starknet_chainId"}])
    faulty.send(b"{")
    stats = faulty.node.stats(ids=True)
    assert stats["requests"] == 6
    assert stats["by_method"] == {NUMBER: 5, "starknet_chainId": 1}
    assert dict(stats["ids"]) == {1: 1, 2: 2, 5: 1, 6: 2}
    assert stats["distinct_ids"] == 4
    assert (stats["http_requests"], stats["malformed"], stats["connections"]) == (6, 1, 7)
    assert stats["cpu_s"] > 0
    assert "ids" not in faulty.node.stats()


def test_faults_can_be_given_from_the_start(node: Any) -> None:
    client = node(faults=Faults(failures={Failure.NULL_RESULT: EVERY}, required_header=("X-Key", "s")))
    assert client.send(BODY).status == 401
    assert client.send(BODY, X_Key="s").json["result"] is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"no_such_fault": 1},
        {"failures": {"sulk": 1}},
        {"failures": {"reset": 0.7, "html": 0.7}},
        {"delay_ms": -1},
        {"delay_ms": "long"},
        {"spec_versions": ["0.3"]},
    ],
)
def test_wrong_faults_are_refused_and_change_nothing(faulty: Any, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        faulty.node.set(**wrong)
    assert faulty.result(NUMBER) == 40


@pytest.mark.parametrize(
    "wrong", [{"personality": "erigon"}, {"workers": 0}, {"delay_ms": -1}, {"block_interval_s": 0}]
)
def test_a_spec_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        SimSpec(**{"personality": "juno", **wrong})
