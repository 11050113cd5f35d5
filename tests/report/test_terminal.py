"""The report on a terminal: its order, its width, its colours."""

import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from rpcbench.model.verdict import Notice, Verdict, Weight
from rpcbench.report import terminal
from rpcbench.report.document import Document, build
from tests.report.made import (
    CONSTANT_REPLY,
    GENERATOR_BUSY,
    HEAD_MOVED,
    PARAMS_REFUSED,
    make_analysis,
    make_info,
    make_run,
)

MANY = {"nodes": ("juno", "pathfinder", "papyrus", "a-node-with-quite-a-long-name"), "calls": tuple("abcdef")}


def made(*notices: Notice, verdicts: tuple[Verdict, ...] = (), **changes: object) -> Document:
    run = make_run(**{"rounds": 6, "per_trial": 400, **changes})
    return build(make_info(), run, make_analysis(run, *notices, verdicts=verdicts))


def printed(document: Document, width: int = 100, colour: bool = False) -> str:
    out = io.StringIO()
    options = {"force_terminal": True, "color_system": "standard"} if colour else {}
    to = Console(file=out, width=width, markup=False, emoji=False, highlight=False, **options)
    terminal.show(document, to)
    return out.getvalue()


def test_the_answer_comes_before_the_table_and_the_files_come_last():
    text = printed(made(HEAD_MOVED))
    places = [text.index(w) for w in ("takes 1.3", "p50", "warning", "Measured with", "report.html")]
    assert places == sorted(places)


def test_two_calls_on_two_nodes_fit_one_screen():
    text = printed(made(HEAD_MOVED), width=80)
    assert len(text.splitlines()) <= 24


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
@pytest.mark.parametrize("changes", [{}, MANY, {"fail": 0.5, "simulated": True}], ids=["two", "many", "failing"])
def test_no_line_is_wider_than_the_terminal_or_ends_in_blanks(width, changes):
    lines = printed(made(PARAMS_REFUSED, **changes), width).splitlines()
    assert max(cell_len(line) for line in lines) <= width
    assert not any(line.endswith(" ") for line in lines)


def test_a_narrow_table_gives_up_spare_columns_and_keeps_figures_whole():
    text = printed(made(), width=62)
    header = next(line for line in text.splitlines() if "p50" in line)
    assert "p90" not in header
    assert "requests" not in header
    assert re.search(r"getBlockW\S*\s+juno\s+\d\.\d\d ms\s+\d\.\d\d ms", text)


def test_an_invalid_call_names_no_winner_and_gives_its_reasons():
    text = printed(made(PARAMS_REFUSED, CONSTANT_REPLY, verdicts=(Verdict.INVALID, Verdict.INVALID)))
    assert "INVALID  getEvents is not compared" in text
    assert '100 % of it with rpc_error[-32602] "Invalid params"' in text
    assert "one constant reply to 4,812 different requests" in text
    assert not re.search(r"faster|slower|times as|× [\d.]", text)


def test_a_void_run_names_no_winner():
    text = printed(made(GENERATOR_BUSY))
    assert "INVALID  this run names no winner" in text
    assert "the generator used 99 % of its core" in text
    assert not re.search(r"faster|slower|times as|× [\d.]", text.replace("rounds ×", ""))


def test_invalid_cannot_be_overlooked_in_colour():
    assert re.search(r"\x1b\[1;37;41m INVALID \x1b", printed(made(GENERATOR_BUSY), colour=True))


def test_a_simulated_and_interrupted_run_says_both_first():
    lines = [line.strip() for line in printed(made(simulated=True, interrupted=True)).splitlines() if line.strip()]
    assert lines[0] == "simulated nodes: figures show how rpcbench works, not how these clients perform"
    assert lines[1].startswith("interrupted: 12 of 12 trials")


def test_what_was_not_measured_is_a_dash():
    text = printed(made(per_trial=20))  # too few requests for a p99
    assert "nan" not in text
    assert re.search(r"getBlockWithTxs  juno .* ms +– +–", text)


def test_every_kind_of_error_is_counted_but_not_endlessly():
    run = make_run(rounds=2, per_trial=50, fail=0.5)
    analysis = make_analysis(run)
    kinds = {f"http_error[{code}]": 3 for code in range(500, 504)}
    analysis = replace(analysis, summaries=tuple(replace(s, errors=kinds) for s in analysis.summaries))
    text = printed(build(make_info(), run, analysis))
    assert text.count("errors: ") == 4
    assert "and 12 more kinds of error" in text


def test_markup_in_names_and_messages_is_text():
    notice = replace(HEAD_MOVED, saw="[bold red]boo[/] :smile: https://x", node=None)
    text = printed(made(notice, nodes=("[red]juno[/red]", "pathfinder")), colour=True)
    plain = re.sub(r"\x1b\[[\d;]*m", "", text)
    assert "[red]juno[/red]" in plain
    assert "[bold red]boo[/] :smile: https://x" in plain


def test_the_console_obeys_nothing_it_prints():
    out = io.StringIO()
    terminal.console(out).print("[red]x[/red] :smile: 192.168.0.1")
    assert out.getvalue() == "[red]x[/red] :smile: 192.168.0.1\n"


def test_escape_sequences_in_messages_do_not_reach_the_terminal():
    text = printed(made(replace(HEAD_MOVED, saw="pathfinder said \x1b[2J\x1b]0;owned\x07")))
    assert "\x1b" not in text
    assert "\x07" not in text


def test_a_pipe_gets_no_colour_and_a_terminal_does(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    pipe = terminal.console(io.StringIO())
    assert (pipe.width, pipe.color_system) == (100, None)
    assert "\x1b" in printed(made(), colour=True)


def test_no_color_is_honoured(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    text = printed(made(GENERATOR_BUSY), colour=True)
    assert not re.search(r"\x1b\[[\d;]*3\d", text)


def test_each_weight_of_notice_has_its_word():
    notices = [replace(HEAD_MOVED, kind=str(w), weight=w, call="other") for w in Weight]
    text = printed(made(*notices))
    assert [line.split()[0] for line in text.splitlines() if "fell 7 blocks" in line] == ["INVALID", "warning", "note"]


def test_a_run_without_a_trial_says_so():
    run = replace(make_run(rounds=1, per_trial=10, interrupted=True), trials=())
    analysis = replace(make_analysis(make_run(rounds=1, per_trial=10)), summaries=(), comparisons=())
    assert "nothing was measured" in printed(build(make_info(), run, analysis))
