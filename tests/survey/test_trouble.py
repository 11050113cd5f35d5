"""Every way in which a node cannot be asked: one sentence that says what to do, and no secret in it."""

from __future__ import annotations

import datetime
import logging
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trustme

from rpcbench.errors import NodesError, UsageError
from rpcbench.model.node import Node
from rpcbench.model.route import Route, Tls
from rpcbench.model.scenario import Chain
from rpcbench.survey.survey import Survey, ask, ask_again, judge
from tests.survey.conftest import Start
from tests.survey.fake_node import MISSING, FakeNode, Raw, geth, juno

SECRETS = ("k3yInPath", "k3yInQuery", "annabel", "passw0rd", "t0kenInHeader")


def secretive(place: str, scheme: str = "http", name: str = "ours") -> Node:
    """A node whose URL and headers are full of secrets."""
    url = f"{scheme}://annabel:passw0rd@{place}/v3/k3yInPath/rpc?apikey=k3yInQuery"
    return Node(name, url, headers=(("Authorization", "Bearer t0kenInHeader"), ("X-Key", "t0kenInHeader")))


def problem(node: Node, chain: Chain | None = Chain.ETHEREUM, **more: object) -> str:
    """The one sentence that the survey has to say about `node`, checked for what every sentence must fulfil."""
    survey = ask([node], chain, **more)  # type: ignore[arg-type]
    assert survey.facts == ()
    (sentence,) = survey.problems
    with pytest.raises(NodesError) as raised:
        judge(survey)
    for text in (sentence, str(raised.value), repr(raised.value), repr(survey), str(raised.value.__cause__)):
        assert not [secret for secret in SECRETS if secret in text]
    assert sentence.startswith(f"{node.name} ({node.place}) ")
    assert sentence.endswith(".")
    assert "://" not in sentence.replace("use http:// instead of https://", "")
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (Raw(401, b'{"error":"k3yInPath?"}'), "does not let us in (HTTP 401): check its headers and the key"),
        (Raw(403, b"t0kenInHeader is wrong"), "does not let us in (HTTP 403)"),
        (Raw(404, b"404 page not found"), "has nothing at this path (HTTP 404): correct the path"),
        (Raw(429, b"slow down"), "limits our rate (HTTP 429): wait a while"),
        (Raw(402, b'{"error":{"code":402}}'), "limits our rate (error 402)"),
        (Raw(200, b'{"id":1,"error":{"code":-32005,"message":"k3yInPath"}}'), "limits our rate (error -32005)"),
        (Raw(500, b"oops k3yInPath"), "fails with HTTP 500: look into its log"),
        (Raw(503, b"Too many requests", (("Retry-After", "1"),)), "fails with HTTP 503"),
        (Raw(301, b"", (("Location", "http://h/k3yInPath"),)), "elsewhere (HTTP 301), and redirects are not followed"),
        (Raw(308, b"", (("Location", "/elsewhere"),)), "redirects elsewhere (HTTP 308)"),
        (Raw(415, b""), "answers HTTP 415 instead of JSON-RPC"),
        (Raw(200, b""), "sends an empty reply"),
        (Raw(200, b" \n"), "sends an empty reply"),
        (Raw(200, b"\n<!doctype html><p>k3yInPath</p>"), "answers with a web page (HTML)"),
        (Raw(200, b"pong k3yInPath"), "answers with something that is not JSON"),
        (Raw(200, b'{"jsonrpc":"2.0","id":1,"resu'), "answers with something that is not JSON"),
        (Raw(200, b"[" * 100_000), "answers with something that is not JSON"),
        (Raw(200, b'{"status":"ok"}'), "answers with JSON that is not a JSON-RPC reply"),
        (Raw(200, b'{"jsonrpc":"2.0","id":77,"result":"0x1"}'), "answers with JSON that is not a JSON-RPC reply"),
        (Raw(200, b'[1,"k3yInPath"]'), "answers with JSON that is not a JSON-RPC reply"),
        (Raw(200, b"\xff\xfe\x00", (("Content-Encoding", "gzip"),)), "breaks off without a complete answer"),
    ],
    ids=lambda value: f"{value.status}-{value.body[:12]!r}" if isinstance(value, Raw) else "",
)  # fmt: skip
def test_an_answer_that_is_no_json_rpc(start: Start, raw: Raw, says: str) -> None:
    fake = start(geth(raw=raw))
    assert says in problem(secretive(fake.place))
    assert {seen.path for seen in fake.seen} == {"/v3/k3yInPath/rpc?apikey=k3yInQuery"}  # no redirect was followed


