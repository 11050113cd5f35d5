"""What the catalogue accepts, what it refuses, and the sentence it says."""

from typing import Any

import pytest

from rpcbench.model.scenario import Chain
from rpcbench.protocol.catalogue import check_call, methods, writes

STARKNET, ETHEREUM = Chain.STARKNET, Chain.ETHEREUM
HASH = "0x" + "ab" * 32
ADDRESS = "0x" + "cd" * 20
BLOCK = {"block_number": 5}
ARTICLE = {"fromBlock": 3, "toBlock": 90, "page_size": 1000, "page_number": 0, "chunk_size": 10}

GOOD: list[tuple[Chain, str, Any]] = [
    (STARKNET, "starknet_blockNumber", []),
    (STARKNET, "starknet_blockNumber", {}),
    (STARKNET, "starknet_blockNumber", None),
    (STARKNET, "starknet_getBlockWithTxs", {"block_id": BLOCK}),
    (STARKNET, "starknet_getBlockWithTxs", [{"block_hash": "0x1a"}]),
    (STARKNET, "starknet_getBlockWithTxs", ["pre_confirmed", ["INCLUDE_PROOF_FACTS"]]),
    (STARKNET, "starknet_getNonce", ["latest", "0x1"]),
    (STARKNET, "starknet_getStorageAt", {"contract_address": "0x1", "key": "0x0", "block_id": "l1_accepted"}),
    (STARKNET, "starknet_getTransactionByBlockIdAndIndex", {"block_id": BLOCK, "index": 0}),
    (STARKNET, "starknet_getEvents", [{"chunk_size": 1024}]),
    (
        STARKNET,
        "starknet_getEvents",
        {
            "filter": {
                "from_block": BLOCK,
                "to_block": "latest",
                "address": ["0x1"],
                "keys": [["0x9"], []],
                "chunk_size": 1,
            }
        },
    ),
    (
        STARKNET,
        "starknet_call",
        [{"contract_address": "0x1", "entry_point_selector": "0x2", "calldata": ["0x3"]}, "latest"],
    ),
    (
        STARKNET,
        "starknet_getStorageProof",
        {"block_id": "latest", "contracts_storage_keys": [{"contract_address": "0x1", "storage_keys": ["0x2"]}]},
    ),
    (ETHEREUM, "eth_blockNumber", []),
    (ETHEREUM, "eth_getBlockByNumber", ["0x0", False]),
    (ETHEREUM, "eth_getBlockByNumber", ["finalized", True]),
    (ETHEREUM, "eth_getBlockReceipts", [HASH]),
    (ETHEREUM, "eth_getBalance", [ADDRESS, {"blockHash": HASH, "requireCanonical": False}]),
    (ETHEREUM, "eth_getStorageAt", [ADDRESS, "0x00", "latest"]),
    (ETHEREUM, "eth_getLogs", [{"fromBlock": "0x1", "toBlock": "0x4", "address": [ADDRESS], "topics": [None, [HASH]]}]),
    (ETHEREUM, "eth_getLogs", [{"blockHash": HASH}]),
    (ETHEREUM, "eth_call", [{"to": ADDRESS, "data": "0x"}, "latest"]),
    (ETHEREUM, "eth_feeHistory", ["0x4", "latest", [25, 75.5]]),
    (ETHEREUM, "debug_traceTransaction", [HASH, {"tracer": "callTracer"}]),
]

