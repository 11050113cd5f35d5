"""The pairs of nodes are what the other tests take them for, and the quiet questions get real answers."""

import pytest

from tests.real.compared import rpcbench
from tests.real.nodes import BLOCKS, Node

pytestmark = pytest.mark.timeout(60)


def ethereum_hashes(node: Node) -> list[str]:
    head = int(node.ask("eth_blockNumber"), 16)
    return [node.ask("eth_getBlockByNumber", [hex(number), False])["hash"] for number in range(head + 1)]


def starknet_hashes(node: Node) -> list[str]:
    return [
        node.ask("starknet_getBlockWithTxHashes", {"block_id": {"block_number": number}})["block_hash"]
        for number in range(node.ask("starknet_blockNumber") + 1)
    ]


@pytest.mark.parametrize("name", ["anvil", "geth"])
def test_an_ethereum_pair_has_one_chain_with_a_log_in_each_block(name, request):
    pair = request.getfixturevalue(name)
    hashes = ethereum_hashes(pair.base)
    assert len(set(hashes)) == len(hashes) > BLOCKS
    assert ethereum_hashes(pair.other) == hashes
    everything = [{"fromBlock": "0x0", "toBlock": hex(len(hashes) - 1)}]
    assert len(pair.base.ask("eth_getLogs", everything)) == BLOCKS - 1
    assert pair.base.port != pair.other.port


def test_a_starknet_pair_has_one_chain_with_events_in_each_block(devnet):
    hashes = starknet_hashes(devnet.base)
    assert len(set(hashes)) == len(hashes) > BLOCKS
    assert starknet_hashes(devnet.other) == hashes
    everything = {"from_block": {"block_number": 0}, "to_block": {"block_number": BLOCKS}, "chunk_size": 1000}
    events = devnet.base.ask("starknet_getEvents", {"filter": everything})["events"]
    assert {event["block_number"] for event in events} == set(range(1, BLOCKS + 1))
    assert devnet.base.port != devnet.other.port


@pytest.mark.parametrize(
    ("name", "expected"), [("anvil", "anvil/v"), ("geth", "Geth/v"), ("devnet", "spec 0.10")], ids=str
)
def test_check_says_who_they_are(name, expected, request, home):
    pair = request.getfixturevalue(name)
    said = rpcbench("check", pair.base.url, f"twin={pair.other.url}", "--max-lag", 0, home=home)
    assert said.code == 0, said.err
    assert (said.out + said.err).count(expected) >= 2


def test_nodes_of_two_chains_are_not_compared(anvil, geth, home):
    said = rpcbench("check", f"one={anvil.base.url}", f"two={geth.base.url}", home=home)
    assert said.code == 4
    assert "name nodes of one chain" in " ".join(said.err.split())


def test_nodes_of_two_protocols_are_not_compared(anvil, devnet, home):
    said = rpcbench("compare", f"one={devnet.base.url}", f"two={anvil.base.url}", "-s", "mixed", home=home)
    assert said.code == 4
    assert "two" in said.err
    assert "Ethereum" in said.err
    assert not (home / "results").exists()
