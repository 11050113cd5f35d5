"""What the Ethereum personality answers, compared with what a real geth does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

QUANTITIES = {"blockNumber", "number", "gas", "gasUsed", "gasPrice", "nonce", "value", "timestamp", "logIndex", "v"}
BEYOND_HEAD = "block range extends beyond current head block"


def quantities(value: Any, *, in_header: bool) -> Iterator[str]:
    """Every value that is a number; a header's nonce is data."""
    if isinstance(value, list):
        for inner in value:
            yield from quantities(inner, in_header=False)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key in QUANTITIES and not (in_header and key == "nonce"):
                yield inner
            elif isinstance(inner, list):
                yield from quantities(inner, in_header=False)


def test_block_receipts_and_logs_tell_one_story(geth: Any) -> None:
    block = geth.result("eth_getBlockByNumber", ["0x5", True])
    receipts = geth.result("eth_getBlockReceipts", ["0x5"])
    logs = geth.result("eth_getLogs", [{"fromBlock": "0x5", "toBlock": "0x5"}])
    assert [r["transactionHash"] for r in receipts] == [t["hash"] for t in block["transactions"]]
    assert [log for receipt in receipts for log in receipt["logs"]] == logs
    assert logs == geth.result("eth_getLogs", [{"blockHash": block["hash"]}])
    assert [int(log["logIndex"], 16) for log in logs] == list(range(len(logs)))
    assert block == geth.result("eth_getBlockByHash", [block["hash"], True])
    hashes = geth.result("eth_getBlockByNumber", ["0x5", False])["transactions"]
    assert hashes == [t["hash"] for t in block["transactions"]]
    assert block["parentHash"] == geth.result("eth_getBlockByNumber", ["0x4", False])["hash"]


def test_one_transaction_is_that_of_its_block(geth: Any) -> None:
    transaction = geth.result("eth_getBlockByNumber", ["0x6", True])["transactions"][2]
    receipt = geth.result("eth_getBlockReceipts", ["0x6"])[2]
    assert geth.result("eth_getTransactionByHash", [transaction["hash"]]) == transaction
    assert geth.result("eth_getTransactionReceipt", [transaction["hash"]]) == receipt


def test_quantities_are_minimal(geth: Any) -> None:
    block = geth.result("eth_getBlockByNumber", ["0x5", True])
    receipts = geth.result("eth_getBlockReceipts", ["0x5"])
    numbers = [*quantities(block, in_header=True), *quantities(receipts, in_header=False)]
    assert len(numbers) > 50
    assert all(re.fullmatch(r"0x(0|[1-9a-f][0-9a-f]*)", number) for number in numbers)


def test_logs_are_filtered_by_address_and_topics(geth: Any) -> None:
    span = {"fromBlock": "0x3", "toBlock": "0x8"}
    logs = geth.result("eth_getLogs", [span])
    address, topics = logs[0]["address"], logs[0]["topics"]

    def expected(keep: Any) -> list[Any]:
        return [log for log in logs if keep(log)]

    narrowed = {
        "address": geth.result("eth_getLogs", [{**span, "address": address}]),
        "any of": geth.result("eth_getLogs", [{**span, "topics": [[topics[0], "0x" + "1" * 64]]}]),
        "by position": geth.result("eth_getLogs", [{**span, "topics": [None, topics[1]]}]),
    }
    assert narrowed["address"] == expected(lambda log: log["address"] == address)
    assert narrowed["any of"] == expected(lambda log: log["topics"][0] == topics[0])
    assert narrowed["by position"] == expected(lambda log: log["topics"][1] == topics[1])
    assert all(0 < len(found) < len(logs) for found in narrowed.values())
    assert geth.result("eth_getLogs", [{**span, "address": "0x" + "1" * 40}]) == []


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("eth_getBlockByNumber", ["0xffffff", False]),
        ("eth_getBlockByHash", ["0x" + "12" * 32, False]),
        ("eth_getBlockReceipts", ["0xffffff"]),
        ("eth_getTransactionByHash", ["0x" + "12" * 32]),
        ("eth_getTransactionReceipt", ["0x" + "12" * 32]),
    ],
)
def test_what_is_not_there_is_null(geth: Any, method: str, params: list[Any]) -> None:
    assert geth.rpc(method, params) == {"jsonrpc": "2.0", "id": 1, "result": None}


@pytest.mark.parametrize(
    ("method", "params", "code", "message"),
    [
        (
            "eth_getLogs",
            [{"fromBlock": "0x2", "toBlock": "0xffffff"}],
            -32602,
            BEYOND_HEAD,
        ),
        ("eth_getLogs", [{"fromBlock": "0x2", "toBlock": "0x0"}], -32602, "invalid block range params"),
        ("eth_blockNumber", ["x"], -32602, "too many arguments, want at most 0"),
        ("eth_getBlockByNumber", ["zzz", False], -32602, "invalid argument 0: hex string without 0x prefix"),
        ("eth_getBlockByNumber", ["0x05", False], -32602, "invalid argument 0: hex number with leading zero digits"),
        ("eth_getBlockByNumber", ["0x5"], -32602, "missing value for required argument 1"),
        ("eth_getBlockByNumber", {"number": "0x5"}, -32602, "non-array args"),
        ("eth_getBalance", ["0x" + "1" * 40, "0xffffff"], -32000, "header not found"),
        ("rpcbench_no", [], -32601, "the method rpcbench_no does not exist/is not available"),
    ],
)
def test_errors_are_geths(geth: Any, method: str, params: Any, code: int, message: str) -> None:
    assert geth.error(method, params) == {"code": code, "message": message}


def test_state_belongs_to_accounts_and_contracts(geth: Any) -> None:
    transaction = geth.result("eth_getBlockByNumber", ["0x6", True])["transactions"][0]
    sender, contract, nobody = transaction["from"], transaction["to"], "0x" + "0" * 39 + "1"
    assert int(geth.result("eth_getBalance", [sender, "latest"]), 16) > 10**18
    assert geth.result("eth_getTransactionCount", [sender, "0x6"]) == "0x7"
    assert len(geth.result("eth_getCode", [contract, "latest"])) > 1000
    assert len(geth.result("eth_call", [{"to": contract, "data": "0x70a08231"}, "0x6"])) == 66
    assert geth.result("eth_getStorageAt", [contract, "0x0", "latest"]) != "0x" + "0" * 64
    assert geth.result("eth_getCode", [nobody, "latest"]) == "0x"
    assert geth.result("eth_call", [{"to": nobody, "data": "0x"}, "latest"]) == "0x"
    assert geth.result("eth_getBalance", [nobody, "latest"]) == "0x0"
    assert geth.result("eth_getStorageAt", [nobody, "0x0", "latest"]) == "0x" + "0" * 64


def test_fee_history_has_one_entry_more_than_blocks(geth: Any) -> None:
    history = geth.result("eth_feeHistory", ["0x4", "latest", [25, 75]])
    assert [len(history[key]) for key in ("baseFeePerGas", "gasUsedRatio", "reward")] == [5, 4, 4]
    newest = geth.result("eth_getBlockByNumber", ["latest", False])
    assert history["baseFeePerGas"][-2] == newest["baseFeePerGas"]
    assert int(history["oldestBlock"], 16) == int(newest["number"], 16) - 3


def test_small_facts(geth: Any) -> None:
    assert geth.result("net_version") == str(int(geth.result("eth_chainId"), 16))
    assert geth.result("eth_syncing") is False
    assert int(geth.result("eth_gasPrice"), 16) > 0
    assert geth.result("eth_blockNumber") == geth.result("eth_getBlockByNumber", ["latest", False])["number"]