BAD: list[tuple[Chain, str, Any, tuple[str | int, ...], str]] = [
    # forms of a Starknet block
    (STARKNET, "starknet_getBlockWithTxs", [5], (0,), "bare number; write {block_number: 5}"),
    (STARKNET, "starknet_getBlockWithTxs", ["0x5"], (0,), 'write {block_hash: "0x5"}'),
    (STARKNET, "starknet_getBlockWithTxs", ["newest"], (0,), '"newest"; write'),
    (STARKNET, "starknet_getBlockWithTxs", [{"block_number": "0x5"}], (0, "block_number"), "not hex"),
    (STARKNET, "starknet_getBlockWithTxs", [{"block_number": -1}], (0, "block_number"), "whole number from 0"),
    (STARKNET, "starknet_getBlockWithTxs", [{"block_number": True}], (0, "block_number"), "whole number"),
    (STARKNET, "starknet_getBlockWithTxs", [BLOCK | {"block_hash": "0x1"}], (0,), "latest"),
    (STARKNET, "starknet_getBlockWithTxs", [{"block_hash": 26}], (0, "block_hash"), 'write "0x1a", with the quotes'),
    # the shape of all parameters
    (STARKNET, "starknet_getBlockWithTxs", [], (), "has 0 parameters; starknet_getBlockWithTxs takes `block_id`"),
    (STARKNET, "starknet_blockNumber", ["x"], (), "has 1 parameter; starknet_blockNumber takes no parameters"),
    (STARKNET, "starknet_getBlockWithTxs", {"blockId": BLOCK}, ("blockId",), "did you mean `block_id`?"),
    (STARKNET, "starknet_getNonce", {"block_id": "latest"}, (), "`contract_address` is missing"),
    (STARKNET, "starknet_blockNumber", 3, (), "is 3; write a list or a mapping"),
    (
        ETHEREUM,
        "eth_getBlockByNumber",
        {"block": "0x1"},
        (),
        "a list, in this order: `block`, `full_transactions`",
    ),
    (ETHEREUM, "eth_getBlockByNumber", ["0x1"], (), "has 1 parameter"),
    # event filter
    (STARKNET, "starknet_getEvents", {"filter": {}}, ("filter",), "`chunk_size` is missing"),
    (STARKNET, "starknet_getEvents", [{"chunk_size": 0}], (0, "chunk_size"), "from 1 to 1024"),
    (STARKNET, "starknet_getEvents", [{"chunk_size": 1025}], (0, "chunk_size"), "from 1 to 1024"),
    (STARKNET, "starknet_getEvents", [{"chunk_size": "10"}], (0, "chunk_size"), "whole number"),
    (STARKNET, "starknet_getEvents", [{"chunk_size": 9, "keys": ["0x1"]}], (0, "keys", 0), "list of field elements"),
    (STARKNET, "starknet_getEvents", [{"chunk_size": 9, "keys": [[]] * 17}], (0, "keys"), "17 items; nodes take 16"),
    (STARKNET, "starknet_getEvents", [{"chunk_size": 9, "continuation_token": 5}], (0, "continuation_token"), "text"),
    (
        STARKNET,
        "starknet_getEvents",
        [{"from_block": {"block_number": 9}, "to_block": BLOCK, "chunk_size": 9}],
        (0, "to_block"),
        "block 5, below `from_block` 9",
    ),
    # Ethereum values
    (ETHEREUM, "eth_getBlockByNumber", [27, True], (0,), 'write "0x1b", with the quotes'),
    (ETHEREUM, "eth_getBlockByNumber", ["0x01", True], (0,), "without leading zeros"),
    (ETHEREUM, "eth_getBlockByNumber", ["newest", True], (0,), "or a tag (latest"),
    (ETHEREUM, "eth_getBlockByNumber", ["0x1", "yes"], (1,), "write true or false"),
    (ETHEREUM, "eth_getBalance", ["0x1", "latest"], (0,), "40 hex digits"),
    (ETHEREUM, "eth_getBalance", [ADDRESS, {"blockHash": HASH, "blockNumber": "0x1"}], (1,), "either"),
    (ETHEREUM, "eth_getBlockByHash", ["0xab", False], (0,), "64 hex digits"),
    (ETHEREUM, "eth_call", [{"to": ADDRESS, "data": "0x123"}, "latest"], (0, "data"), "two hex digits"),
    (ETHEREUM, "eth_feeHistory", ["0x4", "latest", [75, 25]], (2,), "rising list"),
    # log filter
    (ETHEREUM, "eth_getLogs", [{"from_block": "0x1"}], (0, "from_block"), "did you mean `fromBlock`?"),
    (ETHEREUM, "eth_getLogs", [{"blockHash": HASH, "toBlock": "0x1"}], (0, "blockHash"), "excludes `fromBlock`"),
    (ETHEREUM, "eth_getLogs", [{"fromBlock": "0x9", "toBlock": "0x5"}], (0, "toBlock"), "below `fromBlock` 9"),
    (ETHEREUM, "eth_getLogs", [{"topics": [None] * 5}], (0, "topics"), "5 items; nodes take 4"),
    (ETHEREUM, "eth_getLogs", [{"topics": ["0x1"]}], (0, "topics", 0), "64 hex digits"),
]


