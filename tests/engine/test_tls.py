"""https: verified by default, kept open like any other connection."""

import ssl

import pytest
import trustme

from rpcbench.engine.asyncio_engine import AsyncioEngine
from rpcbench.model.samples import Status
from tests.engine.conftest import check_rows, ignore, make_workload
from tests.engine.odd_server import Exchange, OddServer


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture(scope="module")
def trusting(authority, tmp_path_factory):
    """An engine that trusts the tests' authority."""
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(path)
    engine = AsyncioEngine(ca_file=path)
    yield engine
    engine.close()


def server_context(authority: trustme.CA, name: str = "127.0.0.1") -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


def test_requests_over_kept_tls_connections(trusting, authority):
    with OddServer(tls=server_context(authority)) as server:
        samples = trusting.run(make_workload(server.url, 40, concurrency=3), ignore)
    check_rows(samples)
    assert samples.rows["status"].tolist() == [Status.OK] * 40
    assert (samples.connects, samples.reconnects, server.accepted) == (3, 0, 3)
    assert sorted(server.counts) == list(range(1000, 1040))


def test_large_replies_over_tls(trusting, authority):
    with OddServer(
        lambda x: x.reply(x.result(b'["' + b"x" * 400_000 + b'"]')), tls=server_context(authority)
    ) as server:
        samples = trusting.run(make_workload(server.url, 6, concurrency=2), ignore)
    assert samples.rows["status"].tolist() == [Status.OK] * 6
    assert len(set(samples.rows["digest"])) == 1


def test_a_certificate_of_an_unknown_authority(send, authority):
    with OddServer(tls=server_context(authority)) as server:
        samples = send(server.url, 3)
    assert samples.rows["status"].tolist() == [Status.NETWORK] * 3
    assert server.arrivals == []


def test_a_certificate_for_another_name(trusting, authority):
    with OddServer(tls=server_context(authority, "other.example")) as server:
        samples = trusting.run(make_workload(server.url, 2), ignore)
    assert samples.rows["status"].tolist() == [Status.NETWORK] * 2


def test_tls_to_a_server_that_speaks_none(send):
    with OddServer() as server:
        samples = send(server.url.replace("http:", "https:"), 2, timeout_s=0.2)
    assert set(samples.rows["status"]) <= {Status.NETWORK, Status.TIMEOUT}
    assert samples.rows["sent_ns"].tolist() == [0, 0]


def test_a_tls_connection_that_is_closed_is_opened_again(trusting, authority):
    def behave(exchange: Exchange) -> None:
        exchange.reply()
        if exchange.nth == 2:
            exchange.close()

    with OddServer(behave, tls=server_context(authority)) as server:
        samples = trusting.run(make_workload(server.url, 6), ignore)
    check_rows(samples)
    assert samples.rows["status"].tolist() == [Status.OK] * 6
    assert samples.reconnects == 2


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_tls_connection_that_dies(trusting, authority, how):
    with OddServer(lambda x: getattr(x, how)(), tls=server_context(authority)) as server:
        samples = trusting.run(make_workload(server.url, 2), ignore)
    assert samples.rows["status"].tolist() == [Status.NETWORK] * 2
