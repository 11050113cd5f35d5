"""The report as Markdown that pastes into a pull request: GitHub tables, the answer first, settings folded away."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rpcbench.model.verdict import Judgement, Notice, Verdict, Weight
from rpcbench.report import sentences
from rpcbench.report.document import Document
from rpcbench.report.tables import Row, Table

_ACTIVE = re.compile(r"[\\`*\[\]|~$#!]|(?<![^\W_])_|_(?![^\W_])")
_AUTOLINK = re.compile(r"(?i)@|(?<=http)(?=s?://)|(?<=www)(?=\.)")
_UNSETTLED = (Verdict.UNDECIDED, Judgement.INCONCLUSIVE)
_NOTICE = {Weight.VOID: "**INVALID**", Weight.WARNING: "**Warning**", Weight.INFO: "Note"}


def render(document: Document) -> str:
    """The whole report."""
    return "\n".join(_lines(document)).rstrip() + "\n"


def escape(text: str) -> str:
    """`text` so that GitHub shows it as it is: no markup, no HTML, no mention, no link of its own making."""
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _AUTOLINK.sub(lambda m: f"{m[0]}<!-- -->", _ACTIVE.sub(r"\\\g<0>", plain))


def _lines(document: Document) -> Iterator[str]:
    yield f"## {escape(document.title)}"
    yield ""
    for text in (document.simulated, document.interrupted):
        if text:
            yield from (f"> **{escape(text)}**", "")
    yield from _answer(document)
    yield from _table(document.results, titled=False)
    yield from _table(document.thresholds)
    yield from _table(document.errors)
    if document.notices:
        yield from ("### Notices", "")
        yield from (f"- {_NOTICE[n.weight]}: {_told(n)}" for n in document.notices)
        yield ""
    if document.evidence:
        head = "Believable because" if document.believable else "Measured with"
        yield from (f"**{head}:** {escape(', '.join(document.evidence))}", "")
    yield from _details(document)


def _answer(document: Document) -> Iterator[str]:
    if not document.results.rows:
        yield from ("**Nothing was measured.**", "")
    if document.void:
        yield f"- **INVALID: {sentences.NO_WINNER}**"
        yield from (f"  - {_told(n)}" for n in document.void)
    for answer in document.answers:
        if answer.verdict is Verdict.INVALID:
            yield f"- **INVALID: {escape(answer.sentence)}**"
            yield from (f"  - {_told(n)}" for n in answer.reasons)
        else:
            yield f"- **{escape(answer.sentence)}**"
    if document.routing:
        yield f"- {escape(document.routing)}"
    if document.judged:
        yield f"- **{escape(document.judged)}**"
    yield ""


def _told(notice: Notice) -> str:
    why = f" – {escape(notice.why)}" if notice.why else ""
    advice = f" → {escape(notice.advice)}" if notice.advice else ""
    return f"{escape(notice.saw)}{why}{advice}"


def _table(table: Table, titled: bool = True) -> Iterator[str]:
    if not table.rows:
        return
    if titled:
        yield from (f"### {escape(table.title)}", "")
    yield _row(tuple(escape(c.title) for c in table.columns))
    yield _row(tuple("--:" if c.right else ":--" for c in table.columns))
    yield from (_row(_cells(row)) for row in table.rows)
    if table.note:
        yield from ("", f"<sub>{escape(table.note)}</sub>")
    yield ""


def _cells(row: Row) -> tuple[str, ...]:
    *most, last = (escape(cell) for cell in row.cells)
    return (*most, f"**{last}**" if last and row.verdict and row.verdict not in _UNSETTLED else last)


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _details(document: Document) -> Iterator[str]:
    yield from ("<details>", "<summary>Settings, nodes and every comparison</summary>", "")
    yield from (f"- {name}: {escape(value)}" for name, value in document.settings)
    yield ""
    yield from _table(document.nodes)
    yield from _table(document.latencies)
    yield from _table(document.comparisons)
    yield "</details>"
