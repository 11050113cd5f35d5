"""Answers that mean the same get one form; answers that do not keep two."""

from __future__ import annotations

import base64
import gzip
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpcbench.protocol import normalise as normalising
from rpcbench.protocol.difference import difference
from rpcbench.protocol.normalise import normalise, not_compared

STATE_UPDATE = {
    "block_hash": "0x5f34",
    "new_root": "0x4e7d",
    "old_root": "0x1615",
    "state_diff": {
        "storage_diffs": [
            {"address": "0x1", "storage_entries": [{"key": "0x2b", "value": "0x2a"}, {"key": "0x2", "value": "0x3"}]},
            {"address": "0x47", "storage_entries": [{"key": "0x5", "value": "0x0"}]},
        ],
        "nonces": [{"contract_address": "0x9", "nonce": "0x1"}, {"contract_address": "0x3", "nonce": "0x2"}],
        "deployed_contracts": [{"address": "0x8", "class_hash": "0x7"}, {"address": "0x6", "class_hash": "0x7"}],
        "declared_classes": [{"class_hash": "0xc", "compiled_class_hash": "0xd"}],
        "deprecated_declared_classes": ["0xe", "0xa"],
        "replaced_classes": [],
    },
}


def same(method: str, one: Any, other: Any) -> bool:
    """Whether the two answers agree."""
    return difference(normalise(method, one), normalise(method, other)) == []


def turned(value: Any) -> Any:
    """The same JSON with every object's members the other way round."""
    if isinstance(value, dict):
        return {key: turned(item) for key, item in reversed(value.items())}
    return [turned(item) for item in value] if isinstance(value, list) else value


def with_lists_reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: with_lists_reversed(item) for key, item in value.items()}
    return [with_lists_reversed(item) for item in reversed(value)] if isinstance(value, list) else value


def gzipped(program: Any, level: int = 9) -> bytes:
    return gzip.compress(json.dumps(program).encode(), level, mtime=0)


def packed(program: Any, level: int = 9) -> str:
    return base64.b64encode(gzipped(program, level)).decode()


def test_the_order_of_keys_does_not_matter() -> None:
    assert same("starknet_getStateUpdate", STATE_UPDATE, turned(STATE_UPDATE))
    assert same("eth_getBlockByNumber", {"a": {"b": "0x1", "c": 2}}, {"a": {"c": 2, "b": "0x1"}})


def test_state_diffs_are_sets() -> None:
    assert same("starknet_getStateUpdate", STATE_UPDATE, with_lists_reversed(STATE_UPDATE))
    traces = [{"trace_root": {"state_diff": STATE_UPDATE["state_diff"]}, "transaction_hash": "0x1"}]
    assert same("starknet_traceBlockTransactions", traces, with_lists_reversed(traces))


def test_a_set_with_another_member_differs_in_that_one_place() -> None:
    other = with_lists_reversed(STATE_UPDATE)
    other["state_diff"]["storage_diffs"][1]["storage_entries"][1]["value"] = "0x2b"
    (found,) = difference(
        normalise("starknet_getStateUpdate", STATE_UPDATE), normalise("starknet_getStateUpdate", other)
    )
    assert found.path == "$.state_diff.storage_diffs[address=0x1].storage_entries[key=0x2b].value"
    assert (found.left, found.right) == ("0x2a", "0x2b")


def test_two_items_of_one_name_are_both_kept() -> None:
    def diff(*values: str) -> Any:
        return {"state_diff": {"nonces": [{"contract_address": "0x1", "nonce": value} for value in values]}}

    assert same("starknet_getStateUpdate", diff("0x1", "0x2"), diff("0x2", "0x1"))
    assert same("starknet_getStateUpdate", diff("0x1", "0x1"), diff("0x1"))
    assert not same("starknet_getStateUpdate", diff("0x1", "0x2"), diff("0x1"))
    assert not same("starknet_getStateUpdate", diff("0x1", "0x2"), diff("0x2"))
    assert not same("starknet_getStateUpdate", diff("0x1", "0x2"), diff("0x1", "0x3"))


def test_an_object_is_not_taken_for_a_set() -> None:
    as_list = {"state_diff": {"deprecated_declared_classes": ["0x1"]}}
    as_object = {"state_diff": {"deprecated_declared_classes": {"0x1": "0x1"}}}
    assert not same("starknet_getStateUpdate", as_list, as_object)


