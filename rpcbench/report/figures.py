"""The plots of a run: how latency is distributed, how it went over time, how each round compares.

Rows are thinned or binned before they are drawn, so that a million of them cost no more than a thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rpcbench.analysis.measured import Measured, measure
from rpcbench.analysis.quantiles import quantile
from rpcbench.model.run import Run, TrialRecord
from rpcbench.model.verdict import Analysis, Comparison, Verdict
from rpcbench.model.workload import Phase
from rpcbench.report.answers import consistent, headline
from rpcbench.report.canvas import (
    ALARM,
    GRID,
    INK,
    SOFT,
    WASH,
    Ink,
    inks,
    label,
    latency_scale,
    nothing,
    png,
    sheet,
    tint,
)
from rpcbench.report.document import DISTRIBUTION, OVER_TIME, ROUND_RATIOS
from rpcbench.report.numbers import duration, interval, ratio, ratio_decimals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]


def draw(path: str, run: Run, analysis: Analysis) -> bytes:
    """The picture that the document calls `path`, as a PNG file."""
    figures = {DISTRIBUTION: distribution, OVER_TIME: over_time, ROUND_RATIOS: round_ratios}
    return png(figures[path](run, analysis))


def distribution(run: Run, analysis: Analysis) -> Figure:
    """The share of requests answered within a latency: one panel per call, one curve per node."""
    calls = [c.label for c in run.scenario.calls]
    across = 1 if len(calls) == 1 else 2 if len(calls) in (2, 4) else 3
    down = -(-len(calls) // across)
    measured = measure(run)
    invalid = _invalid_calls(analysis)
    width = {1: 8.0, 2: 10.0, 3: 13.0}[across]
    size = (width, 0.7 + (3.5 + 0.18 * len(run.nodes)) * down)
    with sheet(run, "Latency distribution", size) as figure:
        panels = list(figure.subplots(down, across, squeeze=False).flat)
        for call, axes in zip(calls, panels, strict=False):
            _distribution_panel(axes, measured, call, inks(run))
            _title(axes, call, call in invalid)
        for axes in panels[len(calls) :]:
            axes.set_axis_off()
    return figure


def _distribution_panel(axes: Axes, measured: Measured, call: str, nodes: Sequence[Ink]) -> None:
    drawn = []
    for name, ink in zip(measured.run.nodes, nodes, strict=True):
        values = np.concatenate([np.empty(0), *(cell.latency_ms for cell in measured.cells[name, call])])
        if not len(values):
            continue
        share, latency = _thinned(values)
        marks = [(q, quantile(values, q)) for q in (0.5, 0.9, 0.99)]
        p50, _, p99 = (duration(v) for _, v in marks)
        axes.plot(latency, _stretched(share), color=ink.colour, linestyle=ink.dash, lw=1.8, label="_curve")
        axes.plot(
            [v for _, v in marks],
            [_stretched(q) for q, _ in marks],
            ink.marker,
            color=ink.colour,
            markersize=6,
            markeredgecolor="white",
            label=f"{ink.label}: p50 {p50}, p99 {p99}",
        )
        drawn.append(latency[share >= 0.005])
    if not drawn:
        nothing(axes, "no request was answered")
        return
    _share_axis(axes)
    latency_scale(axes.xaxis, np.concatenate(drawn))
    axes.set_xlabel("latency, from due to answered")
    axes.set_ylabel("requests answered within")
    axes.legend(loc="upper left", bbox_to_anchor=(-0.02, -0.16), fontsize=8.5, handletextpad=0.3, labelspacing=0.3)


def _thinned(values: Floats) -> tuple[Floats, Floats]:
    """The empirical distribution at a few hundred points, close together where the tails are."""
    ordered = np.sort(values)
    middle = (np.arange(len(ordered)) + 0.5) / len(ordered)
    if len(ordered) > 600:
        wanted = np.linspace(_stretched(middle[0]), _stretched(middle[-1]), 600)
        kept = np.unique(np.searchsorted(_stretched(middle), wanted).clip(0, len(ordered) - 1))
        return middle[kept], ordered[kept]
    return middle, ordered


def _stretched(share: Floats | float) -> Floats:
    """Log odds: gives 1 % to 50 % and 50 % to 99 % the same room, and each further nine a step of its own."""
    return np.asarray(np.log10(share / (1 - np.asarray(share))))


def _share_axis(axes: Axes) -> None:
    shares = (0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999)
    _, high = axes.get_ylim()
    top = max(2.3, min(high, 5.2))
    shown = [s for s in shares if _stretched(s) <= top]
    axes.set_yticks([float(_stretched(s)) for s in shown], [f"{s * 100:g} %" for s in shown])
    axes.set_ylim(-2.3, top)


def over_time(run: Run, analysis: Analysis) -> Figure:
    """Median and p99 latency along the whole run: one row per call, rounds marked, warm-up shaded, failures crossed."""
    calls = [c.label for c in run.scenario.calls]
    trials = [t for t in run.trials if len(t.samples.rows)]
    step_s = _step(trials)
    with sheet(run, "Latency over time", (11.0, 1.4 + max(1.9, 3.2 - 0.5 * len(calls)) * len(calls))) as figure:
        rows = list(figure.subplots(len(calls), 1, sharex=True, squeeze=False).flat)
        for call, axes in enumerate(rows):
            _mark_rounds(axes, trials, numbered=call == 0)
            _time_row(axes, [_Strip.cut(run, t, call, step_s) for t in trials], inks(run))
            _title(axes, calls[call], calls[call] in _invalid_calls(analysis), pad=18 if call == 0 else 6)
        rows[-1].set_xlabel("seconds since the start of the run")
        rows[-1].set_xlim(0, max((_end_s(t, trials) for t in trials), default=1.0))
        _time_legend(figure, inks(run), step_s)
    return figure


@dataclass(frozen=True, slots=True)
class _Strip:
    """One call in one trial, in bins of time: the edges of the bins, and in each the median, p99 and any failure."""

    node: int
    warmup: bool
    edges_s: Floats
    p50: Floats
    p99: Floats
    failed: NDArray[np.bool_]

    @classmethod
    def cut(cls, run: Run, trial: TrialRecord, call: int, step_s: float) -> _Strip:
        samples = trial.samples
        bins = max(1, round(samples.wall_ns / 1e9 / step_s))
        # A reply that comes after the last bin belongs to it: a sliver of stragglers would look like a spike.
        of_row = np.minimum(samples.rows["done_ns"] / 1e9 // step_s, bins - 1).astype(int)
        mine = run.call_spec[samples.rows["call"]] == call
        p50, p99 = _binned(of_row[mine & samples.answered], samples.latency_ns[mine & samples.answered] / 1e6, bins)
        failed = np.bincount(of_row[mine & ~samples.answered], minlength=bins) > 0
        edges_s = _start_s(trial, run.trials) + np.append(np.arange(bins) * step_s, samples.wall_ns / 1e9)
        return cls(trial.trial.node, trial.trial.phase is Phase.WARMUP, edges_s, p50, p99, failed)


def _binned(of_row: NDArray[np.int64], latency_ms: Floats, bins: int) -> tuple[Floats, Floats]:
    """Median and p99 in each bin, NaN where it is empty."""
    p50, p99 = np.full(bins, np.nan), np.full(bins, np.nan)
    order = np.argsort(of_row, kind="stable")
    found, starts = np.unique(of_row[order], return_index=True)
    for index, values in zip(found, np.split(latency_ms[order], starts)[1:], strict=True):
        p50[index], p99[index] = np.quantile(values, [0.5, 0.99])
    return p50, p99


def _time_row(axes: Axes, strips: Sequence[_Strip], nodes: Sequence[Ink]) -> None:
    for strip in strips:
        ink = nodes[strip.node]
        band = tint(ink.colour, 0.15 if strip.warmup else 0.32)
        axes.stairs(strip.p99, strip.edges_s, baseline=strip.p50, fill=True, color=band, lw=0)
        axes.stairs(strip.p50, strip.edges_s, baseline=None, color=tint(ink.colour, 0.5 if strip.warmup else 1), lw=2)
        at = (strip.edges_s[:-1] + strip.edges_s[1:])[strip.failed] / 2
        axes.plot(at, np.full(len(at), 0.05), "x", color=ink.colour, transform=axes.get_xaxis_transform())
    values = np.concatenate([np.empty(0), *(v for strip in strips for v in (strip.p50, strip.p99))])
    axes.set_ylabel("latency")
    latency_scale(axes.yaxis, values, room=0.12 if any(strip.failed.any() for strip in strips) else 0.0)
    if not np.isfinite(values).any():
        nothing(axes, "no request was answered", keep_x=True)


def _step(trials: Sequence[TrialRecord]) -> float:
    """A second, or less where trials are short, or more where the run is long."""
    if not trials:
        return 1.0
    shortest = min((t.samples.wall_ns for t in trials if t.trial.phase is Phase.MEASURE), default=10**9) / 1e9
    total = sum(t.samples.wall_ns for t in trials) / 1e9
    steps = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 600.0)
    fine = [s for s in steps if s <= max(0.05, min(1.0, shortest / 3))][-1]
    return next((s for s in steps if s >= fine and total / s <= 600), steps[-1])


def _start_s(trial: TrialRecord, trials: Sequence[TrialRecord]) -> float:
    return (trial.samples.started_unix_ns - trials[0].samples.started_unix_ns) / 1e9


def _end_s(trial: TrialRecord, trials: Sequence[TrialRecord]) -> float:
    return _start_s(trial, trials) + trial.samples.wall_ns / 1e9


def _mark_rounds(axes: Axes, trials: Sequence[TrialRecord], numbered: bool) -> None:
    """Shade the warm-up, wash every other round, and write the rounds' numbers where there is room for them."""
    rounds = [(number, list(group)) for number, group in groupby(trials, key=lambda t: t.trial.round)]
    every, first = -(-len(rounds) // 24), True
    for number, group in rounds:
        start, end = _start_s(group[0], trials), _end_s(group[-1], trials)
        if number == 0:
            axes.axvspan(start, end, facecolor=WASH, edgecolor=GRID, hatch="////", lw=0, zorder=0)
        elif number % 2:
            axes.axvspan(start, end, color=WASH, lw=0, zorder=0)
        if numbered and number and number % every == 0:
            above = axes.get_xaxis_transform()
            words = f"round {number}" if first else str(number)
            axes.text((start + end) / 2, 1.0, words, transform=above, ha="center", va="bottom", fontsize=8, color=SOFT)
            first = False


def _time_legend(figure: Figure, nodes: Sequence[Ink], step_s: float) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Line2D | Patch] = [Patch(facecolor=n.colour, label=n.label) for n in nodes]
    handles.append(Line2D([], [], color=SOFT, lw=2, label="median"))
    handles.append(Patch(facecolor=tint(SOFT, 0.32), label="up to p99"))
    handles.append(Line2D([], [], color=SOFT, marker="x", lw=0, label="failed requests"))
    handles.append(Patch(facecolor=WASH, edgecolor=GRID, hatch="////", lw=0, label="warm-up"))
    title = f"in every {'second' if step_s == 1 else f'{step_s:g} s'}"
    figure.legend(handles=handles, loc="outside right upper", fontsize=9, title=title, alignment="left")


