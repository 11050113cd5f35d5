"""The tables of a report, as tame text: results per call and node, errors, thresholds, comparisons, nodes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from rpcbench.model.facts import NodeFacts
from rpcbench.model.run import Run
from rpcbench.model.threshold import Unit
from rpcbench.model.verdict import Analysis, Comparison, Estimate, Judgement, Summary, ThresholdResult, Verdict
from rpcbench.report.answers import headline
from rpcbench.report.foreign import tame
from rpcbench.report.numbers import DASH, count, duration, interval, percent, rate, ratio, ratio_decimals


@dataclass(frozen=True, slots=True)
class Column:
    """A heading. Where a line is too narrow, columns with the highest `spare` are left out first; 0 always stays."""

    title: str
    right: bool = False
    spare: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """Cells in column order. `verdict` colours the last one, `failed` the row's errors; `begins` starts a group."""

    cells: tuple[str, ...]
    verdict: Verdict | Judgement | None = None
    failed: bool = False
    begins: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns, with a line below that explains them."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""


def results(run: Run, analysis: Analysis) -> Table:
    base = tame(run.nodes[0], limit=24)
    against = {(c.call, c.other): c for c in headline(analysis)}
    columns = [
        Column("call"),
        Column("node"),
        Column("requests", right=True, spare=2),
        Column("rate/s", right=True, spare=1),
        Column("p50", right=True),
        Column("p90", right=True, spare=3),
        Column("p99", right=True),
        Column("errors", right=True),
    ]
    if len(run.nodes) > 1:
        columns.append(Column(f"against {base}"))
    by_call = {c.label: [s for s in analysis.summaries if s.call == c.label] for c in run.scenario.calls}
    rows = []
    for summaries in by_call.values():
        for i, s in enumerate(summaries):
            comparison = against.get((s.call, s.node))
            cells = [*_figures(s, begins=i == 0), *([_against(comparison)] if len(run.nodes) > 1 else [])]
            failed = s.answered < s.requests
            rows.append(Row(tuple(cells), comparison.verdict if comparison else None, failed, i == 0))
    return Table("Results", tuple(columns), tuple(rows), _note(analysis))


def _figures(s: Summary, begins: bool) -> tuple[str, ...]:
    q = s.latency_ms
    failed = s.requests - s.answered
    errors = percent(failed / s.requests) if failed else DASH
    quantiles = (duration(q.p50), duration(q.p90), duration(q.p99))
    return (tame(s.call) if begins else "", tame(s.node), count(s.requests), rate(s.rate_per_s), *quantiles, errors)


def _against(comparison: Comparison | None) -> str:
    if comparison is None:
        return ""
    if comparison.verdict is Verdict.INVALID:
        return "INVALID"
    if comparison.ratio is None:
        return str(comparison.verdict)
    return f"× {ratio(comparison.ratio.value, ratio_decimals(comparison.ratio))} {comparison.verdict}"


def _note(analysis: Analysis) -> str:
    ratios = [c.ratio for c in analysis.comparisons if c.ratio]
    if not ratios:
        return ""
    level, rounds = percent(ratios[0].level), max(r.n for r in ratios)
    return f"× median against the base; [low, high] {level} interval over {rounds} paired rounds"


def errors(analysis: Analysis) -> Table:
    rows = [
        Row((tame(s.call), tame(s.node), tame(name), count(n), percent(n / s.requests)), failed=True)
        for s in analysis.summaries
        for name, n in sorted(s.errors.items(), key=lambda item: -item[1])
    ]
    columns = (Column("call"), Column("node"), Column("error"), Column("requests", True), Column("share", True))
    return Table("Errors", columns, tuple(rows))


def thresholds(results: tuple[ThresholdResult, ...]) -> Table:
    columns = (
        Column("threshold"),
        Column("call"),
        Column("node"),
        Column("found", True),
        Column("interval", True, spare=1),
        Column("because", spare=2),
        Column("outcome"),
    )
    rows = []
    before = ""
    for t in results:
        figure = _FIGURE[t.unit]
        found = f"[{figure(t.low)}, {figure(t.high)}]" if math.isfinite(t.value) else DASH
        outcome = f"{t.outcome} (warning)" if t.warn and t.outcome is Judgement.FAIL else str(t.outcome)
        begins = t.text != before
        cells = (tame(t.text), tame(t.call), tame(t.node), figure(t.value), found, tame(t.reason))
        rows.append(Row((*cells, outcome), t.outcome, begins=begins))
        before = t.text
    return Table("Thresholds", columns, tuple(rows), "[low, high] interval: passed or failed by the whole of it")


_FIGURE: dict[Unit, Callable[[float], str]] = {
    Unit.MS: duration,
    Unit.SHARE: percent,
    Unit.PER_S: rate,
    Unit.RATIO: lambda value: ratio(value, 3),
}


def comparisons(analysis: Analysis) -> Table:
    columns = (
        Column("call"),
        Column("metric"),
        Column("node"),
        Column("ratio", True),
        Column("interval", True),
        Column("difference", True),
        Column("because"),
        Column("verdict"),
    )
    rows = []
    for c in analysis.comparisons:
        ratio_text = (ratio(c.ratio.value, ratio_decimals(c.ratio)), interval(c.ratio)) if c.ratio else (DASH, DASH)
        verdict = "INVALID" if c.verdict is Verdict.INVALID else str(c.verdict)
        metric = c.metric.replace("_", " ")
        cells = (tame(c.call), metric, tame(c.other), *ratio_text, _difference(c), tame(c.reason), verdict)
        rows.append(Row(cells, c.verdict))
    base = tame(analysis.comparisons[0].base) if analysis.comparisons else ""
    return Table(f"Every comparison against {base}", columns, tuple(rows))


def _difference(c: Comparison) -> str:
    """Milliseconds for a latency, percentage points for errors."""
    if c.difference_share:
        return f"{c.difference_share.value * 100:+.2g} pp" if c.difference_share.value else "0 pp"
    return duration(c.difference_ms.value) if c.difference_ms else DASH


def latencies(analysis: Analysis) -> Table:
    """The percentiles of every node by itself, with their intervals."""
    shown = ("p50", "p90", "p99")
    columns = [Column("call"), Column("node")]
    columns += [Column(title, right=True) for name in shown for title in (name, f"{name} interval")]
    rows, before = [], ""
    for s in analysis.summaries:
        found = [s.latency_intervals_ms.get(name) for name in shown]
        cells = [text for e in found for text in ((duration(e.value), _bounds(e)) if e else (DASH, DASH))]
        rows.append(Row((tame(s.call) if s.call != before else "", tame(s.node), *cells), begins=s.call != before))
        before = s.call
    level = next((percent(e.level) for s in analysis.summaries for e in s.latency_intervals_ms.values()), "")
    note = f"{level} intervals, each node by itself; whether nodes differ is shown by the pairs below"
    return Table("Latency of each node", tuple(columns), tuple(rows) if level else (), note)


def _bounds(e: Estimate) -> str:
    return f"[{duration(e.low)}, {duration(e.high)}]"


def nodes(run: Run) -> Table:
    columns = tuple(Column(t) for t in ("node", "place", "client", "spec", "head before", "head after"))
    after = {f.node: count(f.head) for f in run.after}
    rows = [Row((*_node_cells(f), count(f.head), after.get(f.node, DASH))) for f in run.before]
    return Table("Nodes", columns, tuple(rows))


def _node_cells(facts: NodeFacts) -> tuple[str, ...]:
    said = (facts.client_version, facts.spec_version)
    return (tame(facts.node), tame(facts.place), *(tame(text) if text else DASH for text in said))
