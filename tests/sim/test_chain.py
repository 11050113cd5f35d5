"""The synthetic chains: what they are made of, how they grow, and that equal specs make equal chains."""

from __future__ import annotations

import json
import re
import statistics
import time
from dataclasses import replace
from typing import Any

import pytest

from rpcbench.sim.chain import Growth, Hashes
from rpcbench.sim.ethereum_chain import EthereumChain
from rpcbench.sim.starknet_chain import StarknetChain
from tests.sim.client import EPOCH_S, STILL, running

GROWTH = Growth(1_800_000_000, 400, 2.0)


@pytest.mark.parametrize(
    ("after_s", "head"), [(-100, 399), (-0.1, 399), (0, 400), (1.9, 400), (2.0, 401), (7_200, 4_000)]
)
def test_a_chain_grows_by_a_block_each_interval(after_s: float, head: int) -> None:
    assert GROWTH.head(1_800_000_000 + after_s) == head


def test_the_newest_block_is_as_old_as_the_clock_says() -> None:
    for now in (1_800_000_000, 1_800_000_123, 1_800_009_999):
        assert now - 2 < GROWTH.timestamp(GROWTH.head(now)) <= now


def test_a_hash_tells_what_it_is_the_hash_of() -> None:
    hashes, others = Hashes(b"a", 251), Hashes(b"b", 251)
    values = [hashes.of(n) for n in range(2_000)]
    assert len(set(values)) == 2_000
    assert [hashes.number(value) for value in values] == list(range(2_000))
    assert all(value < 2**251 for value in values)
    assert {others.number(value) for value in values} == {None}
    assert hashes.number(2**300) is None


def felts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [felt for inner in value.values() for felt in felts(inner)]
    if isinstance(value, list):
        return [felt for inner in value for felt in felts(inner)]
    return [value] if isinstance(value, str) and value.startswith("0x") else []


def test_starknet_blocks_have_realistic_sizes_and_shapes() -> None:
    chain = StarknetChain(1, GROWTH)
    blocks = [chain.block(n) for n in range(60)]
    sizes = [len(json.dumps([block.header, block.hashes, block.bodies])) for block in blocks]
    assert min(sizes) > 5_000
    assert max(sizes) < 90_000
    assert 20_000 < statistics.median(sizes) < 60_000
    counts = [len(block.bodies) for block in blocks]
    assert min(counts) >= 5
    assert max(counts) <= 40
    assert 4 < sum(len(block.events) for block in blocks) / sum(counts) < 6
    kinds = {(body["type"], body["version"]) for block in blocks for body in block.bodies}
    assert kinds == {
        ("INVOKE", "0x3"),
        ("INVOKE", "0x1"),
        ("DECLARE", "0x3"),
        ("DEPLOY_ACCOUNT", "0x3"),
        ("L1_HANDLER", "0x0"),
    }
    assert {r["execution_status"] for block in blocks for r in block.receipts} == {"SUCCEEDED", "REVERTED"}


def test_felts_have_no_leading_zeros() -> None:
    chain = StarknetChain(1, GROWTH)
    for block in map(chain.block, range(20)):
        messages = {r.get("message_hash") for r in block.receipts}
        found = set(felts([block.header, block.hashes, block.bodies, block.receipts])) - messages
        assert all(re.fullmatch(r"0x(0|[1-9a-f][0-9a-f]{0,62})", felt) for felt in found)


def test_events_concern_few_contracts_and_known_keys() -> None:
    chain = StarknetChain(1, GROWTH)
    events = [event for n in range(20) for event in chain.block(n).events]
    assert 5 < len({event.address for event in events}) < 12
    assert {key for event in events for key in event.keys} <= chain.event_felts
    assert {event.address for event in events} <= chain.addresses


@pytest.mark.parametrize("kind", [StarknetChain, EthereumChain])
def test_equal_seed_and_epoch_make_equal_chains(kind: Any) -> None:
    one, same = kind(1, GROWTH), kind(1, GROWTH)
    assert [one.block(n) for n in (9, 3)] == [same.block(n) for n in (9, 3)]
    others = [kind(2, GROWTH), kind(1, replace(GROWTH, epoch_unix_s=1)), kind(1, GROWTH, other_genesis=True)]
    assert len({chain.block_hash(3) for chain in [one, *others]}) == 4


def test_forgotten_blocks_are_made_again_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rpcbench.sim.starknet_chain._KEPT_BLOCKS", 4)
    chain = StarknetChain(1, GROWTH)
    first = chain.block(0)
    assert chain.block(0) is first
    for number in range(1, 5):
        chain.block(number)
    assert chain.block(0) is not first
    assert chain.block(0) == first


@pytest.mark.parametrize("personality", ["juno", "geth"])
def test_two_processes_grow_the_same_chain(personality: str) -> None:
    spec = replace(STILL, personality=personality, epoch_unix_s=EPOCH_S - 10, block_interval_s=0.25)
    starknet = personality == "juno"
    method, field = ("starknet_getBlockWithTxs", "block_hash") if starknet else ("eth_getBlockByNumber", "hash")
    with running(spec) as one, running(spec) as other:
        seen = []
        deadline = time.monotonic() + 5
        while len(seen) < 3 and time.monotonic() < deadline:
            head = one.node.stats()["head"]
            if head in seen:
                time.sleep(0.05)
                continue
            seen.append(head)
            params = [{"block_number": head - 1}] if starknet else [hex(head - 1), True]
            mine, theirs = one.result(method, params), other.result(method, params)
            assert mine == theirs
            assert mine[field]
            age_s = time.time() - (mine["timestamp"] if starknet else int(mine["timestamp"], 16))
            assert -1 < age_s < 3
        assert len(seen) == 3
        assert abs(one.node.stats()["head"] - other.node.stats()["head"]) <= 1


def test_answers_about_the_head_follow_it() -> None:
    with running(replace(STILL, epoch_unix_s=int(time.time()), block_interval_s=0.1)) as client:
        numbers = set()
        for _ in range(4):
            latest = client.result("starknet_getBlockWithTxHashes", ["latest"])["block_number"]
            assert abs(client.result("starknet_blockNumber") - latest) <= 1
            numbers.add(latest)
            time.sleep(0.11)
        assert len(numbers) == 4
        open_end = {"filter": {"from_block": {"block_number": max(numbers)}, "chunk_size": 1000}}
        events = client.result("starknet_getEvents", open_end)["events"]
        future = {"block_number": max(numbers) + 4}
        assert client.error("starknet_getBlockTransactionCount", [future])["code"] == 24
        time.sleep(0.6)
        assert client.result("starknet_getBlockTransactionCount", [future]) >= 5
        assert len(client.result("starknet_getEvents", open_end)["events"]) > len(events)
