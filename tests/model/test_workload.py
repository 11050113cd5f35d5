"""Sharding, and speaking of nodes without their secrets."""

import numpy as np
import pytest

from rpcbench.model.node import Node, public_place
from rpcbench.model.workload import Call, Workload


def workload(requests, concurrency, due=None):
    calls = [Call(i, 0, b"{}") for i in range(10)]
    order = np.arange(requests, dtype=np.int32) % 10
    return Workload(Node("a", "http://x/"), calls, order, due, concurrency, None, 1)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_shards_are_exactly_the_whole(n):
    due = np.arange(17, dtype=np.int64) * 1000
    whole = workload(17, 5, due)
    shards = [whole.shard(k, n) for k in range(n)]
    assert sum(s.concurrency for s in shards) == 5
    assert sorted(np.concatenate([s.due_ns for s in shards]).tolist()) == due.tolist()
    for k, shard in enumerate(shards):
        assert shard.order.tolist() == whole.order.tolist()[k::n]


def test_a_shard_without_a_client_is_refused():
    with pytest.raises(ValueError, match="concurrency 2"):
        workload(17, 2).shard(2, 3)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://localhost:6060/rpc/v0_10", "localhost:6060/rpc/v0_10"),
        ("https://user:hunter2@node.example/v2/0123456789abcdef?key=s3cr3t#frag", "node.example/v2/…"),
        ("https://node.example/starknet/mainnet-key/rpc", "node.example/starknet/…/rpc"),
        ("http://[::1]:8545", "[::1]:8545"),
    ],
)
def test_a_place_shows_no_secret(url, place):
    assert public_place(url) == place


def test_repr_of_a_node_shows_no_secret():
    node = Node("a", "https://u:hunter2@x/KEY123", "wss://x/KEY123", (("Authorization", "Bearer t0k3n"),))
    assert not any(secret in repr(node) for secret in ("hunter2", "KEY123", "t0k3n"))


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:1", True),
        ("http://127.0.0.1:1", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:1", True),
        ("http://10.0.0.1", False),
        ("https://localhost.example.com", False),
    ],
)
def test_only_loopback_is_local(url, local):
    assert Node("a", url).is_local is local
