"""How long replies are held: exactly the delay that was asked for, a law per method, and a queue when it gets busy."""

from __future__ import annotations

import asyncio
import json
import statistics
import threading
import time
from time import monotonic_ns
from typing import Any

import pytest

from rpcbench.sim.holds import Holds, Workers
from rpcbench.sim.laws import Laws


def post(method: str) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method}).encode()
    return b"POST /rpc/v0_10 HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def times_ms(connection: Any, count: int) -> list[float]:
    request = post("starknet_chainId")
    taken = []
    for _ in range(count):
        started = time.perf_counter()
        connection.sendall(request)
        connection.recv(4096)
        taken.append((time.perf_counter() - started) * 1e3)
    return taken


def test_two_milliseconds_are_two_milliseconds(node: Any) -> None:
    client = node()
    held: list[float] = []
    at_once: list[float] = []
    with client.connected() as connection:
        for _ in range(8):
            client.node.set(delay_ms=2)
            held += times_ms(connection, 60)
            client.node.set(delay_ms=0)
            at_once += times_ms(connection, 60)
    assert min(held) >= 2.0
    assert abs(statistics.median(held) - statistics.median(at_once) - 2.0) < 0.3
    assert client.node.stats()["lateness_us"]["p50"] < 300


def test_nothing_is_let_go_before_its_time() -> None:
    late_ns: list[int] = []

    async def hold() -> None:
        holds = Holds(asyncio.get_running_loop())
        start_ns = monotonic_ns()
        for i in range(400):
            deadline_ns = start_ns + 1_000_000 + i * 50_003 % 20_000_000
            holds.until(deadline_ns, lambda due_ns=deadline_ns: late_ns.append(monotonic_ns() - due_ns))
        await asyncio.sleep(0.05)
        assert holds.lateness_us()["max"] >= holds.lateness_us()["p50"]
        holds.close()

    asyncio.run(hold())
    assert len(late_ns) == 400
    assert min(late_ns) >= 0


def test_the_nodes_differ_in_blocks_and_hardly_in_events() -> None:
    def median_ms(personality: str, method: str, reply_bytes: int) -> float:
        laws = Laws(personality, seed=1, pace=1)
        return statistics.median(laws.service_ns(method, reply_bytes) for _ in range(4_000)) / 1e6

    def ratio(method: str, reply_bytes: int) -> float:
        return median_ms("pathfinder", method, reply_bytes) / median_ms("juno", method, reply_bytes)

    assert 1.3 < ratio("starknet_getBlockWithTxs", 35_000) < 1.5
    assert 0.85 < ratio("starknet_getEvents", 6_000) < 1.0
    assert 1.5 < median_ms("juno", "starknet_getBlockWithTxs", 35_000) < 3


def test_laws_are_seeded_grow_with_the_reply_and_scale() -> None:
    def draws(seed: int, pace: float, reply_bytes: int = 1_000) -> list[int]:
        laws = Laws("juno", seed, pace)
        return [laws.service_ns("starknet_getEvents", reply_bytes) for _ in range(50)]

    assert draws(1, 1) == draws(1, 1) != draws(2, 1)
    assert all(large > small for small, large in zip(draws(1, 1), draws(1, 1, 50_000), strict=True))
    assert draws(1, 2) == pytest.approx([2 * full for full in draws(1, 1)], abs=1)
    assert set(draws(1, 0)) == {0}
    assert max(draws(1, 1)) > 2 * min(draws(1, 1))


def test_workers_queue_in_order_of_arrival() -> None:
    workers = Workers(2)
    assert [workers.done_at(10, 1) for _ in range(5)] == [11, 11, 12, 12, 13]
    assert workers.done_at(20, 1) == 21


def test_load_beyond_the_workers_raises_latency(node: Any) -> None:
    client = node(workers=1, pace=20)  # a small reply takes about 5 ms
    alone, crowded = [], []

    def run(into: list[float]) -> None:
        with client.connected() as connection:
            into.extend(times_ms(connection, 10))

    run(alone)
    crowd = [threading.Thread(target=run, args=(crowded,)) for _ in range(4)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    assert statistics.median(crowded) > 2.5 * statistics.median(alone)
