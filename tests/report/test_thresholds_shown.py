"""Thresholds in every form of the report: a line that counts them, a table, and nothing where there are none."""

import io
from dataclasses import replace
from math import nan

import pytest
from rich.cells import cell_len
from rich.console import Console

from rpcbench.model.threshold import Unit
from rpcbench.model.verdict import Judgement, ThresholdResult
from rpcbench.report import html, markdown, terminal
from rpcbench.report.document import Document, build
from tests.report.made import make_analysis, make_info, make_run

TEXT = "getEvents.p99<200ms"
FAILED = ThresholdResult(TEXT, "getEvents", "juno", 231.0, 220.0, 240.0, Unit.MS, Judgement.FAIL, False)
PASSED = replace(FAILED, node="pathfinder", value=120.0, low=110.0, high=131.0, outcome=Judgement.PASS)
WARNED = ThresholdResult(
    "warn: errors<0.1%", "getEvents", "juno", 0.02, 0.01, 0.03, Unit.SHARE, Judgement.FAIL, warn=True
)
OPEN = ThresholdResult(
    "p99(b)/p99(a)<=1.05", "getEvents", "b/a", nan, nan, nan, Unit.RATIO, Judgement.INCONCLUSIVE, False, "only 3 rounds"
)
ALL = (FAILED, PASSED, WARNED, OPEN)


def made(*thresholds: ThresholdResult) -> Document:
    run = make_run(rounds=3, per_trial=40)
    return build(make_info(), run, replace(make_analysis(run), thresholds=thresholds))


def printed(document: Document, width: int = 100) -> str:
    out = io.StringIO()
    terminal.show(document, Console(file=out, width=width, markup=False, emoji=False, highlight=False))
    return out.getvalue()


def test_one_line_counts_what_failed_first():
    judged = "thresholds: 1 failed, 1 missed with a warning, 1 inconclusive, 1 passed"
    document = made(*ALL)
    assert document.judged == judged
    for text in (printed(document), markdown.render(document), html.render(document, {})):
        assert judged in text


def test_each_has_its_figure_its_interval_and_its_outcome():
    rows = [row.cells for row in made(*ALL).thresholds.rows]
    assert rows == [
        (TEXT, "getEvents", "juno", "231 ms", "[220 ms, 240 ms]", "", "fail"),
        (TEXT, "getEvents", "pathfinder", "120 ms", "[110 ms, 131 ms]", "", "pass"),
        ("warn: errors<0.1%", "getEvents", "juno", "2 %", "[1 %, 3 %]", "", "fail (warning)"),
        ("p99(b)/p99(a)<=1.05", "getEvents", "b/a", "–", "–", "only 3 rounds", "inconclusive"),
    ]


def test_a_bound_that_the_run_cannot_give_is_a_dash():
    unbounded = replace(FAILED, high=float("inf"), outcome=Judgement.INCONCLUSIVE)
    assert made(unbounded).thresholds.rows[0].cells[4] == "[220 ms, –]"


def test_the_terminal_shows_the_figures_and_the_reason():
    text = printed(made(*ALL))
    row = next(line for line in text.splitlines() if TEXT in line and "juno" in line)
    for word in ("getEvents", "231 ms", "[220 ms, 240 ms]", "fail"):
        assert word in row
    assert "inconclusive: only 3 rounds" in text


def test_a_long_list_is_cut_down_to_what_was_not_passed():
    text = printed(made(*[replace(PASSED, call=f"call{i}") for i in range(8)], FAILED))
    assert "call3" not in text
    assert "231 ms" in text
    many = printed(made(*[replace(FAILED, call=f"call{i}") for i in range(12)]))
    assert "call7" in many
    assert "call8" not in many
    assert "and 4 more, see the report" in many


def test_a_long_list_begins_with_the_worst():
    warned = [replace(WARNED, call=f"call{i}") for i in range(9)]
    last_words = [line.split()[-1] for line in printed(made(*warned, OPEN, FAILED)).splitlines() if "<" in line]
    shown = [word for word in last_words if word in ("fail", "inconclusive", "(warning)")]
    assert shown == ["fail", "inconclusive", *["(warning)"] * 6]


def test_a_list_that_is_passed_throughout_needs_no_more_than_its_line():
    text = printed(made(*[replace(PASSED, call=f"call{i}") for i in range(12)]))
    assert "thresholds: 12 passed" in text
    assert "call1" not in text


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_no_line_is_wider_than_the_terminal(width):
    lines = printed(made(*ALL), width).splitlines()
    assert max(cell_len(line) for line in lines) <= width


def test_markdown_has_a_table_with_what_is_settled_in_bold():
    text = markdown.render(made(*ALL))
    assert "### Thresholds" in text
    lines = [line for line in text.splitlines() if line.startswith("| ") and "p99" in line and "getEvents" in line]
    assert lines[0].endswith("| **fail** |")
    assert lines[-1].endswith("| inconclusive |")
    assert "p99&lt;200ms" in lines[0]


def test_html_has_a_section_with_coloured_outcomes():
    text = html.render(made(*ALL), {})
    assert "<h2>Thresholds</h2>" in text
    for outcome in ("fail", "pass", "inconclusive"):
        assert f'verdict {outcome}"' in text
    assert "p99&lt;200ms" in text


def test_nothing_is_said_where_there_are_none():
    document = made()
    assert document.judged == ""
    for text in (printed(document), markdown.render(document), html.render(document, {})):
        assert "hreshold" not in text.replace(".thresholds", "")