def test_transactions_and_events_keep_their_order() -> None:
    one, other = {"hash": "0x1"}, {"hash": "0x2"}
    assert not same("starknet_getBlockWithTxs", {"transactions": [one, other]}, {"transactions": [other, one]})
    assert not same("starknet_getEvents", {"events": [one, other]}, {"events": [other, one]})
    assert not same("eth_getLogs", [one, other], [other, one])


@pytest.mark.parametrize(
    ("method", "one", "other"),
    [
        ("starknet_getNonce", "0x0a", "0xA"),
        ("starknet_call", ["0x00", "0xABCD"], ["0x0", "0xabcd"]),
        ("starknet_getTransactionReceipt", {"message_hash": "0x00ff"}, {"message_hash": "0xff"}),
        ("starknet_getTransactionReceipt", {"to_address": "0x" + "0" * 30 + "1f"}, {"to_address": "0x1f"}),
        ("eth_getBalance", "0x00", "0x0"),
        ("eth_getStorageAt", "0x" + "0" * 63 + "5", "0x5"),
        ("eth_getBlockByNumber", {"gasUsed": "0x05", "miner": "0xAbCd"}, {"gasUsed": "0x5", "miner": "0xabcd"}),
        ("eth_feeHistory", {"reward": [["0x01"]], "oldestBlock": "0X0A"}, {"reward": [["0x1"]], "oldestBlock": "0xa"}),
    ],
)
def test_hex_is_a_number(method: str, one: Any, other: Any) -> None:
    assert same(method, one, other)


@pytest.mark.parametrize(
    ("method", "one", "other"),
    [
        ("eth_getCode", "0x00ab", "0xab"),
        ("eth_call", "0x", "0x00"),
        ("eth_getTransactionByHash", {"input": "0x0001"}, {"input": "0x01"}),
        ("eth_getLogs", [{"data": "0x00"}], [{"data": "0x"}]),
        ("starknet_getNonce", "0xa", 10),
        ("starknet_getNonce", "0xa", "0xb"),
        ("starknet_getBlockTransactionCount", 1, True),
    ],
)
def test_bytes_types_and_values_count(method: str, one: Any, other: Any) -> None:
    assert not same(method, one, other)


def test_absent_null_and_empty_are_one_where_a_member_is_optional() -> None:
    # As starknet-devnet and Pathfinder answered.
    devnet = {"finality_status": "ACCEPTED_ON_L2", "failure_reason": None, "execution_status": "SUCCEEDED"}
    pathfinder = {"execution_status": "SUCCEEDED", "finality_status": "ACCEPTED_ON_L2"}
    assert same("starknet_getTransactionStatus", devnet, pathfinder)
    newer = {**STATE_UPDATE, "state_diff": {**STATE_UPDATE["state_diff"], "migrated_compiled_classes": []}}  # type: ignore[dict-item]
    assert same("starknet_getStateUpdate", STATE_UPDATE, newer)
    for nothing in (None, "", []):
        assert same("starknet_getClass", {"abi": nothing}, {})
    assert same("eth_getTransactionReceipt", {"contractAddress": None}, {})
    assert same("eth_getTransactionByHash", {"accessList": [], "yParity": "0x00"}, {"yParity": "0x0"})


def test_elsewhere_absent_null_and_empty_are_three_things() -> None:
    assert not same("starknet_getBlockWithTxs", {"parent_hash": None}, {})
    assert not same("starknet_getBlockWithTxs", {"transactions": []}, {})
    assert not same("starknet_getTransactionByHash", {"calldata": []}, {"calldata": None})
    assert not same("eth_getLogs", [], None)
    assert not same("starknet_getStateUpdate", {"state_diff": {"nonces": []}}, {"state_diff": {}})


def test_old_programs_are_unpacked() -> None:
    program = {"data": ["0x01", "0x2"], "identifiers": {"main": {"pc": 0}}, "prime": "0x8"}
    fast, best = packed(program, 1), packed(turned(program), 9)
    assert fast != best
    assert same("starknet_getClass", {"program": fast}, {"program": best})
    assert same("starknet_getClassAt", {"program": fast}, {"program": packed({**program, "data": ["0x1", "0x2"]})})
    assert not same("starknet_getClass", {"program": fast}, {"program": packed({**program, "data": ["0x1"]})})


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("", id="empty"),
        pytest.param("not base64!", id="no base64"),
        pytest.param("eA==", id="no gzip"),
        pytest.param(packed({})[:-8], id="cut off"),
        pytest.param(packed("text"), id="no program"),
        pytest.param(base64.b64encode(gzipped({}) + b"more").decode(), id="more behind it"),
    ],
)
def test_what_cannot_be_unpacked_stays_what_it_is(program: str) -> None:
    assert normalise("starknet_getClass", {"program": program}) == {"program": program}


