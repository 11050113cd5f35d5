"""The closed loop: who sends when, and that everything sent is accounted for."""

import time

import numpy as np
import pytest

from rpcbench.model.samples import Status
from tests.engine.odd_server import OddServer, whole


@pytest.mark.parametrize(("count", "concurrency"), [(1, 1), (1, 8), (7, 3), (500, 16)])
def test_exactly_the_order_is_sent(send, count, concurrency):
    with OddServer() as server:
        samples = send(server.url, count, concurrency=concurrency)
    assert sorted(samples.rows["call"].tolist()) == list(range(1000, 1000 + count))
    assert server.counts == dict.fromkeys(range(1000, 1000 + count), 1)
    assert server.accepted == min(count, concurrency)


def test_one_client_keeps_the_order(send):
    with OddServer() as server:
        samples = send(server.url, 30)
    assert samples.rows["call"].tolist() == [call for call, _ in server.arrivals] == list(range(1000, 1030))


def test_with_a_duration_the_order_begins_again(send):
    with OddServer() as server:
        samples = send(server.url, 3, concurrency=2, duration_s=0.3)
    counts = server.counts
    assert len(samples.rows) == sum(counts.values()) > 30
    assert max(counts.values()) - min(counts.values()) <= 1
    assert samples.rows["sent_ns"].max() < 300_000_000
    assert 290_000_000 < samples.wall_ns < 600_000_000


def test_requests_in_flight_at_the_end_are_awaited(send):
    def slow(exchange):
        time.sleep(0.15)
        exchange.reply()

    with OddServer(slow) as server:
        samples = send(server.url, 3, concurrency=3, duration_s=0.1)
    assert samples.rows["status"].tolist() == [Status.OK] * 3
    assert samples.wall_ns > 150_000_000


def test_a_client_is_due_when_it_is_free(send):
    def slow(exchange):
        time.sleep(0.02)
        exchange.reply()

    with OddServer(slow) as server:
        rows = send(server.url, 5).rows
    free_after_ns = rows["due_ns"][1:] - rows["done_ns"][:-1]
    assert (free_after_ns >= 0).all()
    assert (free_after_ns < 15_000_000).all()


def test_a_dead_node_is_not_hammered(send, dead_url):
    samples = send(dead_url, 10, concurrency=2, duration_s=0.6)
    assert set(samples.rows["status"]) == {Status.NETWORK}
    assert 6 <= len(samples.rows) <= 14  # 10, 20, 40, 80, 160, 320 ms between the tries of a client
    assert samples.wall_ns < 700_000_000


def test_a_node_that_comes_back_is_used_again(send):
    def behave(exchange):
        if exchange.id < 1003:
            exchange.reset()
        else:
            exchange.reply()

    with OddServer(behave) as server:
        rows = send(server.url, 8).rows
    assert rows["status"].tolist() == [Status.NETWORK] * 3 + [Status.OK] * 5
    pauses_ms = (rows["due_ns"][1:] - rows["done_ns"][:-1]) / 1e6
    assert (pauses_ms[:3] >= [9, 19, 39]).all()
    assert (pauses_ms[3:] < 9).all()


def test_answers_with_errors_do_not_pause(send):
    with OddServer(lambda x: x.send(whole(b"", status="500 Oops"))) as server:
        samples = send(server.url, 100, concurrency=1)
    assert np.unique(samples.rows["code"]).tolist() == [500]
    assert samples.wall_ns < 900_000_000


def test_an_empty_order_sends_nothing(send):
    with OddServer() as server:
        assert len(send(server.url, 0).rows) == 0
        assert len(send(server.url, 0, duration_s=5).rows) == 0
        assert len(send(server.url, 0, due_ns=[]).rows) == 0
    assert server.arrivals == []


def test_what_the_samples_say_of_the_trial(send):
    before_ns = time.time_ns()
    with OddServer() as server:
        samples = send(server.url, 200, concurrency=4)
    assert before_ns < samples.started_unix_ns < time.time_ns()
    assert samples.wall_ns == samples.rows["done_ns"].max()
    assert 0 < samples.cpu_ns < samples.wall_ns + 50_000_000
    assert len(np.unique(samples.rows["digest"])) == 1
