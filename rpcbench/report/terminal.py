"""The report on a terminal: the answer first, then the evidence, on one screen.

Foreign text goes through `rich.text.Text` and never through markup. Colour is rich's business: none in a pipe, none
under NO_COLOR.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import IO

from rich.cells import cell_len
from rich.console import Console, JustifyMethod, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from rpcbench.model.verdict import Judgement, Notice, Verdict, Weight
from rpcbench.report import sentences
from rpcbench.report.answers import tamed
from rpcbench.report.document import Document
from rpcbench.report.tables import Row, Table

_PIPE_WIDTH = 100
_TRAILING = re.compile(r" +$", re.M)
_NAME_LIMIT = 24
_NAME_MINIMUM = 6
_ERROR_LINES = 4
_THRESHOLD_LINES = 8
_STYLE = {
    Verdict.FASTER: "bold green",
    Verdict.SLOWER: "bold red",
    Verdict.FEWER: "bold green",
    Verdict.MORE: "bold red",
    Verdict.SAME: "bold",
    Verdict.UNDECIDED: "yellow",
    Verdict.INVALID: "bold red",
    Judgement.PASS: "green",
    Judgement.FAIL: "bold red",
    Judgement.INCONCLUSIVE: "yellow",
}
_NOTICE = {
    Weight.VOID: ("INVALID", "bold white on red"),
    Weight.WARNING: ("warning", "bold yellow"),
    Weight.INFO: ("note", "cyan"),
}


def console(stream: IO[str]) -> Console:
    """A console that obeys nothing it prints; in a pipe it is 100 columns wide unless COLUMNS says otherwise."""
    fixed = not stream.isatty() and not os.environ.get("COLUMNS", "").isdigit()
    return Console(file=stream, width=_PIPE_WIDTH if fixed else None, markup=False, emoji=False, highlight=False)


def show_parts(parts: Iterable[RenderableType], to: Console) -> None:
    """Print `parts` one below the other, set in by one column, with no blanks at the ends of lines."""
    with to.capture() as printed:
        for part in parts:
            to.print(Padding(part, (0, 1)))
    to.file.write(_TRAILING.sub("", printed.get()))
    to.file.flush()


def show(document: Document, to: Console) -> None:
    """Print a report."""
    show_parts(_parts(document, to.width), to)


def _told(notice: Notice) -> Text:
    """What was seen, why it matters, what to do."""
    text = Text(notice.saw)
    if notice.why:
        text.append(f" – {notice.why}", "dim")
    if notice.advice:
        text.append(f" → {notice.advice}", "cyan")
    return text


def notice_line(notice: Notice) -> RenderableType:
    """A notice with its weight in front."""
    word, style = _NOTICE[notice.weight]
    grid = Grid.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column()
    grid.add_row(Text(f" {word} " if notice.weight is Weight.VOID else word, style), _told(tamed(notice)))
    return grid


def _parts(document: Document, width: int) -> Iterator[RenderableType]:
    yield ""
    yield from _banners(document)
    yield from _answers(document)
    if document.answers:
        yield ""
    yield from _results(document, width)
    yield from _thresholds(document.thresholds, width)
    if document.notices:
        yield ""
        yield from (notice_line(notice) for notice in document.notices)
    if document.evidence:
        yield ""
        yield _evidence(document)
    yield Text.assemble((f"{document.directory}/report.html", "bold"), (f"  also {_also(document)}", "dim"))


def _banners(document: Document) -> Iterator[RenderableType]:
    for text in (document.simulated, document.interrupted):
        if text:
            yield Text(f" {text} ", "bold black on yellow")
    if document.void:
        yield _invalid(sentences.NO_WINNER)
        yield from (_reason(notice) for notice in document.void)
    if document.simulated or document.interrupted or document.void:
        yield ""


def _answers(document: Document) -> Iterator[RenderableType]:
    if not document.results.rows:
        yield Text("nothing was measured", "bold")
    for answer in document.answers:
        if answer.verdict is Verdict.INVALID:
            yield _invalid(answer.sentence)
            yield from (_reason(notice) for notice in answer.reasons)
        else:
            yield Text(answer.sentence, _STYLE[answer.verdict] if answer.verdict else "bold")
    if document.routing:
        yield Text(document.routing, "bold")
    if document.judged:
        yield Text(document.judged, "bold")


def _invalid(sentence: str) -> Text:
    return Text.assemble((" INVALID ", "bold white on red"), (f" {sentence}", "bold red"))


def _reason(notice: Notice) -> RenderableType:
    return Padding(_told(notice), (0, 0, 0, 3))


def _results(document: Document, width: int) -> Iterator[RenderableType]:
    if not document.results.rows:
        return
    yield _grid(document.results, width - 2)
    if document.results.note:
        yield Text(document.results.note, "dim")
    for row in document.errors.rows[:_ERROR_LINES]:
        call, node, error, requests, share = row.cells
        yield Text.assemble((f"errors: {node} {call} ", "red"), f"{error} × {requests} ({share})")
    if len(document.errors.rows) > _ERROR_LINES:
        yield Text(f"and {len(document.errors.rows) - _ERROR_LINES} more kinds of error, see the report", "dim")


def _thresholds(table: Table, width: int) -> Iterator[RenderableType]:
    """All rows of a short table, of a long one those that were not passed, the worst first; then each reason once."""
    rows = list(table.rows)
    if len(rows) > _THRESHOLD_LINES:
        worst = ("fail", "inconclusive", "fail (warning)")
        rows = sorted((r for r in rows if r.cells[-1] in worst), key=lambda r: worst.index(r.cells[-1]))
    if rows:
        yield ""
        without = [i for i, column in enumerate(table.columns) if column.title != "because"]
        shown = [replace(r, cells=tuple(r.cells[i] for i in without)) for r in rows[:_THRESHOLD_LINES]]
        yield _grid(Table(table.title, tuple(table.columns[i] for i in without), tuple(shown)), width - 2)
    if len(rows) > _THRESHOLD_LINES:
        yield Text(f"and {len(rows) - _THRESHOLD_LINES} more, see the report", "dim")
    reasons = dict.fromkeys(reason for *_, reason, _ in (row.cells for row in rows[:_THRESHOLD_LINES]) if reason)
    yield from (Text(f"inconclusive: {reason}", "yellow") for reason in reasons)


def _grid(table: Table, width: int) -> Grid:
    """The table, without its spare columns and with shorter names where it would not fit."""
    kept, name_limit, gap = _fitting(table, width)
    grid = Grid(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="dim")
    for i in kept:
        column = table.columns[i]
        side: JustifyMethod = "right" if column.right else "left"
        limit = name_limit if _is_name(table, i) else None
        grid.add_column(Text(column.title), justify=side, no_wrap=True, overflow="ellipsis", max_width=limit)
    for row in table.rows:
        grid.add_row(*(_cell(table, row, i) for i in kept))
    return grid


def _fitting(table: Table, width: int) -> tuple[list[int], int, int]:
    """Which columns fit into `width`, how long names may be, and the gap between columns.

    Given up in this order: the wider gap, spare columns by rank, and at last the ends of names.
    """
    ranks = sorted({c.spare for c in table.columns}, reverse=True)
    for gap, spare in [(2, ranks[0]), *((1, rank) for rank in ranks)]:
        kept = [i for i, c in enumerate(table.columns) if c.spare <= spare]
        if _width(table, kept, _NAME_LIMIT, gap) <= width:
            return kept, _NAME_LIMIT, gap
    fitting = (n for n in range(_NAME_LIMIT, _NAME_MINIMUM, -1) if _width(table, kept, n, 1) <= width)
    return kept, next(fitting, _NAME_MINIMUM), 1


def _width(table: Table, kept: list[int], name_limit: int, gap: int) -> int:
    total = gap * (len(kept) - 1)
    for i in kept:
        widest = max(cell_len(text) for text in (table.columns[i].title, *(r.cells[i] for r in table.rows)))
        total += min(widest, name_limit) if _is_name(table, i) else widest
    return total


def _is_name(table: Table, i: int) -> bool:
    return table.columns[i].title in {"call", "node"}


def _cell(table: Table, row: Row, i: int) -> Text:
    text = row.cells[i]
    if row.verdict and i == len(table.columns) - 1:
        return Text(text, _STYLE[row.verdict])
    if row.failed and table.columns[i].title == "errors":
        return Text(text, "red")
    return Text(text, "bold" if table.columns[i].title == "call" else "")


def _evidence(document: Document) -> Text:
    head = "Believable because: " if document.believable else "Measured with: "
    return Text.assemble((head, "green" if document.believable else "bold"), ", ".join(document.evidence))


def _also(document: Document) -> str:
    return "report.md, plots/, *.csv" if document.pictures else "report.md, *.csv"