def test_a_program_that_swells_beyond_all_measure_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(normalising, "MAX_PROGRAM_BYTES", 10_000)
    small, bomb = packed({"data": "x" * 9_000}), packed({"data": "x" * 5_000_000})
    assert len(bomb) < 10_000
    assert normalise("starknet_getClass", {"program": small}) == {"program": {"data": "x" * 9_000}}
    assert normalise("starknet_getClass", {"program": bomb}) == {"program": bomb}


def test_sierra_abis_are_parsed() -> None:
    abi = [{"type": "function", "name": "f", "inputs": [], "state_mutability": "view"}]
    spaced, tight = json.dumps(abi, indent=2), json.dumps(turned(abi), separators=(",", ":"))
    assert same("starknet_getClassAt", {"abi": spaced}, {"abi": tight})
    assert not same("starknet_getClassAt", {"abi": spaced}, {"abi": tight.replace("view", "external")})
    assert normalise("starknet_getClass", {"abi": "not JSON ["}) == {"abi": "not JSON ["}


def test_finality_is_one_class_and_rejection_another() -> None:
    for method, name in (("starknet_getBlockWithTxs", "status"), ("starknet_getTransactionReceipt", "finality_status")):
        assert same(method, {name: "ACCEPTED_ON_L1"}, {name: "ACCEPTED_ON_L2"})
        assert not same(method, {name: "ACCEPTED_ON_L1"}, {name: "PRE_CONFIRMED"})
    assert not same("eth_getTransactionReceipt", {"status": "0x0"}, {"status": "0x1"})


def test_of_reasons_only_their_presence_counts() -> None:
    method = "starknet_getTransactionReceipt"
    assert same(method, {"revert_reason": "Error in contract"}, {"revert_reason": "0x1: failed"})
    assert same(method, {"revert_reason": ""}, {})
    assert not same(method, {"revert_reason": "Error"}, {})
    assert same("debug_traceTransaction", {"error": "execution reverted"}, {"error": "revert"})


def test_resources_that_are_zero_may_be_missing() -> None:
    method = "starknet_getTransactionReceipt"
    explicit = {"execution_resources": {"steps": 5, "pedersen": 0, "data_availability": {"l1_gas": 0}}}
    assert same(method, explicit, {"execution_resources": {"steps": 5}})
    assert not same(method, explicit, {"execution_resources": {"steps": 6}})
    assert same("starknet_traceTransaction", explicit, {"execution_resources": {"steps": 6}})


def test_commitments_of_old_blocks_do_not_count() -> None:
    def block(version: str | None, commitment: str) -> Any:
        return {"starknet_version": version, "event_commitment": commitment, "event_count": 1}

    for old in ("0.13.1.1", "0.9", "", None):
        assert same("starknet_getBlockWithTxHashes", block(old, "0x0"), block(old, "0x77")) is (old is not None)
    assert not same("starknet_getBlockWithTxHashes", block("0.13.2", "0x0"), block("0.13.2", "0x77"))
    assert not same("starknet_getBlockWithTxHashes", block("0.14.1", "0x0"), block("0.14.1", "0x77"))


def test_spec_versions_are_compared_without_their_patch_level() -> None:
    assert same("starknet_specVersion", "0.10.1", "0.10.2")
    assert not same("starknet_specVersion", "0.9.0", "0.10.0")


def test_tokens_are_each_nodes_own() -> None:
    assert same("starknet_getEvents", {"events": [], "continuation_token": "135-3"}, {"events": []})


def test_proofs_are_sets_of_nodes() -> None:
    def node(name: str) -> Any:
        return {"node_hash": name, "node": {"left": "0x1", "right": "0x2"}}

    proof = {
        "classes_proof": [node("0x1"), node("0x2")],
        "contracts_proof": {"nodes": [node("0x3"), node("0x4")], "contract_leaves_data": [{"nonce": "0x0"}]},
        "contracts_storage_proofs": [[node("0x5"), node("0x6")], [node("0x7")]],
        "global_roots": {"block_hash": "0x9"},
    }
    assert same("starknet_getStorageProof", proof, with_lists_reversed(proof))
    assert not same(
        "starknet_getStorageProof", proof, {**proof, "contracts_storage_proofs": [[node("0x5")], [node("0x7")]]}
    )
    two = {"contracts_proof": {"contract_leaves_data": [{"nonce": "0x0"}, {"nonce": "0x1"}]}}
    assert not same("starknet_getStorageProof", two, with_lists_reversed(two))


