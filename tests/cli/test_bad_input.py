"""Whatever is wrong with the command line or the files: one sentence, exit code 2, and no request."""

import pytest

SCENARIO = """\
name: mine
about: A test.
chain: starknet
calls:
  - method: starknet_getBlockWithTxs
    params: {block_id: {block_number: {uniform: [0, head]}}}
"""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-s", "getBlockWithTx"], ["getBlockWithTx", "getBlockWithTxs"]),
        (["-c", "0"], ["--concurrency", "above zero"]),
        (["-c", "-3"], ["--concurrency", "above zero"]),
        (["-r", "0"], ["--rate", "above zero"]),
        (["-r", "nan"], ["--rate"]),
        (["-n", "0"], ["--requests", "above zero"]),
        (["--rounds", "0"], ["--rounds", "above zero"]),
        (["-d", "0s"], ["0s"]),
        (["-d", "-1s"], ["-1s"]),
        (["-d", "soon"], ["soon"]),
        (["--timeout", "0"], ["0"]),
        (["--seed", "-1"], ["--seed"]),
        (["--max-lag", "-1"], ["--max-lag"]),
        (["--noise", "150%"], ["--noise", "150%"]),
        (["-c", "2", "-r", "5"], ["choose one"]),
        (["-d", "1s", "-n", "5"], ["choose one"]),
        (["--arrival", "constant"], ["-r"]),
        (["--arrival", "uniform", "-r", "5"], ["poisson"]),
        (["-H", "no colon"], ["Name: value"]),
        (["--label", "no-equals"], ["key=value"]),
        (["--ca-file", "missing.pem"], ["missing.pem"]),
        (["--nodes", "missing.yaml"], ["missing.yaml"]),
        (["--no-such-option"], ["--no-such-option"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_wrong_options_are_refused_before_any_request(rpcbench, listener, options, words):
    url, reached = listener
    rpcbench("compare", f"a={url}", f"b={url}", *options).refused(2, *words)
    assert reached == []


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        (["juno"], ["two nodes"]),
        (["nosuchnode", "juno"], ["nosuchnode"]),
        (["a=http://127.0.0.1:1", "a=http://127.0.0.1:2"], ["two nodes", "`a`"]),
        (["http://127.0.0.1:1", "http://127.0.0.1:1"], ["127.0.0.1:1"]),
        (["ftp://127.0.0.1", "juno"], ["http"]),
        (["a=http://127.0.0.1:99999", "juno"], ["port"]),
        (["=http://127.0.0.1:1", "juno"], ["name"]),
    ],
    ids=" ".join,
)
def test_wrong_nodes_are_refused(rpcbench, nodes, words):
    rpcbench("compare", *nodes).refused(2, *words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SCENARIO.replace("uniform:", "uniform: ["), ["mine.yaml:"]),
        (SCENARIO.replace("getBlockWithTxs", "getBlockWithTx"), ["mine.yaml:5", "starknet_getBlockWithTxs"]),
        (SCENARIO.replace("block_id", "blockId"), ["mine.yaml:6", "block_id"]),
        (SCENARIO + "    weight: 0\n", ["mine.yaml:7", "weight"]),
        (SCENARIO + "rounds: -2\n", ["mine.yaml:7", "rounds"]),
        (SCENARIO + "durration: 3s\n", ["mine.yaml:7", "duration"]),
    ],
    ids=["malformed", "unknown method", "unknown parameter", "zero weight", "negative rounds", "misspelt field"],
)
def test_wrong_scenarios_are_refused_with_file_and_line(rpcbench, tmp_path, listener, text, words):
    url, reached = listener
    (tmp_path / "mine.yaml").write_text(text)
    rpcbench("scenarios", "validate", "mine.yaml").refused(2, *words)
    rpcbench("compare", f"a={url}", f"b={url}", "-s", "mine.yaml").refused(2, *words)
    assert reached == []


def test_an_unset_variable_is_named_with_its_line(rpcbench, tmp_path):
    (tmp_path / "nodes.yaml").write_text("mine:\n  url: http://127.0.0.1:1/${RPC_KEY}\nother: http://127.0.0.1:2\n")
    rpcbench("compare", "mine", "other").refused(2, "nodes.yaml:2", "RPC_KEY")


def test_a_malformed_nodes_file_is_named_with_its_line(rpcbench, tmp_path):
    (tmp_path / "nodes.yaml").write_text("mine:\n  url: [\n")
    rpcbench("nodes").refused(2, "nodes.yaml:")


def test_a_missing_run_is_named(rpcbench):
    rpcbench("report", "results/nothing").refused(1, "results/nothing", "not a run directory")


def test_help_names_every_command_and_exit_code(rpcbench):
    shown = rpcbench("--help")
    assert shown.code == 0
    for command in ("compare", "run", "check", "demo", "report", "scenarios", "nodes", "simulate"):
        assert command in shown.out
    assert "130" in shown.out


def test_every_command_has_help(rpcbench):
    for command in ("compare", "run", "check", "demo", "report", "scenarios", "nodes", "simulate"):
        shown = rpcbench(command, "--help")
        assert shown.code == 0
        assert "Usage: rpcbench" in shown.out
