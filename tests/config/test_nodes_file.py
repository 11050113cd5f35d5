"""What a person may call a node, where it leads, and that secrets stay secret."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from rpcbench.config.nodes_file import known_nodes, resolve_nodes
from rpcbench.errors import EXIT_USAGE, SpecError, UsageError
from rpcbench.model.node import Node

WriteFile = Callable[[str, str], Path]

NODES = """\
prod:
  url: https://eth.example.com/v2/${ETH_KEY}
  ws_url: wss://eth.example.com/ws/${ETH_KEY}
  headers:
    X-Team: ${TEAM}-$${literal}
    Authorization: Bearer ${TOKEN}
  tags: [paid, "${TEAM}"]
plain: http://10.0.0.5:9545/rpc/v0_8
juno: http://juno.example.com:6060
"""
ENVIRON = {"ETH_KEY": "k3y", "TEAM": "core", "TOKEN": "t0ken"}


@pytest.fixture(autouse=True)
def _empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def resolve(*names: str, **environ: str) -> tuple[Node, ...]:
    return resolve_nodes(names, environ=environ)


def refusal(names: Sequence[str], **environ: str) -> str:
    with pytest.raises(UsageError) as caught:
        resolve_nodes(names, environ=environ)
    assert caught.value.exit_code == EXIT_USAGE
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "port"),
    [
        *(("juno", 6060), ("pathfinder", 9545), ("devnet", 5050), ("geth", 8545), ("reth", 8545)),
        *(("erigon", 8545), ("nethermind", 8545), ("anvil", 8545)),
    ],
)
def test_well_known_names_need_no_file(name: str, port: int) -> None:
    assert resolve(name) == (Node(name, f"http://localhost:{port}"),)


def test_urls_are_named_by_host_and_port() -> None:
    nodes = resolve("localhost:8545", "https://rpc.example.com/v1/secret", "http://[::1]:9/x", "example.com:80/?k=v")
    assert [node.name for node in nodes] == ["localhost:8545", "rpc.example.com", "::1:9", "example.com:80"]
    assert nodes[0].url == "http://localhost:8545"
    assert nodes[3].url == "http://example.com:80/?k=v"


def test_a_url_or_a_name_can_be_given_a_name() -> None:
    nodes = resolve("old=http://h:1/?k=a=b", "new=juno")
    assert nodes == (Node("old", "http://h:1/?k=a=b"), Node("new", "http://localhost:6060"))


def test_the_file_in_the_working_directory_is_read(write: WriteFile) -> None:
    write("nodes.yaml", NODES)
    (node,) = resolve("prod", **ENVIRON)
    assert node.url == "https://eth.example.com/v2/k3y"
    assert node.ws_url == "wss://eth.example.com/ws/k3y"
    assert node.headers == (("X-Team", "core-${literal}"), ("Authorization", "Bearer t0ken"))
    assert node.tags == ("paid", "core")
    assert node.place == "eth.example.com/v2/…"
    assert "k3y" not in repr(node)


def test_a_file_overrules_a_well_known_name(write: WriteFile) -> None:
    write("nodes.yaml", NODES)
    assert resolve("juno")[0].url == "http://juno.example.com:6060"


def test_the_working_directory_comes_before_the_user_s_files(write: WriteFile) -> None:
    write("nodes.yaml", "a: http://here:1\n")
    write("home/.config/rpcbench/nodes.yaml", "a: http://there:1\nb: http://home:1\n")
    write("xdg/rpcbench/nodes.yaml", "b: http://xdg:1\n")
    assert [n.url for n in resolve("a", "b", HOME="home")] == ["http://here:1", "http://home:1"]
    assert resolve("b", HOME="home", XDG_CONFIG_HOME="xdg")[0].url == "http://xdg:1"
    assert "no node named `b`" in refusal(["b"])


def test_a_named_file_stands_alone(write: WriteFile) -> None:
    write("nodes.yaml", "a: http://here:1\n")
    mine = write("mine.yaml", "b: http://mine:1\n")
    assert resolve_nodes(["b"], mine, environ={})[0].url == "http://mine:1"
    with pytest.raises(UsageError, match="no node named `a`"):
        resolve_nodes(["a"], mine, environ={})
    with pytest.raises(SpecError, match=r"^there is no nodes file gone\.yaml; create it, or leave --nodes out"):
        resolve_nodes(["b"], Path("gone.yaml"), environ={})


def test_files_are_not_read_for_urls(write: WriteFile) -> None:
    write("nodes.yaml", "broken: [\n")
    assert resolve("a=http://h:1", "h:2")[0].url == "http://h:1"


@pytest.mark.parametrize("environ", [{}, {"TEAM": "core", "TOKEN": ""}])
def test_an_unset_variable_is_told_with_file_line_and_name(write: WriteFile, environ: dict[str, str]) -> None:
    write("nodes.yaml", NODES)
    lines = refusal(["prod"], **environ).splitlines()
    assert lines[0] == (
        "nodes.yaml:2: field `prod.url`: the environment variable ETH_KEY is not set; export ETH_KEY=… before you start"
    )
    assert any(line.startswith("nodes.yaml:6: field `prod.headers.Authorization`: ") for line in lines)


def test_variables_of_other_nodes_may_be_unset(write: WriteFile) -> None:
    write("nodes.yaml", NODES)
    assert resolve("plain")[0].url == "http://10.0.0.5:9545/rpc/v0_8"


@pytest.mark.parametrize("text", ["${", "${A", "${}", "${A B}", "${1A}"])
def test_a_broken_reference_is_told(write: WriteFile, text: str) -> None:
    write("nodes.yaml", f"a: 'http://h:1/{text}'\n")
    assert refusal(["a"], A="x") == (
        "nodes.yaml:1: field `a`: holds ${ without the name of a variable; write ${NAME}, or $${ for the text ${"
    )


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("a: {url: ws://h:1/s3cret}", "1: field `a.url`: is a WebSocket address, and requests go over HTTP"),
        ("a: ftp://h/s3cret", "1: field `a`: begins with neither http:// nor https://"),
        ("a: http://h:99999/s3cret", "1: field `a`: has no sound port"),
        ("a:\n  uri: http://h/s3cret", "2: field `a.uri`: is not known here; did you mean `url`?"),
        ("a:\n  tags: [s3cret]", "1: field `a.url`: is missing; it must be given"),
        ("a: {url: http://h, ws_url: http://h/s3cret}", "1: field `a.ws_url`: begins with neither ws:// nor wss://"),
        ("a:\n  url: http://h\n  headers:\n    X-N: 5", "4: field `a.headers.X-N`: is not text; put it in quotes"),
        ("a: {url: http://h, headers: s3cret}", "1: field `a.headers`: is no mapping"),
        ("a: {url: http://h, headers: {'X Y': s3cret}}", "1: field `a.headers.X Y`: is no name for a header"),
        ("a: {url: http://h, headers: {X: 's3crét'}}", "1: field `a.headers.X`: holds a line break, a control"),
        ('a: {url: http://h, headers: {X: "s3cret\\n"}}', "1: field `a.headers.X`: holds a line break, a control"),
        ("a: {url: http://h, tags: s3cret}", "1: field `a.tags`: is no list"),
        ("a: 5", "1: field `a`: is no mapping"),
        ("a: {url: 5}", "1: field `a.url`: is not text"),
        ("a: http://h/s3cret\na: http://h", "2: field `a`: is already on line 1; keep one of the two"),
        ("a: 'http://h/s3cret", "1: is not valid YAML"),
    ],
)
def test_a_wrong_entry_is_told_with_line_and_without_its_value(write: WriteFile, entry: str, sentence: str) -> None:
    write("nodes.yaml", entry + "\n")
    message = refusal(["a"])
    assert any(line.startswith(f"nodes.yaml:{sentence}") for line in message.splitlines()), message
    assert "s3cr" not in message


def test_a_name_that_no_file_could_have_is_told(write: WriteFile) -> None:
    write("nodes.yaml", "'my node': http://h:1\n")
    assert refusal(["my node"]).startswith("nodes.yaml:1: field `my node`: is no name for a node; use up to")


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("", "node 1 on the command line is empty; write a name or a URL"),
        ("=http://h:1/s3cret", "the name of node 1 is empty; write a name before the `=`"),
        ("a=", "node `a` is empty; write a name or a URL"),
        ("a b=http://h/s3cret", "`a b` is no name for a node; use up to"),
        ("ws://h:8546/s3cret", "the URL of node 1 on the command line is a WebSocket address"),
        ("a=ws://h:8546/s3cret", "the URL of node `a` is a WebSocket address"),
        ("ftp://u:s3cret@h", "the URL of node 1 on the command line begins with neither http:// nor https://"),
        ("http://h:port/s3cret", "the URL of node 1 on the command line has no sound port"),
        ("http://h:0/s3cret", "the URL of node 1 on the command line has no sound port"),
        ("http://u:s3cret/x@h", "the URL of node 1 on the command line has no sound port"),
        ("http:///s3cret", "the URL of node 1 on the command line names no host"),
        ("http://[s3cret", "the URL of node 1 on the command line is no URL"),
        ("http://h/s3 cret", "the URL of node 1 on the command line holds a space"),
        ("http://h/s3#cret", "the URL of node 1 on the command line holds `#`"),
        (
            "pathfindr",
            "there is no node named `pathfindr`; did you mean `pathfinder`? (a URL is written http://host:port)",
        ),
        ("rpc.example.com", "there is no node named `rpc.example.com`; known are juno, pathfinder, devnet"),
    ],
)
def test_a_wrong_word_is_told_without_a_secret(word: str, sentence: str) -> None:
    message = refusal([word])
    assert message.startswith(sentence)
    assert "s3" not in message
    assert "cret" not in message


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["juno", "juno"], "two nodes are called `juno`; give each a name of its own: a=… b=…"),
        (["a=h:1", "a=h:2"], "two nodes are called `a`"),
        (["https://h/s3cret", "https://h/0ther"], "two nodes are called `h`"),
        (["juno", "localhost:6060"], "`juno` and `localhost:6060` are one node (localhost:6060)"),
        (["geth", "reth"], "`geth` and `reth` are one node (localhost:8545); name another"),
        (["a=HTTP://LocalHost:6060/", "juno"], "`a` and `juno` are one node"),
        (["a=http://h", "h:80"], "`a` and `h:80` are one node"),
    ],
)
def test_twins_are_refused(words: list[str], sentence: str) -> None:
    message = refusal(words)
    assert message.startswith(sentence)
    assert "s3cret" not in message


def test_a_node_can_be_set_against_itself_on_purpose() -> None:
    assert [node.url for node in resolve("a=h:1", "b=h:1")] == ["http://h:1"] * 2
    assert [node.name for node in resolve("a=juno", "b=juno")] == ["a", "b"]


def test_one_url_with_other_headers_is_another_node(write: WriteFile) -> None:
    write("nodes.yaml", "a: {url: 'http://h:1', headers: {X: one}}\nb: {url: 'http://h:1', headers: {X: two}}\n")
    assert len(resolve("a", "b")) == 2


def test_extra_headers_go_to_all_and_replace_the_node_s_own(write: WriteFile) -> None:
    write("nodes.yaml", "a: {url: 'http://h:1', headers: {authorization: old, X: one}}\n")
    a, juno = resolve_nodes(["a", "juno"], environ={}, extra_headers=[("Authorization", "new")])
    assert a.headers == (("X", "one"), ("Authorization", "new"))
    assert juno.headers == (("Authorization", "new"),)


def test_known_nodes_are_listed_with_their_source_and_without_secrets(write: WriteFile) -> None:
    write("nodes.yaml", NODES)
    write("cfg/rpcbench/nodes.yaml", "prod: http://other:1\nmine: http://m:1/s3cretkey\n")
    listed = {node.name: (node.place, node.source) for node in known_nodes(environ={"XDG_CONFIG_HOME": "cfg"})}
    assert listed["prod"] == ("(set ETH_KEY, TEAM, TOKEN first)", "nodes.yaml")
    assert listed["mine"] == ("m:1/…", "cfg/rpcbench/nodes.yaml")
    assert listed["juno"] == ("juno.example.com:6060", "nodes.yaml")
    assert listed["pathfinder"] == ("localhost:9545", "well-known")
    with_key = {node.name: node.place for node in known_nodes(environ=ENVIRON)}
    assert with_key["prod"] == "eth.example.com/v2/…"
