"""The live view: figures on a terminal, plain lines in a pipe, nothing when quiet, and never in the run's way."""

import io
import os
import pty
import re
import subprocess
import sys
import time

import pytest

from rpcbench.engine.base import Progress
from rpcbench.model.workload import Phase
from rpcbench.report.live import BarView, LineView, LiveView, live_view
from tests.report.made import make_run

NOW = Progress(1.0, 2431, 2400, 3, 2431.0, 2.9, 11.2)

WATCHED = """
import time
from rpcbench.engine.base import Progress
from rpcbench.model.workload import Phase
from rpcbench.report.live import live_view
from tests.report.made import make_run
run = make_run(rounds=2, per_trial=50)
with live_view(quiet=False) as view:
    view.start(len(run.trials), 60.0)
    for t in run.trials:
        view.trial(t.trial.round, 2, run.nodes[t.trial.node], t.trial.phase)
        time.sleep(0.13)
        view.progress(Progress(1.0, 2431, 2400, 3, 2431.0, 2.9, 11.2))
        view.trial_done(t.samples)
    view.say("that was all")
"""


def watch(view: LiveView) -> None:
    run = make_run(rounds=1, per_trial=30)
    with view:
        view.start(len(run.trials), None)
        for t in run.trials:
            view.trial(t.trial.round, 1, run.nodes[t.trial.node], t.trial.phase)
            view.progress(NOW)
            view.trial_done(t.samples)
        view.say("done")


def test_a_pipe_gets_one_plain_line_per_trial():
    env = {**os.environ, "FORCE_COLOR": "1"}
    ended = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, check=True, env=env, timeout=30)
    lines = ended.stderr.decode().splitlines()
    assert ended.stdout == b""
    assert len(lines) == 7
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", ended.stderr)
    assert lines[0].startswith("warm-up  juno  50 requests  50.0/s  p50 ")
    assert re.fullmatch(r"round 1/2  juno  50 requests  16\.7/s  p50 \d\.\d\d ms  p99 [\d.]+ ms  errors 0", lines[2]), (
        lines[2]
    )
    assert lines[6] == "that was all"


def test_a_terminal_shows_the_figures_and_gets_its_cursor_back():
    parent, child = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    env.pop("NO_COLOR", None)
    process = subprocess.Popen([sys.executable, "-c", WATCHED], stderr=child, stdout=subprocess.DEVNULL, env=env)
    os.close(child)
    shown = drain(parent)
    assert process.wait(timeout=20) == 0
    plain = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", shown)
    assert re.search(r"round 2/2  pathfinder  2,431/s  p50 2\.90 ms  p99 11\.2 ms  errors 3  [▁-█]", plain)
    assert re.search(r"━.* 0:5\d left|1:00 left", plain)
    assert "that was all" in plain
    assert shown.count("\x1b[?25l") == shown.count("\x1b[?25h") == 1


def drain(descriptor: int) -> str:
    """Everything that comes out of a pseudo-terminal until the other side closes it."""
    out, end = b"", time.monotonic() + 20
    while time.monotonic() < end:
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # how Linux says that the other side is gone
            break
        if not part:
            break
        out += part
    os.close(descriptor)
    return out.decode()


def test_quiet_shows_nothing(capsys):
    view = live_view(quiet=True)
    assert type(view) is LiveView
    watch(view)
    assert capsys.readouterr() == ("", "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def bar(monkeypatch: pytest.MonkeyPatch, width: int) -> tuple[BarView, Terminal]:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("LINES", "30")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    view = live_view(quiet=False, stream=out)
    assert isinstance(view, BarView)
    return view, out


def test_a_dumb_terminal_gets_lines(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(live_view(quiet=False, stream=Terminal()), LineView)


@pytest.mark.parametrize("width", [20, 60, 80, 120])
def test_every_line_fits_and_the_errors_are_kept(monkeypatch, width):
    view, out = bar(monkeypatch, width)
    view.start(4, 60.0)
    view.trial(1, 10, "pathfinder", Phase.MEASURE)
    view._drawn_s = 0.0
    view.progress(NOW)
    view.stop()
    lines = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", out.getvalue()).replace("\r", "\n").splitlines()
    assert max(map(len, lines)) <= width
    assert any("errors 3" in line for line in lines) or width == 20


def test_time_left_follows_the_plan_and_then_the_pace(monkeypatch):
    view, _ = bar(monkeypatch, 80)
    view.start(10, 60.0)
    assert view._left_s(10.0) == 50.0
    assert view._left_s(61.0) is None
    view.trial_done(make_run(rounds=1, per_trial=5).trials[0].samples)
    assert view._left_s(70.0) == 70.0 * 9
    view.stop()


def test_errors_add_up_over_trials(monkeypatch):
    view, out = bar(monkeypatch, 100)
    view.start(2, 5.0)
    view.trial_done(make_run(rounds=1, per_trial=40, fail=1.0).trials[0].samples)
    view._drawn_s = 0.0
    view.progress(NOW)
    view.stop()
    assert "errors 43" in out.getvalue()


def test_redrawing_is_bounded(monkeypatch):
    view, out = bar(monkeypatch, 80)
    view.start(2, 5.0)
    before = len(out.getvalue())
    for _ in range(1000):
        view.progress(NOW)
    assert len(out.getvalue()) - before < 2000
    view.stop()


def test_a_hostile_name_cannot_speak_to_the_terminal(monkeypatch):
    view, out = bar(monkeypatch, 80)
    view.start(1, 5.0)
    view.trial(1, 1, "\x1b]0;owned\x07[red]x", Phase.MEASURE)
    view.stop()
    assert "\x1b]0;" not in out.getvalue()
    assert "[red]x" in out.getvalue()
    lines = io.StringIO()
    plain = live_view(quiet=False, stream=lines)
    plain.trial(1, 1, "\x1b[2Jx\ny", Phase.MEASURE)
    plain.trial_done(make_run(rounds=1, per_trial=5).trials[0].samples)
    assert "\x1b" not in lines.getvalue()
    assert lines.getvalue().count("\n") == 1


class Broken(io.StringIO):
    """Everything about it fails."""

    def __init__(self, tty: bool) -> None:
        super().__init__()
        self.tty = tty
        self.tries = 0

    def isatty(self) -> bool:
        return self.tty

    def write(self, text: str) -> int:
        self.tries += 1
        raise OSError("gone")


@pytest.mark.parametrize("tty", [False, True])
def test_a_broken_stream_does_not_break_the_run(monkeypatch, tty):
    monkeypatch.setenv("TERM", "xterm")
    out = Broken(tty)
    watch(live_view(quiet=False, stream=out))
    assert 1 <= out.tries <= 4


def test_a_closed_stream_does_not_break_the_run():
    closed = io.StringIO()
    closed.close()
    watch(live_view(quiet=False, stream=closed))


def test_no_stderr_at_all(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    watch(live_view(quiet=False))


def test_a_run_that_raises_leaves_the_terminal_in_order(monkeypatch):
    view, out = bar(monkeypatch, 80)
    with pytest.raises(KeyboardInterrupt), view:  # noqa: PT012  the context manager is what is tested
        view.start(2, 5.0)
        raise KeyboardInterrupt
    assert out.getvalue().rfind("\x1b[?25h") > out.getvalue().rfind("\x1b[?25l") >= 0