def test_an_error_is_quoted_without_secrets(start: Start) -> None:
    said = {"error": {"code": -32000, "message": "project k3yInPath is \x1b[31m unknown\n", "data": "t0kenInHeader"}}
    fake = start(geth(answers={"eth_getBlockByNumber": said}))
    says = problem(secretive(fake.place))
    assert 'answers eth_getBlockByNumber with error -32000 "project … is [31m unknown : …": see what' in says


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("eth_chainId", 1),
        ("eth_chainId", "mainnet"),
        ("eth_chainId", "0x1\n"),
        ("eth_chainId", "0x" + "1" * 100),
        ("eth_getBlockByNumber", {"number": "0x1"}),
        ("eth_getBlockByNumber", {"number": "one", "hash": "0x1", "timestamp": "0x1"}),
        ("eth_getBlockByNumber", [1]),
    ],
)
def test_an_answer_of_another_form(start: Start, method: str, answer: object) -> None:
    says = problem(start(geth(answers={method: answer})).node())
    assert f"answers {method} in a form that the specification does not know" in says


def test_a_spec_version_of_another_form(start: Start) -> None:
    node = start(juno(answers={"starknet_specVersion": "latest"})).node(path="/rpc/v0_8")
    assert "answers starknet_specVersion in a form" in problem(node, Chain.STARKNET)


@pytest.mark.parametrize(
    ("fake", "chain"),
    [
        (geth(answers={"eth_getBlockByNumber": None}), Chain.ETHEREUM),
        (
            juno(answers={"starknet_getBlockWithTxHashes": {"error": {"code": 32, "message": "There are no blocks"}}}),
            Chain.STARKNET,
        ),
    ],
)
def test_a_node_without_blocks(start: Start, fake: FakeNode, chain: Chain) -> None:
    says = problem(start(fake).node(path="/rpc/v0_8" if chain is Chain.STARKNET else ""), chain)
    assert "has no block yet: let it" in says or 'error 32 "There are no blocks": see what its log' in says


def test_a_server_that_speaks_json_rpc_but_no_known_chain(start: Start) -> None:
    says = problem(start(geth(answers={"eth_chainId": MISSING})).node())
    assert 'answers eth_chainId with error -32601 "Method not found": see' in says


def test_a_refused_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = f"127.0.0.1:{server.getsockname()[1]}"
    assert "refuses the connection: start the node" in problem(secretive(place))


