"""Compressed replies, when they were asked for: undone within the cap, counted as they came over the wire."""

import gzip

import pytest

from rpcbench.model.samples import Status
from tests.engine.odd_server import whole

GZIP = b"Content-Encoding: gzip\r\n"


@pytest.fixture
def asking(http):
    """Each engine that speaks HTTP, asking for gzip, with a cap of 1 MB."""
    engine = http.make(gzip=True, max_body_bytes=2**20)
    yield engine
    engine.close()


def packed(exchange):
    exchange.send(whole(gzip.compress(exchange.result(b'"' + b"x" * 5000 + b'"')), headers=GZIP))


def plain(exchange):
    exchange.send(exchange.wire(exchange.result(b'"' + b"x" * 5000 + b'"')))


def test_gzip_is_asked_for_and_counted_on_the_wire(http, asking):
    with http.server(packed) as server:
        samples = http.send(server.url, 3, asking)
        assert all(b"Accept-Encoding: gzip\r\n" in head + b"\r\n" for head in server.heads)
    with http.server(plain) as server:
        unpacked = http.send(server.url, 3)
        assert all(b"Accept-Encoding: identity\r\n" in head + b"\r\n" for head in server.heads)
    assert samples.rows["status"].tolist() == [Status.OK] * 3
    assert (samples.rows["bytes_in"] < 200).all()
    assert (unpacked.rows["bytes_in"] > 5000).all()
    assert samples.rows["digest"].tolist() == unpacked.rows["digest"].tolist()


def test_a_reply_may_stay_as_it_is(http, asking):
    with http.server(plain) as server:
        samples = http.send(server.url, 2, asking)
    assert samples.rows["status"].tolist() == [Status.OK] * 2


def test_a_gzip_bomb_ends_at_the_cap(http, asking):
    """It would be a sound reply of 20 MB."""

    def explode(exchange):
        exchange.send(whole(gzip.compress(exchange.result(b'"' + b"x" * 20 * 2**20 + b'"'), 1), headers=GZIP))

    with http.server(explode) as server:
        samples = http.send(server.url, 2, asking)
    assert samples.rows["status"].tolist() == [Status.BAD_REPLY] * 2
    assert samples.rows["code"].tolist() == [200] * 2
