"""Keeping connections, losing them, and never having more of them than asked for."""

import threading
import time

import numpy as np
import pytest

from rpcbench.model.samples import Status
from tests.engine.odd_server import Exchange, OddServer, whole


def every_other_closes(exchange: Exchange) -> None:
    """Every second request of a connection is read, and the connection closed without a word."""
    if exchange.nth == 2:
        exchange.close()
    else:
        exchange.reply()


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


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_kept_connection_that_dies_before_the_reply_is_tried_once_more(send, how):
    def behave(exchange):
        if exchange.nth == 3:
            getattr(exchange, how)()
        else:
            exchange.reply()

    with OddServer(behave) as server:
        samples = send(server.url, 6)
    rows = samples.rows
    assert rows["status"].tolist() == [Status.OK] * 6
    assert rows["reconnect"].tolist() == [0, 0, 1, 0, 1, 0]
    assert ((rows["connect_ns"] > 0) == (rows["reconnect"] == 1)).all()
    assert (samples.connects, samples.reconnects) == (3, 2)
    assert server.counts == {1000: 1, 1001: 1, 1002: 2, 1003: 1, 1004: 2, 1005: 1}


def test_all_the_time_of_the_second_try_is_charged(send):
    def behave(exchange):
        if exchange.nth == 2:
            time.sleep(0.1)
            exchange.close()
        else:
            exchange.reply()

    with OddServer(behave) as server:
        samples = send(server.url, 2)
    assert samples.rows["reconnect"].tolist() == [0, 1]
    assert samples.service_ns[1] > 100_000_000


def test_the_second_try_is_the_last(send):
    def behave(exchange):
        if exchange.id >= 1001:
            exchange.close()
        else:
            exchange.reply()

    with OddServer(behave) as server:
        samples = send(server.url, 3)
    assert samples.rows["status"].tolist() == [Status.OK, Status.NETWORK, Status.NETWORK]
    assert server.counts == {1000: 1, 1001: 2, 1002: 1}


def test_a_fresh_connection_that_dies_is_not_tried_again(send):
    with OddServer(Exchange.close) as server:
        samples = send(server.url, 3)
    assert samples.rows["status"].tolist() == [Status.NETWORK] * 3
    assert server.counts == {1000: 1, 1001: 1, 1002: 1}


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


def test_an_idle_connection_that_was_closed_is_opened_again(send):
    """As after a node's idle timeout: seen while nothing was on its way."""

    def behave(exchange):
        exchange.reply()
        exchange.close()

    with OddServer(behave) as server:
        samples = send(server.url, 3, due_ns=[0, 100_000_000, 200_000_000])
    assert samples.rows["status"].tolist() == [Status.OK] * 3
    assert samples.rows["reconnect"].tolist() == [0, 1, 1]
    assert (samples.rows["connect_ns"][1:] > 0).all()
    assert (samples.connects, samples.reconnects) == (3, 2)
    assert max(server.counts.values()) == 1


def test_keep_alive_races_lose_no_request(send):
    """The server closes at the very moment in which the next request goes out."""

    def behave(exchange):
        exchange.reply()
        if exchange.id % 2:
            exchange.close()

    with OddServer(behave) as server:
        samples = send(server.url, 200, concurrency=4)
    assert np.unique(samples.rows["status"]).tolist() == [Status.OK]
    assert sorted(samples.rows["call"].tolist()) == list(range(1000, 1200))
    assert set(server.counts) == set(range(1000, 1200))
    assert samples.reconnects >= 90


def test_a_timeout_closes_its_connection(send):
    def behave(exchange):
        if exchange.id == 1000:
            time.sleep(0.4)
        exchange.reply()

    with OddServer(behave) as server:
        samples = send(server.url, 3, timeout_s=0.2)
    assert samples.rows["status"].tolist() == [Status.TIMEOUT, Status.OK, Status.OK]
    assert samples.rows["reconnect"].tolist() == [0, 1, 0]


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