def test_a_name_that_does_not_resolve(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(host: object, *_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    assert "has a host name that does not resolve" in problem(secretive("no-such-node.example"))


def test_a_url_that_cannot_be_asked() -> None:
    assert "has a URL or a header that cannot be sent" in problem(secretive("127.0.0.1", "ftp"))


@pytest.mark.parametrize("value", ["t0kenInHeader\r\nX: y", "t0kenInHeader…"])
def test_a_header_that_cannot_be_sent(start: Start, value: str) -> None:
    node = start(geth()).node(headers=(("X-Key", value),))
    assert "has a URL or a header that cannot be sent" in problem(node)


Behave = Callable[[socket.socket], None]


@pytest.fixture
def behaving() -> Iterator[Callable[[Behave], str]]:
    """A TCP server that does with each connection what the test says."""
    servers: list[socket.socket] = []

    def run(behave: Behave) -> str:
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)

        def accept() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    behave(connection)

        threading.Thread(target=accept, daemon=True).start()
        return f"127.0.0.1:{server.getsockname()[1]}"

    yield run
    for server in servers:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


def _hang(connection: socket.socket) -> None:
    while connection.recv(4096):
        pass


def _drip(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    try:
        while True:
            connection.sendall(b" ")
            time.sleep(0.02)
    except OSError:
        return


@pytest.mark.parametrize("behave", [_hang, _drip])
def test_no_complete_answer_in_time(behaving: Callable[[Behave], str], behave: Behave) -> None:
    began_s = time.monotonic()
    assert "does not answer within 0.3 s" in problem(secretive(behaving(behave)), timeout_s=0.3)
    assert time.monotonic() - began_s < 2


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", b"\x15\x03\x01\x00\x02"])
def test_a_connection_that_is_cut(behaving: Callable[[Behave], str], answer: bytes) -> None:
    def cut(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(answer)

    assert "breaks off without a complete answer" in problem(secretive(behaving(cut)))


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def _serving(certificate: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> str:
    path = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(path)
    return str(path)


def test_tls_with_the_authority_that_is_named(start: Start, authority: trustme.CA, ca_file: str) -> None:
    fake = start(geth(), tls=_serving(authority.issue_cert("127.0.0.1")))
    assert ask([fake.node()], None, route=Route(Tls(ca_file=ca_file))).problems == ()


def test_tls_with_the_authorities_of_the_system(
    start: Start, authority: trustme.CA, ca_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = start(geth(), tls=_serving(authority.issue_cert("127.0.0.1")))
    monkeypatch.setenv("SSL_CERT_FILE", ca_file)
    assert ask([fake.node()], None).problems == ()
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(other)
    assert "certificate that is not trusted here" in problem(fake.node(), route=Route(Tls(ca_file=str(other))))


def test_tls_certificate_that_is_not_trusted(start: Start, authority: trustme.CA) -> None:
    fake = start(geth(), tls=_serving(authority.issue_cert("127.0.0.1")))
    assert "certificate that is not trusted here: name its authority (--ca-file)" in problem(
        secretive(fake.place, "https")
    )


def test_tls_certificate_that_has_expired(start: Start, authority: trustme.CA, ca_file: str) -> None:
    past = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    expired = authority.issue_cert("127.0.0.1", not_before=past, not_after=past + datetime.timedelta(days=1))
    fake = start(geth(), tls=_serving(expired))
    assert "certificate that has expired" in problem(secretive(fake.place, "https"), route=Route(Tls(ca_file=ca_file)))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_tls_certificate_of_another_host(start: Start, authority: trustme.CA, ca_file: str, host: str) -> None:
    fake = start(geth(), tls=_serving(authority.issue_cert("elsewhere.example", "127.0.0.2")))
    assert "certificate of another host" in problem(
        secretive(f"{host}:{fake.port}", "https"), route=Route(Tls(ca_file=ca_file))
    )


def test_https_toward_a_port_without_tls(start: Start) -> None:
    fake = start(geth())
    assert "does not speak TLS on this port: use http://" in problem(secretive(fake.place, "https"))


def test_http_toward_a_port_with_tls(start: Start, authority: trustme.CA) -> None:
    fake = start(geth(), tls=_serving(authority.issue_cert("127.0.0.1")))
    assert "breaks off without a complete answer" in problem(secretive(fake.place))


@pytest.mark.parametrize("content", [None, "not a certificate"])
def test_an_authority_file_that_cannot_be_read(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "authority.pem"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError, match=r"cannot read certificates from .*authority\.pem: give a readable PEM file"):
        ask([Node("a", "https://127.0.0.1:1")], None, route=Route(Tls(ca_file=str(path))))


def test_nobody_tells_the_chain() -> None:
    nodes = [secretive("127.0.0.1:1", name="one"), secretive("127.0.0.1:2", name="two")]
    with pytest.raises(NodesError) as raised:
        ask(nodes, None)
    lines = str(raised.value).splitlines()
    assert [line.split(" refuses")[0] for line in lines] == [
        "one (127.0.0.1:1/v3/…/rpc)",
        "two (127.0.0.1:2/v3/…/rpc)",
    ]


def test_a_node_in_trouble_is_asked_no_more(start: Start) -> None:
    fake = start(geth(raw=Raw(429)))
    problem(fake.node())
    assert len(fake.seen) == 1


def test_one_node_in_trouble_does_not_keep_the_others_from_being_asked(start: Start) -> None:
    survey = ask([secretive("127.0.0.1:1"), start(geth()).node()], None)
    assert [fact.node for fact in survey.facts] == ["geth"]
    assert len(survey.problems) == 1


def _texts(survey: Survey, again: object) -> str:
    return "\n".join([repr(survey), str(survey), repr(again), *survey.problems])


def test_secrets_appear_nowhere_when_all_goes_well(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echo = "served for annabel:passw0rd with k3yInPath k3yInQuery t0kenInHeader"
    one = start(geth(answers={"web3_clientVersion": echo}, age_s=5000))
    two = start(geth(answers={"eth_syncing": True}, fork=1))
    survey = ask([secretive(one.place, name="one"), secretive(two.place, name="two")], None)
    assert survey.facts[0].client_version == "served for …:… with … … …"
    assert {notice.kind for notice in survey.notices} == {"clock_skew", "syncing"}
    one.fork, two.raw = 5, Raw(503, b"k3yInPath")
    again = ask_again(survey)
    assert {notice.kind for notice in again[1]} == {"reorg", "gone"}
    text = _texts(survey, again) + caplog.text
    assert not [secret for secret in SECRETS if secret in text]
