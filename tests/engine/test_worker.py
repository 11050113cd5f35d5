"""The worker process: it dies, it is interrupted, it outlives nobody, and it loses no row."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from rpcbench.engine.asyncio_engine import AsyncioEngine
from rpcbench.errors import EngineError
from rpcbench.model.route import Tls
from rpcbench.model.samples import Status
from tests.engine.conftest import check_rows, ignore, make_workload
from tests.engine.odd_server import OddServer


def worker_pids() -> list[int]:
    return [child.pid for child in multiprocessing.active_children() if child.name == "rpcbench-worker"]


@pytest.fixture
def own_engine():
    """An engine that a test may break."""
    engine = AsyncioEngine(ring_rows=64)
    yield engine
    engine.close()
    engine.close()


def test_a_full_ring_loses_no_row(own_engine):
    """The ring holds 64 rows and is emptied eight times a second; far more come."""
    with OddServer() as server:
        samples = own_engine.run(make_workload(server.url, 3000, concurrency=8), ignore)
    check_rows(samples)
    assert sorted(samples.rows["call"].tolist()) == list(range(1000, 4000))


def test_one_worker_serves_many_trials(own_engine):
    with OddServer() as server:
        first = own_engine.run(make_workload(server.url, 10), ignore)
        pids = worker_pids()
        second = own_engine.run(make_workload(server.url, 20), ignore)
    assert worker_pids() == pids
    assert (len(first.rows), len(second.rows)) == (10, 20)
    assert first.rows["call"].tolist() == list(range(1000, 1010))


def test_progress_is_told_about_eight_times_a_second(own_engine):
    told = []
    with OddServer() as server:
        samples = own_engine.run(make_workload(server.url, 50, concurrency=2, duration_s=1), told.append)
    assert 5 <= len(told) <= 11
    assert [p.done for p in told] == sorted(p.done for p in told)
    assert told[-1].done == told[-1].sent == len(samples.rows)
    assert told[-1].failed == 0
    middle = told[len(told) // 2]
    assert middle.rate_per_s > 20
    assert 0 < middle.p50_ms <= middle.p99_ms < 1000


def test_a_killed_worker_is_a_sentence_and_the_next_run_works(own_engine):
    before = set(worker_pids())

    def kill(progress):
        for pid in set(worker_pids()) - before:
            os.kill(pid, signal.SIGKILL)

    with OddServer() as server:
        with pytest.raises(EngineError, match=r"was killed by SIGKILL.*run again") as caught:
            own_engine.run(make_workload(server.url + "/secret", 10, duration_s=5), kill)
        assert "secret" not in str(caught.value)
        assert len(own_engine.run(make_workload(server.url, 10), ignore).rows) == 10


def test_an_interrupt_stops_the_worker_and_comes_through(own_engine):
    before = set(worker_pids())

    def interrupt(progress):
        raise KeyboardInterrupt

    with OddServer() as server:
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            own_engine.run(make_workload(server.url, 10, duration_s=30), interrupt)
        assert time.monotonic() - began < 5
        assert set(worker_pids()) <= before
        assert len(own_engine.run(make_workload(server.url, 5), ignore).rows) == 5


def test_close_ends_the_worker():
    engine = AsyncioEngine()
    before = set(worker_pids())
    with OddServer() as server:
        engine.run(make_workload(server.url, 1), ignore)
    assert set(worker_pids()) - before
    engine.close()
    assert set(worker_pids()) == before


SCRIPT = """
    import signal
    import sys
    from rpcbench.engine.asyncio_engine import AsyncioEngine
    from tests.engine.conftest import make_workload
    if __name__ == "__main__":
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored
        engine = AsyncioEngine()
        said = []
        def say(progress):
            said or print("running", flush=True)
            said.append(1)
        try:
            engine.run(make_workload(sys.argv[1], 10, concurrency=2, duration_s=30), say)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
"""


@pytest.fixture
def script(tmp_path):
    """A program of its own that sends for 30 s, in its own process group."""
    path = tmp_path / "send.py"
    path.write_text(textwrap.dedent(SCRIPT))
    with OddServer() as server:
        process = subprocess.Popen(
            [sys.executable, str(path), server.url],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p) + os.pathsep + str(Path.cwd())},
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n", process.stderr.read()
        yield process, server
        process.kill()
        process.communicate()


def eventually(condition, seconds: float = 5) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def test_ctrl_c_in_a_terminal(script):
    """The whole process group gets it; only the parent reacts, without a traceback and leaving nothing behind."""
    process, server = script
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (out, err, process.returncode) == ("interrupted\n", "", 0)
    assert eventually(lambda: server.connected == 0)


def test_the_worker_does_not_outlive_its_parent(script):
    process, server = script
    process.kill()
    process.wait()
    assert eventually(lambda: server.connected == 0)


def test_the_engine_runs_outside_the_main_thread(own_engine):
    results = []
    with OddServer() as server:
        workload = make_workload(server.url, 20)
        thread = threading.Thread(target=lambda: results.append(own_engine.run(workload, ignore)))
        thread.start()
        thread.join(20)
    assert len(results[0].rows) == 20


def test_too_many_connections_for_this_system(own_engine):
    with pytest.raises(EngineError, match=r"9000000 connections.*ulimit -n"):
        own_engine.run(make_workload("http://127.0.0.1:1", 1, concurrency=9_000_000), ignore)


def test_three_hundred_connections(own_engine):
    with OddServer() as server:
        samples = own_engine.run(make_workload(server.url, 900, concurrency=300), ignore)
        assert server.accepted == 300
    assert np.unique(samples.rows["status"]).tolist() == [Status.OK]
    assert samples.rows["connect_ns"].sum() == 0


def test_a_url_that_cannot_be_sent_to(own_engine):
    with pytest.raises(EngineError, match="node tested must be http"):
        own_engine.run(make_workload("ws://h/secret"), ignore)


def test_an_unreadable_ca_file():
    engine = AsyncioEngine(tls=Tls(ca_file="/does/not/exist.pem"))
    with pytest.raises(EngineError, match=r"cannot read certificates from /does/not/exist\.pem"):
        engine.run(make_workload("https://127.0.0.1:1"), ignore)
