"""https and wss: verified unless told otherwise, with a certificate of one's own, kept open like any connection."""

import ssl
from datetime import UTC, datetime

import pytest
import trustme

from rpcbench.config.certificates import tls_context
from rpcbench.errors import UsageError
from rpcbench.model.route import Tls
from rpcbench.model.samples import Status
from tests.engine.odd_server import Exchange


@pytest.fixture(scope="module")
def makes(kinds, ca_file):
    """Engines with certificate settings, one worker process for each."""
    made = {}

    def make(kind, **settings):
        key = kind.name, tuple(settings.items())
        if key not in made:
            made[key] = kind.make(tls=Tls(**settings))
        return made[key]

    yield make
    for engine in made.values():
        engine.close()


@pytest.fixture
def trusting(kind, makes, ca_file):
    """An engine that trusts the tests' authority."""
    return makes(kind, ca_file=ca_file)


def server_context(authority: trustme.CA, name: str = "127.0.0.1", **options: object) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name, **options).configure_cert(context)
    return context


def test_requests_over_kept_tls_connections(kind, trusting, authority):
    with kind.server(tls=server_context(authority)) as server:
        samples = kind.send(server.url, 40, trusting, concurrency=3)
        assert server.accepted == 3
    assert samples.rows["status"].tolist() == [Status.OK] * 40
    assert (samples.connects, samples.reconnects) == (3, 0)


def test_large_replies_over_tls(kind, trusting, authority):
    def behave(exchange):
        exchange.send(exchange.wire(exchange.result(b'["' + b"x" * 400_000 + b'"]')))

    with kind.server(behave, tls=server_context(authority)) as server:
        samples = kind.send(server.url, 6, trusting, concurrency=2)
    assert samples.rows["status"].tolist() == [Status.OK] * 6
    assert len(set(samples.rows["digest"])) == 1


@pytest.mark.parametrize(
    ("name", "options", "trusted"),
    [
        ("127.0.0.1", {}, False),
        ("other.example", {}, True),
        ("127.0.0.1", {"not_after": datetime(2020, 1, 1, tzinfo=UTC)}, True),
    ],
    ids=["unknown authority", "another name", "expired"],
)
def test_a_certificate_that_does_not_hold(kind, makes, authority, ca_file, name, options, trusted):
    with kind.server(tls=server_context(authority, name, **options)) as server:
        refused = kind.send(server.url, 2, makes(kind, ca_file=ca_file) if trusted else None)
        assert server.arrivals == []
        accepted = kind.send(server.url, 2, makes(kind, verify=False))
    assert refused.rows["status"].tolist() == [Status.NETWORK] * 2
    assert refused.rows["sent_ns"].tolist() == [0, 0]
    assert accepted.rows["status"].tolist() == [Status.OK] * 2


def test_a_node_that_asks_for_a_certificate(kind, makes, authority, ca_file, tmp_path):
    context = server_context(authority)
    context.verify_mode = ssl.CERT_REQUIRED
    authority.configure_trust(context)
    own = authority.issue_cert("client.example")
    own.private_key_and_cert_chain_pem.write_to_path(tmp_path / "both.pem")
    own.private_key_pem.write_to_path(tmp_path / "key.pem")
    own.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    together = {"cert_file": str(tmp_path / "both.pem")}
    apart = {"cert_file": str(tmp_path / "cert.pem"), "key_file": str(tmp_path / "key.pem")}
    with kind.server(tls=context) as server:
        without = kind.send(server.url, 2, makes(kind, ca_file=ca_file))
        assert server.arrivals == []
        for files in (together, apart):
            samples = kind.send(server.url, 2, makes(kind, ca_file=ca_file, **files))
            assert samples.rows["status"].tolist() == [Status.OK] * 2
    assert without.rows["status"].tolist() == [Status.NETWORK] * 2


def test_tls_to_a_server_that_speaks_none(kind):
    with kind.server() as server:
        url = server.url.replace("http:", "https:").replace("ws:", "wss:")
        samples = kind.send(url, 2, timeout_s=0.3)
    assert set(samples.rows["status"]) <= {Status.NETWORK, Status.TIMEOUT}
    assert samples.rows["sent_ns"].tolist() == [0, 0]


def test_a_tls_connection_that_is_closed_is_opened_again(kind, trusting, authority):
    def behave(exchange: Exchange) -> None:
        exchange.send(exchange.wire(exchange.result()))
        if exchange.nth == 2:
            exchange.close()

    with kind.server(behave, tls=server_context(authority)) as server:
        samples = kind.send(server.url, 6, trusting)
    assert samples.rows["status"].tolist() == [Status.OK] * 6
    assert samples.reconnects == 2


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_tls_connection_that_dies(kind, trusting, authority, how):
    with kind.server(lambda x: getattr(x, how)(), tls=server_context(authority)) as server:
        samples = kind.send(server.url, 2, trusting)
    assert samples.rows["status"].tolist() == [Status.NETWORK] * 2


def test_files_that_are_no_certificates(tmp_path, authority):
    nonsense = tmp_path / "nonsense.pem"
    nonsense.write_text("no certificate")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    authority.issue_cert("a.example").cert_chain_pems[0].write_to_path(cert)
    authority.issue_cert("b.example").private_key_pem.write_to_path(key)
    with pytest.raises(UsageError, match="cannot read certificates from"):
        tls_context(Tls(ca_file=str(nonsense)))
    for settings in ({"cert_file": str(nonsense)}, {"cert_file": str(cert), "key_file": str(key)}):
        with pytest.raises(UsageError, match=r"cannot use .* as a client certificate"):
            tls_context(Tls(**settings))
