"""The same contract for connections that fail, stall, or say too much: class, count, the time charged, no hang."""

import socket
import time

import pytest

from rpcbench.model.samples import Status
from tests.engine.odd_server import Exchange, frame, whole

RESET = 104


def counts_once(server, count):
    return server.counts == dict.fromkeys(range(1000, 1000 + count), 1)


def statuses(samples):
    return [Status(status) for status in samples.rows["status"]]


def test_refused(kind, dead_url):
    samples = kind.send(dead_url, 3)
    assert statuses(samples) == [Status.NETWORK] * 3
    assert samples.rows["code"].tolist() == [111] * 3
    assert samples.rows["sent_ns"].tolist() == [0] * 3
    assert samples.connects == 0


@pytest.mark.parametrize(("how", "code"), [("close", 0), ("reset", RESET)])
def test_a_fresh_connection_that_dies_is_not_tried_again(kind, how, code):
    with kind.server(lambda x: getattr(x, how)()) as server:
        samples = kind.send(server.url, 3)
        assert counts_once(server, 3)
    assert statuses(samples) == [Status.NETWORK] * 3
    assert samples.rows["code"].tolist() == [code] * 3
    assert (samples.rows["sent_ns"] > 0).all()
    assert (samples.rows["first_ns"] == 0).all()


@pytest.mark.parametrize(("how", "expected"), [("close", Status.BAD_REPLY), ("reset", Status.NETWORK)])
def test_a_connection_that_dies_within_a_reply(kind, how, expected):
    def behave(exchange):
        exchange.send(exchange.wire(exchange.result())[:-5])
        time.sleep(0.02)
        getattr(exchange, how)()

    with kind.server(behave) as server:
        samples = kind.send(server.url, 3)
        assert counts_once(server, 3)
    assert statuses(samples) == [expected] * 3
    assert (samples.rows["first_ns"] > 0).all()


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_kept_connection_that_dies_before_the_reply_is_tried_once_more(kind, how):
    def behave(exchange):
        if exchange.nth == 3:
            getattr(exchange, how)()
        else:
            exchange.send(exchange.wire(exchange.result()))

    with kind.server(behave) as server:
        samples = kind.send(server.url, 6)
    rows = samples.rows
    assert statuses(samples) == [Status.OK] * 6
    assert rows["reconnect"].tolist() == [0, 0, 1, 0, 1, 0]
    assert (rows["connect_ns"][rows["reconnect"] == 1] > 0).all()
    assert (samples.connects, samples.reconnects) == (3, 2)
    assert server.counts == {1000: 1, 1001: 1, 1002: 2, 1003: 1, 1004: 2, 1005: 1}


def test_all_the_time_of_the_second_try_is_charged(kind):
    def behave(exchange):
        if exchange.nth == 2:
            time.sleep(0.1)
            exchange.close()
        else:
            exchange.send(exchange.wire(exchange.result()))

    with kind.server(behave) as server:
        samples = kind.send(server.url, 2)
    assert samples.rows["reconnect"].tolist() == [0, 1]
    assert samples.service_ns[1] > 100_000_000


def test_the_second_try_is_the_last(kind):
    def behave(exchange):
        if exchange.id >= 1001:
            exchange.close()
        else:
            exchange.send(exchange.wire(exchange.result()))

    with kind.server(behave) as server:
        samples = kind.send(server.url, 3)
    assert statuses(samples) == [Status.OK, Status.NETWORK, Status.NETWORK]
    assert server.counts == {1000: 1, 1001: 2, 1002: 1}


def test_keep_alive_races_lose_no_request(kind):
    """The server closes at the very moment in which the next request goes out."""

    def behave(exchange):
        exchange.send(exchange.wire(exchange.result()))
        if exchange.id % 2:
            exchange.close()

    with kind.server(behave) as server:
        samples = kind.send(server.url, 100, concurrency=4)
        assert set(server.counts) == set(range(1000, 1100))
    assert statuses(samples) == [Status.OK] * 100
    assert samples.reconnects >= 40


