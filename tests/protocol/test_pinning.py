"""Moving blocks made fixed ones, whether they are written out or implied."""

from __future__ import annotations

from typing import Any

import pytest

from rpcbench.model.scenario import Chain
from rpcbench.protocol.pinning import Pinned, pin

AT_50 = {"block_number": 50}


def starknet(method: str, params: Any) -> Pinned:
    return pin(Chain.STARKNET, f"starknet_{method}", params, 50)


def ethereum(method: str, params: Any) -> Pinned:
    return pin(Chain.ETHEREUM, method, params, 50)


@pytest.mark.parametrize("tag", ["latest", "l1_accepted"])
def test_tags_become_heights_by_name_and_by_position(tag: str) -> None:
    assert starknet("getBlockWithTxs", {"block_id": tag}) == Pinned({"block_id": AT_50}, moving=False)
    assert starknet("getBlockWithTxs", [tag]) == Pinned([AT_50], moving=False)
    assert starknet("getStorageAt", ["0x1", "0x2", tag]).params == ["0x1", "0x2", AT_50]
    assert starknet("getNonce", [tag, "0x1"]).params == [AT_50, "0x1"]


@pytest.mark.parametrize("tag", ["latest", "safe", "finalized"])
def test_ethereum_heights_are_quantities(tag: str) -> None:
    assert ethereum("eth_getBlockByNumber", [tag, False]) == Pinned(["0x32", False], moving=False)
    assert ethereum("eth_feeHistory", ["0x4", tag, [25]]).params == ["0x4", "0x32", [25]]
    assert ethereum("eth_getBlockReceipts", [tag]).params == ["0x32"]


def test_fixed_blocks_stay_what_they_are() -> None:
    for block in ({"block_number": 7}, {"block_hash": "0x5"}):
        assert starknet("getBlockWithTxs", {"block_id": block}) == Pinned({"block_id": block}, moving=False)
    for params in (["0x7", False], ["earliest", False]):
        assert ethereum("eth_getBlockByNumber", params) == Pinned(params, moving=False)
    assert ethereum("eth_getBalance", ["0x" + "1" * 40, {"blockNumber": "0x7"}]).params[1] == {"blockNumber": "0x7"}
    assert starknet("chainId", []) == Pinned([], moving=False)


def test_pending_blocks_cannot_be_fixed() -> None:
    assert starknet("getBlockWithTxs", {"block_id": "pre_confirmed"}).moving
    assert starknet("getBlockWithTxs", {"block_id": "pending"}).moving
    assert ethereum("eth_getBlockByNumber", ["pending", True]).moving
    assert ethereum("eth_getLogs", [{"fromBlock": "0x1", "toBlock": "pending"}]).moving


def test_a_call_without_its_block_is_one_at_the_latest() -> None:
    call = {"to": "0x" + "1" * 40}
    assert ethereum("eth_call", [call]).params == [call, "0x32"]
    assert ethereum("eth_call", [call, "latest"]).params == [call, "0x32"]
    assert ethereum("eth_call", [call, "0x1"]).params == [call, "0x1"]
    assert ethereum("trace_call", [call, ["trace"]]).params == [call, ["trace"], "0x32"]


def test_filters_reach_no_further_than_the_height() -> None:
    assert starknet("getEvents", {"filter": {"chunk_size": 5}}).params == {
        "filter": {"to_block": AT_50, "chunk_size": 5}
    }
    at_latest = {"from_block": "latest", "to_block": "latest", "chunk_size": 5}
    assert starknet("getEvents", [at_latest]).params == [{"from_block": AT_50, "to_block": AT_50, "chunk_size": 5}]
    fixed = {"from_block": {"block_number": 1}, "to_block": {"block_number": 2}, "chunk_size": 5}
    assert starknet("getEvents", {"filter": fixed}).params == {"filter": fixed}


def test_logs_without_a_range_are_those_of_the_latest_block() -> None:
    assert ethereum("eth_getLogs", [{}]).params == [{"fromBlock": "0x32", "toBlock": "0x32"}]
    assert ethereum("eth_getLogs", [{"fromBlock": "0x1"}]).params == [{"fromBlock": "0x1", "toBlock": "0x32"}]
    by_hash = {"blockHash": "0x" + "a" * 64}
    assert ethereum("eth_getLogs", [by_hash]).params == [by_hash]
    assert ethereum("trace_filter", [{"count": 5}]).params == [{"count": 5, "toBlock": "0x32"}]


def test_proofs_are_asked_at_the_head_or_not_at_all() -> None:
    assert starknet("getStorageProof", {"block_id": "latest"}) == Pinned({"block_id": "latest"}, moving=True)
    assert not starknet("getStorageProof", {"block_id": AT_50}).moving


@pytest.mark.parametrize("params", [[{"fromBlock": 1, "chunk_size": 5}], {"filter": {}}, "latest", None, 5])
def test_what_does_not_fit_the_specification_is_sent_as_it_is(params: Any) -> None:
    assert starknet("getEvents", params).params == params


def test_unknown_methods_are_sent_as_they_are() -> None:
    assert starknet("newThing", ["latest"]) == Pinned(["latest"], moving=True)
    assert starknet("newThing", [{"at": 5}]) == Pinned([{"at": 5}], moving=False)
