"""What nodes say of themselves: a table for `rpcbench check`, and one line per node above a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rpcbench.model.facts import NodeFacts
from rpcbench.model.verdict import Notice
from rpcbench.report.foreign import tame
from rpcbench.report.numbers import DASH, count, duration
from rpcbench.report.terminal import notice_line, show_parts

_NAME_LIMIT = 28


def show_survey(
    facts: Sequence[NodeFacts], to: Console, *, problems: Iterable[str] = (), notices: Iterable[Notice] = ()
) -> None:
    """Print all that the nodes said, then what stands in the way of a comparison, then doubts."""
    table = [_table(facts, to.width - 2)] if facts else []
    blocks = [Text.assemble((" PROBLEM ", "bold white on red"), " ", tame(problem)) for problem in problems]
    show_parts([*table, *blocks, *(notice_line(notice) for notice in notices)], to)


def node_lines(facts: Sequence[NodeFacts], width: int | None = None) -> list[str]:
    """One line per node, in columns: name, place, version, spec, head, and how far it is behind.

    What does not fit into `width` is left out: the spec version first, then the place.
    """
    highest = max((f.head for f in facts), default=0)
    columns = {
        "node": [tame(f.node, _NAME_LIMIT) for f in facts],
        "place": [tame(f.place, 48) for f in facts],
        "client": [tame(f.client_version or "", _NAME_LIMIT) for f in facts],
        "spec": [f"spec {tame(f.spec_version, 16)}" if f.spec_version else "" for f in facts],
        "head": [f"head {count(f.head)}" for f in facts],
        "behind": [f"{count(highest - f.head)} behind" if f.head < highest else "" for f in facts],
    }
    for spare in ("spec", "place"):
        lines = _in_columns(list(columns.values()))
        if width is None or max(map(cell_len, lines), default=0) <= width:
            break
        del columns[spare]
    return _in_columns(list(columns.values()))


def _in_columns(columns: list[list[str]]) -> list[str]:
    widths = [max(map(cell_len, cells), default=0) for cells in columns]
    shown = [(cells, width) for cells, width in zip(columns, widths, strict=True) if width]
    rows = zip(*([set_cell_size(cell, width) for cell in cells] for cells, width in shown), strict=True)
    return ["  ".join(row).rstrip() for row in rows]


def _table(facts: Sequence[NodeFacts], width: int) -> Table:
    """A column per node where there are few, so that eight facts fit a narrow line."""
    highest = max(f.head for f in facts)
    told = [_said_by(f, highest) for f in facts]
    names = [name for name, _ in told[0]]
    rows = [[Text(value, style) for _, (value, style) in one] for one in told]
    needed = sum(max(cell_len(n), *(r[i].cell_len for r in rows)) + 2 for i, n in enumerate(names))
    upright = needed > width and len(facts) <= 4
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", show_header=not upright)
    if upright:
        for i, name in enumerate(names):
            grid.add_row(Text(name, "dim"), *(row[i] for row in rows))
        return grid
    for name in names:
        grid.add_column(name, overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return grid


def _said_by(f: NodeFacts, highest: int) -> list[tuple[str, tuple[str, str]]]:
    """The facts in order, each with its heading and style."""
    behind = highest - f.head
    syncing = {None: DASH, True: "yes", False: "no"}[f.syncing]
    return [
        ("node", (tame(f.node, _NAME_LIMIT), "bold")),
        ("place", (tame(f.place), "")),
        ("client", (_said(f.client_version), "")),
        ("spec", (_said(f.spec_version), "")),
        ("chain", (_said(f.chain_id), "")),
        ("head", (count(f.head), "")),
        ("behind", (count(behind) if behind else DASH, "bold yellow" if behind else "")),
        ("syncing", (syncing, "bold yellow" if f.syncing else "")),
        ("block age", (_age(f.clock_skew_s), "")),
        ("round trip", (duration(f.round_trip_ms), "")),
    ]


def _said(text: str | None) -> str:
    return tame(text) if text else DASH


def _age(seconds: float | None) -> str:
    """Wall clock minus the latest block's timestamp; below zero, somebody's clock is wrong."""
    return DASH if seconds is None else f"{seconds:,.0f} s"
