"""The null server: its answers, and above all the honesty of its stamps."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from rpcbench.engine.asyncio_engine import AsyncioEngine
from rpcbench.errors import EngineError
from rpcbench.model.node import Node
from rpcbench.model.workload import Call, Workload
from rpcbench.sim.null_server import CAPACITY as USUAL_CAPACITY
from rpcbench.sim.null_server import NullServer

CAPACITY = 1_000


@pytest.fixture(scope="module")
def shared() -> Iterator[NullServer]:
    with NullServer(capacity=CAPACITY) as server:
        yield server


@pytest.fixture
def server(shared: NullServer) -> NullServer:
    """The server that all tests share, with nothing on its books."""
    shared.stamps()
    return shared


def body(call: int) -> bytes:
    return b'{"jsonrpc":"2.0","id":%d,"method":"m","params":{"id":"7"}}' % call


def post(url: str, content: bytes) -> tuple[int, bytes]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=5)
    try:
        connection.request("POST", parts.path, content)
        reply = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


@contextlib.contextmanager
def connected(server: NullServer) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", urlsplit(server.url()).port or 0), timeout=5) as raw:
        yield raw


def raw_post(call: int) -> bytes:
    return b"POST / HTTP/1.1\r\nHost: x\r\ncontent-length: %d\r\n\r\n%b" % (len(body(call)), body(call))


def read_ids(raw: socket.socket, count: int) -> list[int]:
    """The ids of the next `count` replies."""
    received = b""
    while received.count(b'"block_number":160}}') < count:
        more = raw.recv(65_536)
        assert more, received
        received += more
    return [json.loads(part.split(b"\r\n\r\n")[1])["id"] for part in received.split(b"HTTP/1.1 200 OK")[1:]]


def eventually(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def alive(pid: int) -> bool:
    """Whether the process runs; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(("large", "size"), [(False, 130), (True, 190_000)])
def test_the_reply_has_the_requests_id_and_about_the_promised_size(server: NullServer, large: bool, size: int) -> None:
    status, reply = post(server.url(large=large), body(42))
    assert status == 200
    assert json.loads(reply).keys() == {"jsonrpc", "id", "result"}
    assert json.loads(reply)["id"] == 42
    assert len(reply) == pytest.approx(size, rel=0.1)


def test_stamps_lie_between_asking_and_hearing_on_this_processes_own_clock(server: NullServer) -> None:
    before_ns = time.monotonic_ns()
    post(server.url(), body(7))
    after_ns = time.monotonic_ns()
    stamps = server.stamps()
    assert before_ns < stamps.arrived_ns[7] < stamps.departed_ns[7] < after_ns
    assert stamps.arrived_ns[7] + stamps.unix_offset_ns == pytest.approx(time.time_ns(), abs=5e9)


def test_stamps_go_by_id_and_each_is_given_out_once(server: NullServer) -> None:
    for call in (5, 3, 900):
        post(server.url(), body(call))
    stamps = server.stamps()
    assert len(stamps.arrived_ns) == len(stamps.departed_ns) == CAPACITY
    assert np.flatnonzero(stamps.arrived_ns).tolist() == [3, 5, 900]
    assert np.flatnonzero(stamps.departed_ns).tolist() == [3, 5, 900]
    assert stamps.arrived_ns[5] < stamps.arrived_ns[3] < stamps.arrived_ns[900]
    assert stamps.served == 3
    again = server.stamps()
    assert not again.arrived_ns.any()
    assert again.served == 0


def test_an_id_beyond_the_books_is_answered_and_only_counted(server: NullServer) -> None:
    for call in (CAPACITY - 1, CAPACITY, 10**15):
        assert json.loads(post(server.url(), body(call))[1])["id"] == call
    stamps = server.stamps()
    assert np.flatnonzero(stamps.arrived_ns).tolist() == [CAPACITY - 1]
    assert stamps.served == 3


def test_a_request_without_an_id_gets_null(server: NullServer) -> None:
    assert json.loads(post(server.url(), b"[]")[1])["id"] is None
    assert not server.stamps().arrived_ns.any()


