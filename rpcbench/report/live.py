"""What is seen while a run goes on, on stderr: a bar and figures on a terminal, else a line per trial, or nothing.

It is for eyes only. Whatever goes wrong in drawing, the run must go on: a view that fails falls silent.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Concatenate, ParamSpec, Self, TypeVar

import numpy as np
from rich.cells import cell_len
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from rpcbench.engine.base import Progress
from rpcbench.model.samples import Samples
from rpcbench.model.workload import Phase
from rpcbench.report.foreign import tame
from rpcbench.report.numbers import clock, count, duration, rate

_NAME_LIMIT = 24
_REDRAW_S = 0.125
_BLOCKS = "▁▂▃▄▅▆▇█"


class LiveView:
    """The view that shows nothing, which is what `--quiet` asks for."""

    def start(self, total_trials: int, total_s: float | None) -> None:
        """A run of `total_trials` begins; `total_s` is how long the plan expects it to take, None if it cannot say."""

    def trial(self, round: int, rounds: int, node: str, phase: Phase) -> None:
        """A trial begins."""

    def progress(self, progress: Progress) -> None:
        """The trial has come this far."""

    def trial_done(self, samples: Samples) -> None:
        """The trial is finished and recorded."""

    def say(self, text: str) -> None:
        """Print a line for the person who watches."""

    def stop(self) -> None:
        """Leave the terminal as it was; safe to call twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def live_view(quiet: bool, stream: IO[str] | None = None) -> LiveView:
    """The view that suits `stream`, by default stderr."""
    stream = sys.stderr if stream is None else stream
    if quiet or stream is None:
        return LiveView()
    try:
        console = Console(file=stream, markup=False, emoji=False, highlight=False)
        on_terminal = stream.isatty() and not console.is_dumb_terminal
    except (OSError, ValueError):
        return LiveView()
    return BarView(console) if on_terminal else LineView(stream)


_View = TypeVar("_View", bound="_Fallible")
_Args = ParamSpec("_Args")


class _Fallible(LiveView):
    """A view that may fail once, and is silent from then on."""

    failed = False


def _harmless(
    method: Callable[Concatenate[_View, _Args], None],
) -> Callable[Concatenate[_View, _Args], None]:
    """Draw if it can be drawn. Anything may be wrong with a terminal, and nothing of it is the run's business."""

    def guarded(view: _View, /, *args: _Args.args, **kwargs: _Args.kwargs) -> None:
        if view.failed:
            return
        try:
            method(view, *args, **kwargs)
        except Exception:
            view.failed = True

    return guarded