def test_an_idle_connection_that_was_closed_is_opened_again(kind):
    """As after a node's idle timeout: seen while nothing was on its way."""

    def behave(exchange):
        exchange.send(exchange.wire(exchange.result()))
        exchange.close()

    with kind.server(behave) as server:
        samples = kind.send(server.url, 3, due_ns=[0, 100_000_000, 200_000_000])
        assert counts_once(server, 3)
    assert statuses(samples) == [Status.OK] * 3
    assert samples.rows["reconnect"].tolist() == [0, 1, 1]
    assert (samples.connects, samples.reconnects) == (3, 2)


@pytest.mark.parametrize("sent", [0, 1, 20], ids=["nothing", "one byte", "a part"])
def test_silence_ends_in_time(kind, sent):
    def behave(exchange):
        exchange.send(exchange.wire(exchange.result())[:sent])
        exchange.stall()

    with kind.server(behave) as server:
        samples = kind.send(server.url, 2, timeout_s=0.2)
        assert counts_once(server, 2)
    assert statuses(samples) == [Status.TIMEOUT] * 2
    assert samples.rows["code"].tolist() == [0] * 2
    # Charged from when it was sent; where a connection had to be opened for it first, httpx sends a little later.
    assert (samples.latency_ns >= 200_000_000).all()
    assert (samples.service_ns < 400_000_000).all()


def test_a_half_closed_connection_still_brings_the_reply(kind):
    """The server ends its side after the reply: a whole one counts, and the next request opens a new connection."""

    def behave(exchange):
        exchange.send(exchange.wire(exchange.result()))
        exchange.socket.shutdown(socket.SHUT_WR)

    with kind.server(behave) as server:
        samples = kind.send(server.url, 3, due_ns=[0, 50_000_000, 100_000_000])
    assert statuses(samples) == [Status.OK] * 3


def test_a_dripping_server_times_out(kind):
    def drip(exchange):
        for byte in exchange.wire(exchange.result()):
            exchange.send(bytes([byte]))
            time.sleep(0.05)

    with kind.server(drip) as server:
        rows = kind.send(server.url, timeout_s=0.3).rows
    assert rows["status"].tolist() == [Status.TIMEOUT]


def test_a_slow_but_steady_reply_is_whole(kind):
    def trickle(exchange):
        data = exchange.wire(exchange.result())
        for start in range(0, len(data), 7):
            exchange.send(data[start : start + 7])
            time.sleep(0.005)

    with kind.server(trickle) as server:
        rows = kind.send(server.url, 3).rows
    assert rows["status"].tolist() == [Status.OK] * 3
    assert (rows["done_ns"] - rows["first_ns"] > 5_000_000).all()


def test_a_server_that_answers_twice(kind):
    """The surplus spoils no other request; with httpx it spoils the next, which cannot be told from here."""
    with kind.server(lambda x: x.send(x.wire(x.result()) * 2)) as server:
        samples = kind.send(server.url, 4)
    if kind.name == "httpx":
        assert statuses(samples) == [Status.OK, Status.BAD_REPLY] * 2
    else:
        assert statuses(samples) == [Status.OK] * 4
        assert samples.reconnects == 3


def test_an_answer_that_nobody_asked_for_spoils_no_other_request(kind):
    def twice(exchange):
        exchange.send(exchange.wire(exchange.result()))
        time.sleep(0.05)
        exchange.send(exchange.wire(exchange.result()))

    with kind.server(twice) as server:
        samples = kind.send(server.url, 3, due_ns=[0, 200_000_000, 400_000_000])
        assert counts_once(server, 3)
    assert statuses(samples) == [Status.OK] * 3