def test_a_request_in_pieces_arrives_with_its_last_one(server: NullServer) -> None:
    request = raw_post(11)
    with connected(server) as raw:
        for piece in (request[:20], request[20:-9], request[-9:]):
            sent_ns = time.monotonic_ns()
            raw.sendall(piece)
            time.sleep(0.02)
        assert read_ids(raw, 1) == [11]
    assert server.stamps().arrived_ns[11] > sent_ns


def test_requests_that_come_together_are_answered_in_order(server: NullServer) -> None:
    with connected(server) as raw:
        raw.sendall(raw_post(1) + raw_post(2) + raw_post(3))
        assert read_ids(raw, 3) == [1, 2, 3]
    assert server.stamps().served == 3


def test_what_is_not_http_costs_its_connection_only(server: NullServer) -> None:
    with connected(server) as raw, contextlib.suppress(ConnectionResetError):
        raw.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        assert raw.recv(100) == b""
    assert post(server.url(), body(1))[0] == 200


def test_a_service_time_is_kept_and_stamped() -> None:
    with NullServer(capacity=100, service_us=3_000) as server:
        with connected(server) as raw:
            raw.sendall(raw_post(1) + raw_post(2))
            assert read_ids(raw, 2) == [1, 2]
        began = time.monotonic()
        post(server.url(), body(3))
        assert time.monotonic() - began > 0.003
        stamps = server.stamps()
        held_ms = (stamps.departed_ns - stamps.arrived_ns)[1:4] / 1e6
        assert (held_ms >= 3.0).all()
        assert np.median(held_ms) < 20.0


def test_a_client_that_leaves_before_its_reply_does_no_harm() -> None:
    with NullServer(service_us=50_000) as server:
        with connected(server) as raw:
            raw.sendall(raw_post(1))
        assert json.loads(post(server.url(), body(2))[1])["id"] == 2


def test_the_engine_and_the_server_keep_the_same_books(server: NullServer) -> None:
    count = 600
    calls = [Call(n, 0, body(n)) for n in range(count)]
    engine = AsyncioEngine()
    try:
        order = np.arange(count, dtype=np.int32)
        workload = Workload(Node("null", server.url()), calls, order, None, 4, None, 5_000_000_000)
        samples = engine.run(workload, lambda progress: None)
    finally:
        engine.close()
    stamps, rows = server.stamps(), samples.rows
    assert samples.answered.all()
    assert stamps.served == len(rows) == count
    origin_ns = samples.started_unix_ns - stamps.unix_offset_ns
    clock_slack_ns = 1_000_000  # two readings of the wall clock lie between, and it may be slewed
    arrived_ns, departed_ns = stamps.arrived_ns[rows["call"]], stamps.departed_ns[rows["call"]]
    assert (rows["sent_ns"] + origin_ns <= arrived_ns + clock_slack_ns).all()
    assert (departed_ns <= rows["done_ns"] + origin_ns + clock_slack_ns).all()
    assert (samples.service_ns >= departed_ns - arrived_ns).all()


def test_ctrl_c_is_for_this_process_and_not_for_the_server(server: NullServer) -> None:
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    os.kill(server.pid, signal.SIGINT)
    time.sleep(0.05)
    assert post(server.url(), body(1))[0] == 200


def test_books_of_the_usual_size_come_over_whole_and_the_server_goes_on() -> None:
    with NullServer() as server:
        for call in (1, USUAL_CAPACITY - 1):
            post(server.url(), body(call))
            assert np.flatnonzero(server.stamps().departed_ns).tolist() == [call]


def test_stopping_ends_the_process_and_may_be_done_twice() -> None:
    with NullServer() as server:
        pid = server.pid
        assert alive(pid)
    assert not alive(pid)
    server.stop()


def test_a_server_that_died_is_told_in_a_sentence() -> None:
    with NullServer() as server:
        os.kill(server.pid, signal.SIGKILL)
        with pytest.raises(EngineError, match="null server ended by itself"):
            server.stamps()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_the_server_ends_with_a_parent_that_is_killed() -> None:
    script = (
        "import sys, time\nfrom rpcbench.sim.null_server import NullServer\n"
        "if __name__ == '__main__':\n"
        "    with NullServer() as server:\n        print(server.pid, flush=True)\n        time.sleep(30)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert alive(pid)
        parent.kill()
    try:
        assert eventually(lambda: not alive(pid))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