def test_members_beside_the_specification_do_not_count() -> None:
    # anvil has these three more than geth.
    assert same("eth_getBlockByNumber", {"number": "0x1", "totalDifficulty": "0x0"}, {"number": "0x1"})
    anvil = {"status": "0x1", "blockTimestamp": "0x6", "blobGasPrice": "0x1", "blobGasUsed": "0x0"}
    assert same("eth_getBlockReceipts", [anvil], [{"status": "0x1"}])
    assert not same("eth_getBlockReceipts", [anvil], [{"status": "0x1", "blobGasUsed": "0x20000"}])
    assert not same("eth_getBlockByNumber", {"blobGasUsed": "0x0"}, {})


def test_access_lists_are_sets_only_where_a_node_made_them() -> None:
    def made(*addresses: str) -> Any:
        return {"accessList": [{"address": a, "storageKeys": ["0x1", "0x2"]} for a in addresses]}

    assert same("eth_createAccessList", made("0xa", "0xb"), with_lists_reversed(made("0xa", "0xb")))
    assert not same("eth_getTransactionByHash", made("0xa", "0xb"), made("0xb", "0xa"))


@pytest.mark.parametrize("method", ["starknet_syncing", "eth_blockNumber", "eth_gasPrice", "web3_clientVersion"])
def test_what_a_node_says_of_itself_is_not_compared(method: str) -> None:
    assert not_compared(method)


@pytest.mark.parametrize("method", ["starknet_getBlockWithTxs", "eth_call", "starknet_specVersion", "eth_chainId"])
def test_what_it_says_of_the_chain_is(method: str) -> None:
    assert not_compared(method) is None


def test_a_result_that_is_nested_too_deeply_is_refused() -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    with pytest.raises(RecursionError):
        normalise("eth_call", deep)


TREATED = {name for _, names, _, _ in normalising._TABLE for name in names.split()}
NAMES = sorted(TREATED | {"key", "address", "hash", "starknet_version"})
METHODS = [
    "starknet_getStateUpdate", "starknet_getClass", "starknet_getBlockWithTxs", "starknet_getStorageProof",
    "starknet_getTransactionReceipt", "starknet_traceTransaction", "starknet_specVersion", "eth_getBlockByNumber",
    "eth_getTransactionReceipt", "eth_createAccessList", "eth_feeHistory", "debug_traceTransaction",
]  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 300), st.floats(0, 1),
    st.sampled_from(["", "0x", "0x0", "0x00A", "0xa", "ACCEPTED_ON_L1", "[]", '[{"abi": ""}]', "0.13.1", packed({})]),
)  # fmt: skip
RESULTS = st.recursive(
    SCALARS,
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inside, max_size=5),
    max_leaves=25,
)


@given(st.sampled_from(METHODS), RESULTS)
def test_doing_it_twice_changes_nothing(method: str, result: Any) -> None:
    once = normalise(method, result)
    assert difference(once, normalise(method, once)) == []


@given(st.sampled_from(METHODS), RESULTS, st.randoms(use_true_random=False))
def test_the_order_of_keys_never_matters(method: str, result: Any, rng: random.Random) -> None:
    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: shuffled(value[key]) for key in rng.sample(sorted(value), len(value))}
        return [shuffled(item) for item in value] if isinstance(value, list) else value

    assert difference(normalise(method, result), normalise(method, shuffled(result))) == []


DIFFS = st.fixed_dictionaries(
    {
        name: st.lists(
            st.fixed_dictionaries({key: st.sampled_from(["0x1", "0x02", "0x3"]) for key in keys}), max_size=4
        )
        for name, keys in {
            "nonces": ("contract_address", "nonce"),
            "deployed_contracts": ("address", "class_hash"),
            "replaced_classes": ("contract_address", "class_hash"),
            "storage_entries": ("key", "value"),
        }.items()
    }
)


@given(DIFFS, st.randoms(use_true_random=False))
def test_the_order_of_sets_never_matters(diff: Any, rng: random.Random) -> None:
    shuffled = {name: rng.sample(items, len(items)) for name, items in diff.items()}
    assert same("starknet_getStateUpdate", diff, shuffled)
