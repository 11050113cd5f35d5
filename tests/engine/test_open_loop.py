"""The open loop: everything planned is sent, nothing early, and waiting is charged."""

import asyncio
import time

import numpy as np
import pytest
import uvloop

from rpcbench.engine.pacing import LinuxTimer, LoopTimer
from rpcbench.model.samples import Status
from tests.engine.odd_server import OddServer


def poisson(rate_per_s: float, count: int) -> list[int]:
    gaps = np.random.default_rng(7).exponential(1e9 / rate_per_s, count)
    return np.cumsum(gaps).astype(np.int64).tolist()


def every(gap_ms: float, count: int) -> list[int]:
    return [int(n * gap_ms * 1e6) for n in range(count)]


@pytest.mark.parametrize("due_ns", [poisson(800, 400), every(1, 400), [0] * 100], ids=["poisson", "constant", "burst"])
def test_all_that_is_planned_is_sent_and_none_early(send, due_ns):
    with OddServer() as server:
        samples = send(server.url, len(due_ns), concurrency=64, due_ns=due_ns)
    rows = np.sort(samples.rows, order="call")
    assert server.counts == dict.fromkeys(range(1000, 1000 + len(due_ns)), 1)
    assert rows["due_ns"].tolist() == due_ns
    assert (rows["sent_ns"] >= rows["due_ns"]).all()
    assert samples.wall_ns >= due_ns[-1]


def test_none_arrives_early_at_the_server(send):
    """Judged by the server's clock, which is the same monotonic clock."""
    due_ns = every(3, 60)
    with OddServer() as server:
        before_ns = time.monotonic_ns()
        send(server.url, 60, concurrency=8, due_ns=due_ns)
    arrived_ns = dict(server.arrivals)
    offsets = [arrived_ns[1000 + n] - due for n, due in enumerate(due_ns)]
    # The origin is the same for all, and not before the run; an early one would stand out below the others.
    assert min(offsets) >= before_ns
    assert np.median(offsets) - min(offsets) < 5_000_000


def test_beyond_the_cap_requests_wait_in_order_and_the_wait_is_charged(send):
    def slow(exchange):
        time.sleep(0.02)
        exchange.reply()

    with OddServer(slow) as server:
        samples = send(server.url, 20, concurrency=2, due_ns=[0] * 20)
    rows = np.sort(samples.rows, order="call")
    assert rows["status"].tolist() == [Status.OK] * 20
    assert server.peak <= 2
    assert (np.diff(rows["sent_ns"]) >= 0).all()
    latency = rows["done_ns"] - rows["due_ns"]
    assert latency[-1] >= 200_000_000
    assert (rows["done_ns"] - rows["sent_ns"] < 100_000_000).all()


def test_a_silent_node_cannot_make_a_trial_endless(send):
    with OddServer(lambda x: x.stall()) as server:
        samples = send(server.url, 50, concurrency=2, due_ns=every(2, 50), timeout_s=0.3)
    rows = np.sort(samples.rows, order="call")
    assert rows["status"].tolist() == [Status.TIMEOUT] * 50
    latency = rows["done_ns"] - rows["due_ns"]
    assert (latency >= 300_000_000).all()
    assert (latency < 750_000_000).all()
    assert set(server.counts) == set(rows["call"][rows["sent_ns"] > 0].tolist())
    assert 0 < np.count_nonzero(rows["sent_ns"] == 0) < 48
    assert samples.wall_ns < 1_200_000_000


def test_after_a_stall_the_rest_goes_on(send):
    """Requests due within the stall are sent late, and their latency says so."""

    def behave(exchange):
        if exchange.id == 1005:
            time.sleep(0.3)
        exchange.reply()

    with OddServer(behave) as server:
        samples = send(server.url, 40, concurrency=1, due_ns=every(10, 40))
    rows = np.sort(samples.rows, order="call")
    assert rows["status"].tolist() == [Status.OK] * 40
    latency_ms = (rows["done_ns"] - rows["due_ns"]) / 1e6
    assert latency_ms[10] > 200  # due 50 ms into a stall of 300 ms
    assert latency_ms[-1] < 100


def test_more_connections_are_opened_when_they_are_needed(send):
    def slow(exchange):
        time.sleep(0.1)
        exchange.reply()

    with OddServer(slow) as server:
        samples = send(server.url, 40, concurrency=64, due_ns=[0] * 40)
    rows = samples.rows
    assert server.peak == samples.connects == 40
    assert np.count_nonzero(rows["connect_ns"]) == 40 - 16
    assert samples.reconnects == 0
    assert (samples.latency_ns >= 100_000_000).all()


def test_a_dead_node_gets_every_row(send, dead_url):
    samples = send(dead_url, 30, concurrency=4, due_ns=every(5, 30))
    assert samples.rows["status"].tolist() == [Status.NETWORK] * 30
    assert 145_000_000 <= samples.wall_ns < 600_000_000


@pytest.mark.parametrize("new_loop", [uvloop.new_event_loop, asyncio.new_event_loop])
def test_linux_timer_fires_once_and_not_early(new_loop):
    lateness = timed(LinuxTimer, new_loop)
    assert min(lateness) >= 0
    assert np.median(lateness) < 3_000_000


def test_loop_timer_is_about_a_millisecond_exact():
    lateness = timed(LoopTimer, uvloop.new_event_loop)
    assert min(lateness) > -2_000_000
    assert np.median(lateness) < 5_000_000


def timed(kind, new_loop) -> list[int]:
    """How late (ns) each of 20 wake-ups was."""
    lateness = []

    async def main():
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        due_ns = time.monotonic_ns()

        def fire():
            lateness.append(time.monotonic_ns() - due_ns)
            arm() if len(lateness) < 20 else done.set_result(None)

        def arm():
            nonlocal due_ns
            due_ns = time.monotonic_ns() + 3_700_000
            timer.arm(due_ns)

        timer = kind(loop, fire)
        arm()
        await asyncio.wait_for(done, 5)
        await asyncio.sleep(0.01)
        timer.close()
        timer.close()

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(main())
    assert len(lateness) == 20
    return lateness