@pytest.mark.parametrize(("chain", "method", "params"), GOOD)
def test_fitting_calls_pass(chain: Chain, method: str, params: Any) -> None:
    assert check_call(chain, method, params) == []


@pytest.mark.parametrize(("chain", "method", "params", "path", "words"), BAD)
def test_a_misfit_is_found_where_it_is(
    chain: Chain, method: str, params: Any, path: tuple[str | int, ...], words: str
) -> None:
    problems = check_call(chain, method, params)
    assert any(p.path == path and words in p.message for p in problems), problems


@pytest.mark.parametrize("params", [[ARTICLE], {"filter": ARTICLE}])
def test_every_wrong_name_of_the_article_is_named(params: Any) -> None:
    messages = {p.path[-1]: p.message for p in check_call(STARKNET, "starknet_getEvents", params)}
    assert set(messages) == {"fromBlock", "toBlock", "page_size", "page_number"}
    assert messages["fromBlock"] == "unknown field `fromBlock`; did you mean `from_block`?"
    assert messages["toBlock"] == "unknown field `toBlock`; did you mean `to_block`?"
    assert "`chunk_size` and `continuation_token`" in messages["page_number"]


@pytest.mark.parametrize(
    ("chain", "method", "words"),
    [
        (STARKNET, "starknet_getBlockwithtxs", "did you mean `starknet_getBlockWithTxs`?"),
        (STARKNET, "getEvents", "did you mean `starknet_getEvents`?"),
        (ETHEREUM, "eth_getLog", "did you mean `eth_getLogs`?"),
        (STARKNET, "eth_getLogs", "belongs to ethereum; this scenario says `chain: starknet`"),
        (ETHEREUM, "starknet_getEvents", "belongs to starknet"),
        (STARKNET, "starknet_subscribeNewHeads", "needs a WebSocket"),
        (ETHEREUM, "zzz", "is no method of ethereum that rpcbench knows; known are for instance"),
    ],
)
def test_an_unknown_method_brings_a_hint(chain: Chain, method: str, words: str) -> None:
    (problem,) = check_call(chain, method, [])
    assert problem.path == ()
    assert words in problem.message


@pytest.mark.parametrize(
    "method",
    [
        *("eth_sendRawTransaction", "eth_sendTransaction", "personal_sendTransaction", "starknet_addInvokeTransaction"),
        *("admin_addPeer", "miner_start", "debug_setHead", "devnet_mint", "anvil_mine", "hardhat_reset", "evm_mine"),
    ],
)
def test_methods_that_change_something_are_marked(method: str) -> None:
    assert writes(method)


@pytest.mark.parametrize(
    "method", ["katana_setNextBlockTimestamp", "eth_sendBundle", "eth_submitWork", "txpool_clear", "dev_generateBlock"]
)
def test_methods_that_are_not_known_are_marked_by_their_verb(method: str) -> None:
    assert method not in methods(STARKNET).keys() | methods(ETHEREUM).keys()
    assert writes(method)


@pytest.mark.parametrize("method", ["eth_createAccessList", "erigon_getHeaderByNumber", "bor_setting", "x_addresses"])
def test_neither_a_known_reader_nor_a_longer_word_is_marked(method: str) -> None:
    assert not writes(method)


@pytest.mark.parametrize("method", ["eth_getLogs", "debug_traceTransaction", "starknet_getEvents", "txpool_status"])
def test_methods_that_only_read_are_not_marked(method: str) -> None:
    assert not writes(method)


@pytest.mark.parametrize("chain", list(Chain))
def test_required_parameters_precede_optional_ones(chain: Chain) -> None:
    for method in methods(chain).values():
        required = [param.required for param in method.params]
        assert required == sorted(required, reverse=True), method.name
        assert method.writes == writes(method.name)
