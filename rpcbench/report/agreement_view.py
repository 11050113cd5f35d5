"""Whether nodes answer alike, on a terminal and for machines: the answer, outcomes per call, and every difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rpcbench.model.finding import Finding, Outcome
from rpcbench.record.findings import finding_as_data
from rpcbench.report.foreign import tame
from rpcbench.report.numbers import DASH, count
from rpcbench.report.terminal import show_parts

_PER_KIND = 2
_PLACES = 3
_STYLE = {Outcome.EQUAL: "green", Outcome.DIFFERENT: "bold red", Outcome.ENVIRONMENT: "yellow"}


def show_agreement(findings: Sequence[Finding], labels: Sequence[str], to: Console) -> None:
    """Print what came of a sample of calls; `labels` names the scenario's calls in their order."""
    different = [finding for finding in findings if finding.outcome is Outcome.DIFFERENT]
    show_parts([_answer(findings), "", _table(findings, labels)], to)
    shown = _first_of_each_kind(different)
    for finding in shown:
        _show_difference(finding, labels, to)
    show_parts(_closing(findings, labels, len(different) - len(shown)), to)


def as_data(findings: Sequence[Finding], labels: Sequence[str]) -> dict[str, Any]:
    """The same as plain data, nothing left out."""
    counts = Counter(finding.outcome for finding in findings)
    return {
        "counts": {str(outcome): counts[outcome] for outcome in Outcome},
        "findings": [finding_as_data(finding, labels) for finding in findings],
    }


def _closing(findings: Sequence[Finding], labels: Sequence[str], left_out: int) -> Iterator[RenderableType]:
    """How many differences were not shown, and what could not be compared."""
    if left_out:
        yield from ("", Text(f"and {count(left_out)} more that differ: --json has them all", "dim"))
    for i, line in enumerate(_doubts(findings, labels)):
        yield from ("", line) if i == 0 else (line,)


def _first_of_each_kind(findings: Sequence[Finding]) -> list[Finding]:
    """A few of every kind of call: one fault tends to show in all calls of a kind."""
    seen: Counter[int] = Counter()
    kept = []
    for finding in findings:
        seen[finding.spec] += 1
        if seen[finding.spec] <= _PER_KIND:
            kept.append(finding)
    return kept


def _answer(findings: Sequence[Finding]) -> Text:
    counts = Counter(finding.outcome for finding in findings)
    compared = counts[Outcome.EQUAL] + counts[Outcome.DIFFERENT]
    if not compared:
        return Text("nothing could be compared", "bold yellow")
    if not counts[Outcome.DIFFERENT]:
        return Text(f"the nodes agree: {count(compared)} of {count(compared)} compared answers are equal", "bold green")
    verb = "differs" if counts[Outcome.DIFFERENT] == 1 else "differ"
    return Text(f"{count(counts[Outcome.DIFFERENT])} of {count(compared)} compared answers {verb}", "bold red")


def _table(findings: Sequence[Finding], labels: Sequence[str]) -> Table:
    """A line per kind of call, a column per outcome."""
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    grid.add_column("call", no_wrap=True, max_width=40, overflow="ellipsis")
    for title in ("asked", *Outcome):
        grid.add_column(str(title), justify="right")
    for spec in sorted({finding.spec for finding in findings}):
        counts = Counter(finding.outcome for finding in findings if finding.spec == spec)
        cells = [Text(count(n) if (n := counts[o]) else DASH, _STYLE.get(o, "") if n else "dim") for o in Outcome]
        grid.add_row(Text(tame(labels[spec]), "bold"), count(counts.total()), *cells)
    return grid


def _show_difference(finding: Finding, labels: Sequence[str], to: Console) -> None:
    """One difference: what was asked, who stands with whom, where they part, and how to see it oneself."""
    asked = Text.assemble((" DIFFERENT ", "bold white on red"), (f" {tame(labels[finding.spec])} ", "bold"))
    asked.append(tame(finding.params, 200))
    show_parts(["", asked, *(Padding(line, (0, 0, 0, 2)) for line in _difference_lines(finding))], to)
    for _node, line in finding.curls:
        # In one piece, whatever the width of the terminal, or it could not be pasted.
        to.print(Text(f"   {line}", "dim"), soft_wrap=True)


def _difference_lines(finding: Finding) -> Iterator[Text]:
    if len(finding.groups) + len(finding.apart) > 2 or len(finding.groups[0]) > 1:
        camps = " | ".join(", ".join(group) for group in finding.groups)
        majority = f"majority {', '.join(finding.majority)}" if finding.majority else "no majority"
        yield Text(f"{camps}  ({majority})")
    for place in finding.deviations[:_PLACES]:
        width = max(cell_len(place.base), cell_len(place.other))
        yield Text(place.path, "bold")
        yield Text(f"  {set_cell_size(place.base, width)}  {place.base_value}")
        yield Text(f"  {set_cell_size(place.other, width)}  {place.other_value}")
    if finding.more or len(finding.deviations) > _PLACES:
        yield Text("and more places: --json has them", "dim")
    for node, said in finding.apart:
        yield Text(f"{node} apart: {said}", "dim")


def _doubts(findings: Sequence[Finding], labels: Sequence[str]) -> Iterator[Text]:
    """One line for each cause and kind of call that kept nodes from being compared, with what a node said of it."""
    first: dict[tuple[Outcome, str, int], Finding] = {}
    times: Counter[tuple[Outcome, str, int]] = Counter()
    for finding in findings:
        if finding.cause is not None:
            key = (finding.outcome, str(finding.cause), finding.spec)
            first.setdefault(key, finding)
            times[key] += 1
    for (outcome, cause, spec), finding in sorted(first.items(), key=lambda item: item[0]):
        said = "; ".join(f"{node}: {text}" for node, text in finding.apart)
        yield Text.assemble(
            (f"{outcome} ", _STYLE.get(outcome, "dim")),
            (f"{tame(labels[spec])} ", "bold"),
            f"× {count(times[outcome, cause, spec])}: {cause}",
            (f" ({said})" if said else "", "dim"),
        )