class LineView(_Fallible):
    """Plain lines, one per finished trial, for pipes and logs."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._name = ""

    @_harmless
    def trial(self, round: int, rounds: int, node: str, phase: Phase) -> None:
        """Remember what the next line is about."""
        self._name = f"{_round(round, rounds, phase)}  {tame(node, _NAME_LIMIT)}"

    @_harmless
    def trial_done(self, samples: Samples) -> None:
        """Print the trial's line."""
        self._print(f"{self._name}  {_outcome(samples)}")

    @_harmless
    def say(self, text: str) -> None:
        """Print a line."""
        self._print(tame(text))

    def _print(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()


class BarView(_Fallible):
    """A bar for the run with the time left, and under it the figures of the trial that is on."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._started_s = self._drawn_s = 0.0
        self._total, self._done, self._total_s = 0, 0, 0.0
        self._name = self._node = ""
        self._failed_before = 0
        self._now: Progress | None = None
        self._rates: deque[float] = deque(maxlen=20)

    @_harmless
    def start(self, total_trials: int, total_s: float | None) -> None:
        """Show the bar."""
        self._total, self._total_s = total_trials, total_s or 0.0
        self._started_s = time.monotonic()
        # Redrawn from here and not by a thread of rich's: a thread that dies would speak up at the wrong moment.
        self._live = Live(
            console=self._console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
        )
        self._live.start()
        self._draw()

    @_harmless
    def trial(self, round: int, rounds: int, node: str, phase: Phase) -> None:
        """Show the next trial, whose figures are still to come."""
        self._name, self._node = _round(round, rounds, phase), tame(node, _NAME_LIMIT)
        self._now = None
        self._rates.clear()
        self._draw()

    @_harmless
    def progress(self, progress: Progress) -> None:
        """Show new figures, at most eight times a second."""
        self._now = progress
        if time.monotonic() - self._drawn_s >= _REDRAW_S:
            self._rates.append(progress.rate_per_s)
            self._draw()

    @_harmless
    def trial_done(self, samples: Samples) -> None:
        """Move the bar on."""
        self._done += 1
        self._failed_before += int(np.count_nonzero(~samples.answered))
        self._now = None
        self._draw()

    @_harmless
    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._console.print(Text(tame(text)))

    def stop(self) -> None:
        """Take the bar away and give the cursor back, even after a failure."""
        live, self._live = self._live, None
        if live:
            with suppress(Exception):
                live.stop()

    def _draw(self) -> None:
        self._drawn_s = time.monotonic()
        if self._live:
            self._live.update(Group(self._bar(), self._figures()), refresh=True)

    def _bar(self) -> Table:
        spent_s = time.monotonic() - self._started_s
        left_s = self._left_s(spent_s)
        known = left_s is not None and spent_s + left_s > 0
        share = spent_s / (spent_s + (left_s or 0.0)) if known else 0.0
        grid = Table.grid(expand=True, padding=(0, 1))
        grid.add_column(ratio=1)
        grid.add_column(justify="right", no_wrap=True)
        left = f"{clock(left_s)} left" if left_s is not None else ""
        grid.add_row(ProgressBar(total=1.0, completed=share), Text(left))
        return grid

    def _left_s(self, spent_s: float) -> float | None:
        """What the plan expects, or where it has proved wrong the pace so far; None before there is either."""
        if self._total_s > spent_s:
            return self._total_s - spent_s
        return spent_s / self._done * (self._total - self._done) if self._done else None

    def _figures(self) -> Text:
        """As many figures as the line holds; the least needed are left out first."""
        parts = [(self._name, "bold"), (self._node, ""), *self._live_figures()]
        for spare in (6, 2, 3):
            if sum(cell_len(text) + 2 for text, _ in parts if text) <= self._console.width:
                break
            if spare < len(parts):
                parts[spare] = ("", "")
        line = Text("  ", no_wrap=True, overflow="ellipsis").join(Text(text, style) for text, style in parts if text)
        line.no_wrap, line.overflow = True, "ellipsis"
        return line

    def _live_figures(self) -> list[tuple[str, str]]:
        now = self._now
        if now is None:
            return []
        failed = self._failed_before + now.failed
        return [
            (f"{rate(now.rate_per_s)}/s", "cyan"),
            (f"p50 {duration(now.p50_ms)}", ""),
            (f"p99 {duration(now.p99_ms)}", ""),
            (f"errors {count(failed)}", "bold red" if failed else ""),
            ("" if self._console.options.ascii_only else _sparkline(self._rates), "dim"),
        ]


def _round(round: int, rounds: int, phase: Phase) -> str:
    return "warm-up" if phase is Phase.WARMUP else f"round {round}/{rounds}"


def _outcome(samples: Samples) -> str:
    """A finished trial in one line."""
    answered = samples.answered
    latency_ms = samples.latency_ns[answered] / 1e6
    p50, p99 = np.quantile(latency_ms, [0.5, 0.99]) if len(latency_ms) else (np.nan, np.nan)
    per_second = len(latency_ms) / samples.wall_ns * 1e9 if samples.wall_ns else np.nan
    failed = len(answered) - len(latency_ms)
    figures = f"{count(len(answered))} requests  {rate(per_second)}/s  p50 {duration(p50)}  p99 {duration(p99)}"
    return f"{figures}  errors {count(failed)}"


def _sparkline(values: deque[float]) -> str:
    """The last values as a row of blocks, from nothing to the highest."""
    known = [v for v in values if np.isfinite(v)]
    top = max(known, default=0.0)
    return "".join(_BLOCKS[round(v / top * (len(_BLOCKS) - 1))] for v in known) if top > 0 else ""