def test_the_cap_ends_a_reply_of_64_mb(kind):
    """Over an engine whose cap is smaller: the row says so long before the server is done."""
    part = b"x" * 2**20
    sent = []

    def behave(exchange):
        if exchange.server.websocket:
            exchange.send(frame(b"[", fin=False)[:1] + b"\x7f" + (64 * len(part)).to_bytes(8, "big"))
        else:
            exchange.send(b"HTTP/1.1 200 OK\r\n\r\n")
        for _ in range(64):
            exchange.send(part)
            sent.append(len(part))

    engine = kind.make(max_body_bytes=4 * 2**20)
    try:
        with kind.server(behave) as server:
            samples = kind.send(server.url, 1, engine)
    finally:
        engine.close()
    assert statuses(samples) == [Status.BAD_REPLY]
    assert samples.rows["bytes_in"][0] < 6 * 2**20
    assert sum(sent) < 32 * 2**20


def test_a_reply_of_64_mb_below_the_cap(kind):
    part = b"x" * 2**20

    def behave(exchange):
        exchange.send(exchange.wire(exchange.result(b'"' + part * 64 + b'"')))

    with kind.server(behave) as server:
        samples = kind.send(server.url, 1)
    assert statuses(samples) == [Status.OK]
    assert samples.rows["bytes_in"][0] > 64 * 2**20


def test_a_name_that_resolves_to_nothing(kind):
    samples = kind.send("http://no-such-host.invalid:1", 2, timeout_s=2)
    assert set(statuses(samples)) <= {Status.NETWORK, Status.TIMEOUT}
    assert samples.rows["sent_ns"].tolist() == [0] * 2


def test_a_connection_that_never_opens(kind):
    """A full backlog leaves the handshake unanswered."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        host, port = listener.getsockname()
        with socket.create_connection((host, port)), socket.socket() as second:
            second.setblocking(False)
            second.connect_ex((host, port))
            samples = kind.send(f"http://{host}:{port}", 2, timeout_s=0.3)
    assert statuses(samples) == [Status.TIMEOUT] * 2
    assert samples.rows["sent_ns"].tolist() == [0, 0]
    assert (samples.rows["connect_ns"] >= 280_000_000).all()
    assert (samples.latency_ns < 500_000_000).all()


def test_ipv6(kind):
    with kind.server(family=socket.AF_INET6) as server:
        samples = kind.send(server.url, 2)
        assert f"Host: [::1]:{server.port}\r\n".encode() in server.heads[0] + b"\r\n"
    assert statuses(samples) == [Status.OK] * 2


def test_a_host_with_several_addresses(kind):
    """localhost may be ::1 first, where nobody listens."""
    with kind.server() as server:
        samples = kind.send(server.url.replace("127.0.0.1", "localhost"), 2)
    assert statuses(samples) == [Status.OK] * 2


def test_a_timeout_closes_its_connection(kind):
    def behave(exchange: Exchange):
        if exchange.id == 1000:
            time.sleep(0.4)
        exchange.send(exchange.wire(exchange.result()))

    with kind.server(behave) as server:
        samples = kind.send(server.url, 3, timeout_s=0.2)
    assert statuses(samples) == [Status.TIMEOUT, Status.OK, Status.OK]
    assert samples.rows["reconnect"].tolist() == [0, 1, 0]


def test_bytes_of_the_body_are_counted(http):
    cut_short = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + b"x" * 40

    def behave(exchange):
        if exchange.id == 1000:
            exchange.send(whole(exchange.result()))
        else:
            exchange.send(cut_short)
            exchange.close()

    with http.server(behave) as server:
        assert http.send(server.url, 2).rows["bytes_in"].tolist() == [42, 40]


def test_a_connection_that_brought_a_bad_reply_is_not_used_again(kind):
    """Whose reply the next one would be is not known any more."""

    def behave(exchange):
        wrong = b'{"id":1,"result":1}'
        exchange.send(exchange.wire(wrong if exchange.id == 1001 else exchange.result()))

    with kind.server(behave) as server:
        samples = kind.send(server.url, 4)
        assert server.accepted == 2
    assert statuses(samples) == [Status.OK, Status.BAD_REPLY, Status.OK, Status.OK]
    assert samples.rows["reconnect"].tolist() == [0, 0, 1, 0]
