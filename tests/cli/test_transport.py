"""How nodes are reached, as a user asks for it: engines, certificates, proxies, batches."""

import json
import time

import pandas as pd
import pytest

from rpcbench.sim.node import EmbeddedNode, SimSpec

TINY = ("--rounds", "2", "-n", "20", "--warmup", "0", "-c", "2", "-q")
SECRET_PROXY = "http://user:hunter2@127.0.0.1:1"


@pytest.fixture
def node():
    with EmbeddedNode(SimSpec(personality="juno", epoch_unix_s=int(time.time()), pace=0.0)) as node:
        yield node


def recorded(tmp_path):
    (directory,) = [d for d in (tmp_path / "results").iterdir() if d.is_dir()]
    return json.loads((directory / "run.json").read_text()), pd.read_csv(directory / "requests.csv")


@pytest.mark.parametrize(
    ("words", "engine"),
    [([], "asyncio"), (["--engine", "httpx"], "httpx"), (["--compression", "gzip"], "asyncio+gzip")],
    ids=["asyncio", "httpx", "gzip"],
)
def test_the_engine_that_sent_is_recorded(rpcbench, tmp_path, node, words, engine):
    done = rpcbench("run", f"a={node.url}", "-s", "blockHashAndNumber", *TINY, *words)
    assert done.code in {0, 4}, done.err
    manifest, requests = recorded(tmp_path)
    assert manifest["tool"]["engine"] == engine
    assert set(requests.status) == {"ok"}
    assert len(requests) == 40


def test_batches_from_a_file_to_the_tables(rpcbench, tmp_path, node):
    (tmp_path / "batch.yaml").write_text(
        "chain: starknet\ncalls:\n"
        "  - {method: starknet_getBlockWithTxHashes, batch: 10,"
        " params: {block_id: {block_number: {uniform: [0, head]}}}}\n"
    )
    done = rpcbench("run", f"a={node.url}", "-s", "./batch.yaml", *TINY)
    assert done.code in {0, 4}, done.err
    assert "getBlockWithTxHashes ×10" in done.out
    _, requests = recorded(tmp_path)
    assert set(requests.status) == {"ok"}
    assert set(requests.call) == {"getBlockWithTxHashes ×10"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--insecure", "--ca-file", "x.pem"], "--insecure accepts any certificate"),
        (["--key", "x.pem"], "--key belongs to a certificate"),
        (["--http2", "--engine", "asyncio"], "--http2 takes the httpx engine"),
        (["--proxy", SECRET_PROXY, "--engine", "asyncio"], "--proxy takes the httpx engine"),
        (["--proxy", "socks5://hunter2@h"], "the URL of an HTTP proxy"),
        (["--proxy", "hunter2"], "the URL of an HTTP proxy"),
        (["--transport", "ws", "--http2"], "--http2 belongs to HTTP"),
        (["--transport", "ws", "--engine", "httpx"], "--engine httpx belongs to HTTP"),
        (["--transport", "ws", "--compression", "gzip"], "--compression gzip belongs to HTTP"),
        (["--ca-file", "x.pem"], "cannot read certificates from"),
        (["--cert", "x.pem"], "cannot use x.pem as a client certificate"),
    ],
)
def test_what_does_not_go_together(rpcbench, tmp_path, words, said):
    (tmp_path / "x.pem").write_text("nonsense")
    done = rpcbench("run", "http://127.0.0.1:1", "-s", "blockHashAndNumber", *words)
    sentence = done.refused(2, said)
    assert "hunter2" not in sentence


def test_a_proxy_is_kept_secret(rpcbench, tmp_path, node):
    """Nobody listens there: the survey, which takes the same way, says so without its URL."""
    done = rpcbench("run", f"a={node.url}", "-s", "blockHashAndNumber", *TINY, "--proxy", SECRET_PROXY)
    assert done.code == 4
    assert "hunter2" not in done.out + done.err
    assert "Traceback" not in done.err