def round_ratios(run: Run, analysis: Analysis) -> Figure:
    """Every round's ratio of median latencies as a dot, the estimate with its interval as a bar."""
    compared = headline(consistent(analysis))
    measured, ink = measure(run), dict(zip(run.nodes, inks(run), strict=True))
    base = ink[run.nodes[0]].label
    with sheet(run, f"Round by round: median latency against {base}", (9.0, 1.6 + 0.55 * len(compared))) as figure:
        axes = figure.subplots()
        axes.axvline(1, color=INK, lw=1)
        reach = [1.0]
        for row, comparison in enumerate(compared):
            reach += _ratio_row(axes, row, comparison, _per_round(measured, comparison), ink[comparison.other])
        names = [_ratio_name(c, several=len(run.nodes) > 2) for c in compared]
        axes.set_yticks(range(len(compared)), names, color=INK)
        axes.set_ylim(len(compared) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        _ratio_scale(axes, reach)
        axes.set_xlabel(f"ratio to {base}: ← takes less time · takes more time →")
    return figure


def _ratio_row(axes: Axes, row: int, comparison: Comparison, ratios: Floats, ink: Ink) -> list[float]:
    """Draw one comparison and return the ratios that must be in view."""
    found = comparison.ratio
    if comparison.verdict is Verdict.INVALID:
        _beside(axes, row, "INVALID, not compared", color=ALARM, fontweight="bold")
        return []
    if found is None:
        _beside(axes, row, str(comparison.verdict))
        return []
    beside = row + 0.16 * np.resize([-1, 1], len(ratios))
    axes.plot(ratios, beside, "o", color=tint(ink.colour, 0.5), markersize=5, mew=0)
    axes.plot([found.low, found.high], [row, row], color=ink.colour, lw=5, solid_capstyle="butt", alpha=0.9)
    axes.plot([found.value], [row], ink.marker, color="white", markeredgecolor=ink.colour, markersize=8, mew=2)
    _beside(axes, row, f"{ratio(found.value, ratio_decimals(found))} {interval(found)}\n{comparison.verdict}")
    return [found.low, found.high, *ratios]


def _beside(axes: Axes, row: int, text: str, **style: Any) -> None:
    axes.text(1.02, row, text, transform=axes.get_yaxis_transform(), va="center", fontsize=9, **style)


def _per_round(measured: Measured, comparison: Comparison) -> Floats:
    """The other node's median over the base's, for every round in which both have one."""
    medians = [
        {cell.round: quantile(cell.latency_ms, 0.5) for cell in measured.cells[node, comparison.call]}
        for node in (comparison.base, comparison.other)
    ]
    found: Floats = np.array([medians[1][r] / m for r, m in medians[0].items() if r in medians[1]], dtype=np.float64)
    return found[np.isfinite(found)]


def _ratio_scale(axes: Axes, reach: Sequence[float]) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    known = [r for r in reach if np.isfinite(r) and r > 0]
    low, high = min(known) / 1.03, max(known) * 1.03
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1, 2, 5, 10, 50):
        ticks = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
        if len(ticks) <= 9:
            break
    ticks = ticks if len(ticks) > 1 else np.array([low, 1.0, high])
    axes.xaxis.set_major_locator(FixedLocator([t for t in ticks.tolist() if t > 0]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))
    axes.xaxis.set_minor_locator(NullLocator())


def _ratio_name(comparison: Comparison, several: bool) -> str:
    return f"{label(comparison.call)}\n{label(comparison.other)}" if several else label(comparison.call)


def _invalid_calls(analysis: Analysis) -> set[str]:
    return {c.call for c in consistent(analysis).comparisons if c.verdict is Verdict.INVALID}


def _title(axes: Axes, call: str, invalid: bool, pad: int = 6) -> None:
    text = f"{label(call)}  INVALID, not compared" if invalid else label(call)
    axes.set_title(text, color=ALARM if invalid else INK, pad=pad)
