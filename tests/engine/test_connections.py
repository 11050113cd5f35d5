"""Keeping connections, losing them, and never having more of them than asked for."""

import threading
import time

import pytest

from rpcbench.model.samples import Status
from tests.engine.odd_server import OddServer, whole


def test_connections_are_kept(send):
    with OddServer() as server:
        samples = send(server.url, 50, concurrency=3)
    assert (samples.connects, samples.reconnects, server.accepted) == (3, 0, 3)
    assert samples.rows["reconnect"].sum() == samples.rows["connect_ns"].sum() == 0


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_concurrency_bounds_open_connections(send, concurrency):
    def behave(exchange):
        if exchange.id % 3 == 0:
            exchange.send(whole(exchange.result(), headers=b"Connection: close\r\n"))
            exchange.close()
        elif exchange.id % 7 == 0:
            exchange.reset()
        else:
            exchange.reply()

    with OddServer(behave) as server:
        samples = send(server.url, 60, concurrency=concurrency)
        opened_later = send(server.url, 60, concurrency=concurrency, due_ns=[n * 100_000 for n in range(60)])
    assert samples.connects > concurrency
    assert opened_later.connects > concurrency
    assert server.peak <= concurrency


def test_a_reply_that_has_begun_is_not_tried_again(send):
    def behave(exchange):
        if exchange.nth == 2:
            exchange.send(b"HTTP/1.1 200 OK\r\n")
            time.sleep(0.02)
            exchange.reset()
        else:
            exchange.reply()

    with OddServer(behave) as server:
        samples = send(server.url, 3)
    assert samples.rows["status"].tolist() == [Status.OK, Status.NETWORK, Status.OK]
    assert max(server.counts.values()) == 1


def test_a_lane_that_is_still_connected_is_taken_first(send):
    def behave(exchange):
        exchange.reply()
        if exchange.id == 1000:
            exchange.close()

    with OddServer(behave) as server:
        samples = send(server.url, 4, concurrency=2, due_ns=[n * 60_000_000 for n in range(4)])
    assert (samples.connects, samples.reconnects) == (2, 0)


def test_a_reply_to_another_request_costs_one_request_only(send):
    """A connection that is one reply behind would spoil all that follow on it."""

    def behave(exchange):
        if exchange.id == 1001:
            exchange.send(whole(b'{"jsonrpc":"2.0","id":1000,"result":1}'))
            time.sleep(0.02)
        exchange.reply()

    with OddServer(behave) as server:
        rows = send(server.url, 5).rows
    assert rows["status"].tolist() == [Status.OK, Status.BAD_REPLY, Status.OK, Status.OK, Status.OK]
    assert rows["reconnect"].tolist() == [0, 0, 1, 0, 0]


def test_there_is_never_a_second_request_before_the_reply(send):
    """No pipelining: whatever is due waits until the connection is free."""
    on_the_wire = []

    def behave(exchange):
        time.sleep(0.005)
        exchange.socket.setblocking(False)
        try:
            on_the_wire.append(exchange.socket.recv(1))
        except BlockingIOError:
            pass
        finally:
            exchange.socket.setblocking(True)
        exchange.reply()

    with OddServer(behave) as server:
        samples = send(server.url, 30, concurrency=2, due_ns=[0] * 30)
    assert samples.rows["status"].tolist() == [Status.OK] * 30
    assert on_the_wire == []


def test_connections_are_gone_after_the_trial(send):
    with OddServer() as server:
        send(server.url, 10, concurrency=4)
        deadline = time.monotonic() + 2
        while server.connected and time.monotonic() < deadline:
            time.sleep(0.01)
        assert server.connected == 0


def test_lanes_open_before_the_clock_starts(send):
    """With connections ahead, no request of a first wave pays for one."""
    together = threading.Barrier(5)

    def behave(exchange):
        together.wait(5)
        exchange.reply()

    with OddServer(behave) as server:
        samples = send(server.url, 5, concurrency=5)
    assert samples.rows["connect_ns"].tolist() == [0] * 5
