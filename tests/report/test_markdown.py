"""report.md as GitHub would read it; markdown-it comes with rich and reads it the same way."""

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from rpcbench.model.verdict import Estimate, Notice, Verdict, Weight
from rpcbench.report import markdown
from rpcbench.report.document import build
from tests.report.made import CONSTANT_REPLY, GENERATOR_BUSY, PARAMS_REFUSED, make_analysis, make_info, make_run


def rendered(*notices: Notice, verdicts: tuple[Verdict, ...] = (), **changes: object) -> str:
    run = make_run(**{"rounds": 4, "per_trial": 60, **changes})
    return markdown.render(build(make_info(), run, make_analysis(run, *notices, verdicts=verdicts)))


def as_html(text: str) -> str:
    return MarkdownIt("commonmark").enable("table").render(text)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a|b|c",
        "`code` and ``more``",
        "**bold** __bold__ _it_ *it* ~~gone~~",
        "[link](https://example.org) ![image](x.png)",
        "\\| \\` \\",
        "&lt; &amp; &#124;",
        "# heading",
        "- item",
        "snake_case_name rpc_error[-32602]",
        "$x^2$",
        "<!-- hidden -->",
    ],
)
def test_foreign_text_reads_as_it_is(text):
    shown = as_html(f"| a | b |\n| - | - |\n| {markdown.escape(text)} | end |")
    cell = re.search(r"<td>(.*?)</td>\n<td>end</td>", shown, re.S)
    assert cell, shown
    readable = (
        cell[1]
        .replace("<!-- -->", "")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", '"')
        .replace("&amp;", "&")
    )
    assert readable == text


@pytest.mark.parametrize("text", ["@everyone look", "see https://evil.example", "www.evil.example"])
def test_foreign_text_neither_mentions_nor_links(text):
    escaped = markdown.escape(text)
    assert not re.search(r"@\w|https?://|www\.\w", escaped)
    assert escaped.replace("<!-- -->", "") == text


def test_names_that_look_like_markup_leave_the_tables_whole():
    text = rendered(nodes=("ju|no`", "path<b>finder"), calls=("get|Blocks", "`x`"))
    tables = re.findall(r"<table>.*?</table>", as_html(text), re.S)
    for table in tables:
        widths = {row.count("<td") + row.count("<th") for row in re.findall(r"<tr>.*?</tr>", table, re.S)}
        assert len(widths) == 1
    assert "<b>" not in as_html(text)
    assert "<code>" not in as_html(text)


def test_the_answer_comes_first_and_settings_are_folded():
    text = rendered()
    places = [text.index(w) for w in ("takes 1.3", "| call | node |", "**Believable because:**", "<details>")]
    assert places == sorted(places)
    assert "| juno | localhost:6060/rpc/v0\\_10 |" in text or "| juno | localhost:6060/rpc/v0_10 |" in text
    assert text.rstrip().endswith("</details>")


def test_an_invalid_call_names_no_winner():
    text = rendered(PARAMS_REFUSED, CONSTANT_REPLY, verdicts=(Verdict.INVALID, Verdict.INVALID))
    assert "**INVALID: getEvents is not compared between pathfinder and juno**" in text
    assert "one constant reply to 4,812 different requests" in text
    assert not re.search(r"faster|slower|times as|× \d\.\d", text)


def test_a_void_run_names_no_winner():
    text = rendered(GENERATOR_BUSY)
    assert "**INVALID: this run names no winner**" in text
    assert not re.search(r"faster|slower|times as", text)


def test_a_simulated_run_says_so_before_anything_else():
    lines = [line for line in rendered(simulated=True).splitlines() if line]
    assert lines[1] == "> **simulated nodes: figures show how rpcbench works, not how these clients perform**"


def test_notices_carry_their_weight_and_advice():
    text = rendered(Notice("k", Weight.WARNING, "heads moved", "they sync", "wait", "juno"))
    assert "- **Warning**: juno: heads moved – they sync → wait" in text


def test_an_empty_run_says_so():
    run = replace(make_run(rounds=1, per_trial=5, interrupted=True), trials=())
    analysis = replace(make_analysis(make_run(rounds=1, per_trial=5)), summaries=(), comparisons=())
    text = markdown.render(build(make_info(), run, analysis))
    assert "**Nothing was measured.**" in text
    assert "interrupted before the first trial was finished" in text


def test_the_intervals_of_each_node_are_among_the_details():
    run = make_run(rounds=4, per_trial=60)
    first, *others = make_analysis(run).summaries
    interval = {"p50": Estimate(2.31, 2.2, 2.4, 0.95, 90)}
    analysis = replace(make_analysis(run), summaries=(replace(first, latency_intervals_ms=interval), *others))
    text = markdown.render(build(make_info(), run, analysis))
    assert r"| 2.31 ms | \[2.20 ms, 2.40 ms\] |" in text
    assert text.index("<details>") < text.index("### Latency of each node")
