"""The life of an embedded node: it starts, it ends with its owner, and it says what is wrong."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rpcbench.errors import RpcbenchError, UsageError
from rpcbench.sim.node import PERSONALITIES, EmbeddedNode, SimSpec
from rpcbench.sim.spec import Faults, spec_from_json

ROOT = Path(__file__).resolve().parents[2]


def gone(pid: int, within_s: float = 5.0) -> bool:
    """Whether the process has ended; a zombie that nobody has waited for has."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def refused(url: str) -> bool:
    host, port = url.removeprefix("http://").split(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) != 0


def python(code: str, **kwargs: Any) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True, **kwargs)


@pytest.mark.parametrize("personality", PERSONALITIES)
def test_a_node_lives_as_long_as_its_block(personality: str) -> None:
    with EmbeddedNode(SimSpec(personality, start_blocks=5)) as node:
        pid, url = node.pid, node.url
        assert node.alive
        assert node.stats()["personality"] == personality
    assert gone(pid)
    assert refused(url)
    assert not node.alive
    node.stop()


def test_a_node_ends_when_its_owner_is_killed() -> None:
    code = (
        "from rpcbench.sim.node import *; import time\n"
        "node = EmbeddedNode(SimSpec('juno', start_blocks=5)).__enter__()\n"
        "print(node.pid, flush=True); time.sleep(60)"
    )
    with python(code) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        assert not gone(pid, within_s=0.1)
        owner.send_signal(signal.SIGKILL)
        owner.wait()
    assert gone(pid)


def test_a_node_ends_even_if_somebody_else_keeps_its_pipe() -> None:
    code = (
        "from rpcbench.sim.node import *; import os, time\n"
        "node = EmbeddedNode(SimSpec('juno', start_blocks=5)).__enter__()\n"
        "keeper = os.fork()\n"
        "if keeper == 0: time.sleep(20); os._exit(0)\n"
        "print(node.pid, keeper, flush=True); time.sleep(60)"
    )
    with python(code) as owner:
        assert owner.stdout is not None
        pid, keeper = map(int, owner.stdout.readline().split())
        owner.send_signal(signal.SIGKILL)
        owner.wait()
        try:
            assert gone(pid)
        finally:
            os.kill(keeper, signal.SIGKILL)


def test_ctrl_c_reaches_the_owner_and_not_its_node() -> None:
    with EmbeddedNode(SimSpec("juno", start_blocks=5)) as node:
        assert os.getpgid(node.pid) != os.getpgid(0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serving_in_the_foreground_stops_quietly(number: signal.Signals) -> None:
    code = (
        "from rpcbench.sim.node import *\n"
        "serve_forever(SimSpec('geth', start_blocks=5), lambda url: print(url, flush=True)); print('stopped')"
    )
    with python(code, stderr=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        url = server.stdout.readline().strip()
        assert not refused(url)
        server.send_signal(number)
        assert server.stdout.read() == "stopped\n"
        assert server.stderr.read() == ""
        assert server.wait() == 0


def test_a_taken_port_is_a_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with (
            pytest.raises(UsageError, match=f"cannot listen on 127.0.0.1:{port}: .*; choose another port"),
            EmbeddedNode(SimSpec("juno", port=port)),
        ):
            pass


def test_a_node_listens_where_it_is_told() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with EmbeddedNode(SimSpec("juno", port=port, start_blocks=5)) as node:
        assert node.url == f"http://127.0.0.1:{port}"


def test_a_node_that_is_gone_is_reported_as_such() -> None:
    with EmbeddedNode(SimSpec("juno", start_blocks=5)) as node:
        os.kill(node.pid, signal.SIGKILL)
        assert gone(node.pid)
        with pytest.raises(RpcbenchError, match="does not answer any more"):
            node.stats()


def test_a_spec_survives_the_way_to_the_child() -> None:
    faults = Faults(failures={"reset": 0.1}, methods=("a", "b"), required_header=("k", "v"), spec_versions=("0.8",))
    spec = SimSpec("geth", port=1, seed=3, epoch_unix_s=5, delay_ms=0.25, faults=faults)
    assert spec_from_json(spec.to_json()) == spec


def test_the_front_is_cheap_to_import() -> None:
    heavy = "asyncio, uvloop, httptools, numpy, http.client"
    code = f"import sys, rpcbench.sim.node; print([m for m in '{heavy}'.split(', ') if m in sys.modules])"
    with python(code) as importer:
        assert importer.communicate()[0] == "[]\n"
