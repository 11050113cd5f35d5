"""`rpcbench calibrate` as a user runs it, and what later runs make of it."""

from __future__ import annotations

import json
import platform
import signal
import subprocess
import time
from dataclasses import replace

import pytest

from rpcbench import __version__
from rpcbench.model.ruler import Ceiling, Floor, Pace, Ruler
from rpcbench.record.ruler_file import keep_ruler, known_ruler
from rpcbench.sim.node import EmbeddedNode, SimSpec
from tests.cli.conftest import RPCBENCH

RULER = Ruler(
    "2026-01-02T03:04:05+00:00",
    "asyncio",
    Ceiling(130, 90_000.0, 8.1, 0.93),
    Ceiling(190_000, 10_000.0, 47.0, 0.94),
    Floor(14.0, 21.0, 2.0, 4.0),
    (Pace(1_000, 61.0, 250.0, 21.3, 80.0),),
)
SHORT = ("-s", "blockHashAndNumber", "--rounds", "1", "-d", "300ms", "--warmup", "0")


@pytest.fixture
def cache(tmp_path, environment, monkeypatch):
    """The cache of the user that the command runs as, also for what this process keeps there."""
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", environment["HOME"])
    return tmp_path / "home" / ".cache" / "rpcbench" / "ruler.json"


@pytest.fixture
def node():
    with EmbeddedNode(SimSpec(personality="juno", epoch_unix_s=int(time.time()), pace=0.0)) as node:
        yield node


def manifest(tmp_path):
    (file,) = (tmp_path / "results").glob("*/run.json")
    return json.loads(file.read_text())


def test_it_measures_prints_and_keeps_what_it_found(rpcbench, cache):
    done = rpcbench("calibrate", "--quick", timeout=40)
    assert done.code == 0, done.err
    kept = json.loads(cache.read_text())
    assert (kept["rpcbench"], kept["python"]) == (__version__, platform.python_version())
    ruler, doubt = known_ruler()
    assert ruler is not None, doubt
    for ceiling in (ruler.small, ruler.large):
        assert 500 < ceiling.rate_per_s < 1_000_000
        assert 0.01 < ceiling.cpu_share < 1.1
        assert ceiling.cpu_us_per_request == pytest.approx(ceiling.cpu_share / ceiling.rate_per_s * 1e6, rel=0.01)
    assert ruler.small.rate_per_s > ruler.large.rate_per_s
    assert 0 < ruler.floor.server_p50_us < ruler.floor.service_p50_us < 10_000
    assert [pace.rate_per_s for pace in ruler.paces] == [1_000, 5_000]
    for pace in ruler.paces:
        assert 0 < pace.lag_p50_us < pace.lag_p99_us
        assert 0 < pace.error_p50_us < pace.error_p99_us
    assert "1,000/s" in done.out
    assert str(cache) in done.out.replace("\n", "")
    assert "send lag and error at 1,000/s" in done.err
    assert len(done.out.splitlines()) <= 24


def test_ctrl_c_leaves_nothing_behind(environment, tmp_path, cache):
    command = [RPCBENCH, "calibrate"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert any("ceiling" in line for line in process.stderr)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert not cache.exists()


def test_a_run_carries_the_calibration_and_states_it(rpcbench, tmp_path, cache, node):
    keep_ruler(RULER)
    done = rpcbench("run", f"a={node.url}", *SHORT)
    assert "generator adds 21.3 µs, at " in " ".join(done.out.split()), done.err
    assert manifest(tmp_path)["ruler"]["paces"][0]["error_p50_us"] == 21.3
    assert "generator adds 21.3 µs" in next(tmp_path.glob("results/*/report.md")).read_text()


def test_one_of_another_version_is_left_out_with_a_note(rpcbench, tmp_path, cache, node):
    keep_ruler(RULER)
    cache.write_text(cache.read_text().replace(f'"rpcbench": "{__version__}"', '"rpcbench": "0.0.9"'))
    done = rpcbench("run", f"a={node.url}", *SHORT)
    assert "the calibration of 2026-01-02 was made with rpcbench 0.0.9" in " ".join(done.err.split())
    assert "generator not calibrated: run `rpcbench calibrate` once" in " ".join(done.out.split())
    assert manifest(tmp_path)["ruler"] is None


def test_one_of_another_engine_says_nothing_of_this_run(rpcbench, tmp_path, cache, node):
    keep_ruler(replace(RULER, engine="horse"))
    done = rpcbench("run", f"a={node.url}", *SHORT)
    assert manifest(tmp_path)["ruler"] is None, done.err


@pytest.mark.parametrize(("rate", "warned"), [("66", False), ("80", True)])
def test_a_rate_near_the_ceiling_is_told_before_anything_is_sent(rpcbench, cache, node, rate, warned):
    slow = replace(RULER, small=replace(RULER.small, rate_per_s=100.0), large=replace(RULER.large, rate_per_s=10.0))
    keep_ruler(slow)
    done = rpcbench("run", f"a={node.url}", *SHORT, "-r", rate, "--dry-run")
    assert done.code == 0, done.err
    assert ("that this generator can send" in " ".join(done.out.split())) is warned, done.out
