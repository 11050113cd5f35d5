"""What a report says, whatever its form: a void comparison has no winner anywhere, hostile text is tame."""

import math
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum

from rpcbench.model.scenario import Open
from rpcbench.model.verdict import Analysis, Comparison, Estimate, NoiseFloor, Notice, Verdict, Weight
from rpcbench.report.document import ROUND_RATIOS, Document, build
from tests.report.made import (
    CONSTANT_REPLY,
    GENERATOR_BUSY,
    HEAD_MOVED,
    PARAMS_REFUSED,
    make_analysis,
    make_info,
    make_run,
)

SMALL = Estimate(1.0, 0.999, 1.001, 0.95, 9)


def strings(value: object) -> Iterator[str]:
    """Every string in a document, however deep."""
    if isinstance(value, Enum):
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from strings(part)
    elif is_dataclass(value):
        for field in fields(value):
            yield from strings(getattr(value, field.name))


def document(*notices: Notice, verdicts: tuple[Verdict, ...] = (), **run_changes: object) -> Document:
    run = make_run(**{"rounds": 6, "per_trial": 60, **run_changes})
    return build(make_info(), run, make_analysis(run, *notices, verdicts=verdicts))


def test_a_clean_run_is_believable_and_says_why():
    made = document()
    assert made.believable
    assert made.evidence[:3] == ("6 rounds in alternating order", "720 requests, none failed", "heads at most 1 apart")
    assert "generator busy 31 % of a core" in made.evidence


def test_the_noise_floor_stands_among_the_evidence():
    run = make_run(rounds=6, per_trial=60)
    floor = NoiseFloor("getEvents", Estimate(0.998, 1 / 1.0102, 1.007, 0.95, 9))
    alone = replace(make_analysis(run), noise_floors=(floor,))
    assert "noise floor of this run ±1.1 %" in build(make_info(), run, alone).evidence
    both = replace(make_analysis(run), noise_floors=(replace(floor, call="a", ratio=SMALL), floor))
    assert "noise floor of this run ±1.1 % (getEvents)" in build(make_info(), run, both).evidence
    assert not any("noise" in fact for fact in document().evidence)


def test_percentiles_have_a_table_with_their_intervals():
    run = make_run(rounds=6, per_trial=60)
    first, *others = make_analysis(run).summaries
    intervals = {"p50": Estimate(2.31, 2.2, 2.4, 0.95, 90), "p90": Estimate(9.0, 8.0, math.inf, 0.95, 90)}
    analysis = replace(make_analysis(run), summaries=(replace(first, latency_intervals_ms=intervals), *others))
    table = build(make_info(), run, analysis).latencies
    figures = ("2.31 ms", "[2.20 ms, 2.40 ms]", "9.00 ms", "[8.00 ms, –]", "–", "–")
    assert table.rows[0].cells == ("getBlockWithTxs", "juno", *figures)
    assert [row.cells[0] for row in table.rows] == ["getBlockWithTxs", "", "getEvents", ""]
    assert document().latencies.rows == ()


def test_errors_are_compared_in_percentage_points():
    run = make_run(rounds=6, per_trial=60)
    share = Estimate(0.0082, 0.0075, 0.009, 0.95, 10)
    errors = Comparison(
        "errors", "getEvents", "juno", "pathfinder", None, None, Verdict.MORE, "", difference_share=share
    )
    made = make_analysis(run)
    rows = build(make_info(), run, replace(made, comparisons=(*made.comparisons, errors))).comparisons.rows
    assert rows[-1].cells[1:] == ("errors", "pathfinder", "–", "–", "+0.82 pp", "", "more")
    void = replace(made, comparisons=(*made.comparisons, errors), notices=(GENERATOR_BUSY,))
    assert build(make_info(), run, void).comparisons.rows[-1].cells[5:] == ("–", "", "INVALID")


def test_a_doubt_takes_the_word_believable_away():
    assert not document(HEAD_MOVED).believable
    assert not document(interrupted=True).believable


def test_an_info_leaves_it_believable():
    assert document(replace(HEAD_MOVED, weight=Weight.INFO)).believable


def test_rounds_that_all_begin_with_one_node_are_not_called_alternating():
    run = make_run(rounds=4, per_trial=40)
    fixed = [replace(t, trial=replace(t.trial, index=t.trial.round * 2 + t.trial.node)) for t in run.trials]
    run = replace(run, trials=tuple(fixed))
    assert build(make_info(), run, make_analysis(run)).evidence[0] == "4 rounds"


def test_an_open_loop_says_how_much_of_the_plan_was_sent():
    run = make_run(rounds=2, per_trial=50)
    run = replace(run, scenario=replace(run.scenario, load=Open(100.0)))
    run = replace(run, trials=tuple(replace(t, planned=50) for t in run.trials))
    assert "all 200 planned requests sent" in build(make_info(), run, make_analysis(run)).evidence
    run.trials[-1].samples.rows["sent_ns"][:7] = 0
    assert "193 of 200 planned requests sent" in build(make_info(), run, make_analysis(run)).evidence


def test_an_invalid_call_keeps_its_reasons_and_loses_its_ratio():
    made = document(PARAMS_REFUSED, CONSTANT_REPLY, verdicts=(Verdict.SLOWER, Verdict.INVALID))
    blocks, events = made.answers
    assert blocks.verdict is Verdict.SLOWER
    assert events.verdict is Verdict.INVALID
    assert [r.saw for r in events.reasons] == [PARAMS_REFUSED.saw, CONSTANT_REPLY.saw]
    assert made.notices == ()
    told = [text for row in made.comparisons.rows if row.verdict is Verdict.INVALID for text in row.cells]
    assert told == ["getEvents", "p50", "pathfinder", "–", "–", "–", "10 paired rounds", "INVALID"]


def test_an_invalid_call_without_a_notice_gives_the_comparisons_own_reason():
    made = document(verdicts=(Verdict.SLOWER, Verdict.INVALID))
    assert [r.saw for r in made.answers[1].reasons] == ["10 paired rounds"]


def test_a_void_run_tells_its_reason_once_and_compares_nothing_even_where_a_verdict_says_otherwise():
    made = document(GENERATOR_BUSY, verdicts=(Verdict.SLOWER, Verdict.FASTER))
    assert made.answers == ()
    assert [n.saw for n in made.void] == [GENERATOR_BUSY.saw]
    assert {row.verdict for row in made.results.rows} == {None, Verdict.INVALID}
    assert not any("faster" in s or "slower" in s or "×" in s for s in strings(made) if s != made.asked)
    assert ROUND_RATIOS not in [p.path for p in made.pictures]
    assert made.routing == ""


def test_a_single_node_is_described_and_not_compared():
    made = document(nodes=("juno",))
    assert made.answers[0].verdict is None
    assert made.answers[0].sentence.startswith("juno answers getBlockWithTxs in ")
    assert "against juno" not in [c.title for c in made.results.columns]


def test_a_single_node_with_a_void_call_gives_no_figure_for_it_in_words():
    made = document(CONSTANT_REPLY, nodes=("juno",))
    assert made.answers[1].verdict is Verdict.INVALID
    assert made.answers[1].sentence == "the figures of getEvents on juno are void"


def test_a_simulated_run_says_so():
    expected = "simulated nodes: figures show how rpcbench works, not how these clients perform"
    assert document(simulated=True).simulated == expected
    assert document().simulated == ""


def test_an_interrupted_run_counts_its_trials():
    run = make_run(rounds=10, per_trial=30, interrupted=True)
    run = replace(run, trials=run.trials[:9])
    made = build(make_info(), run, make_analysis(run))
    assert made.interrupted.startswith("interrupted: 7 of 20 trials were finished")


def test_a_run_without_a_trial_is_still_a_document():
    run = replace(make_run(rounds=1, per_trial=10, interrupted=True), trials=())
    made = build(make_info(), run, Analysis((), (), ()))
    assert (made.answers, made.results.rows, made.pictures, made.evidence) == ((), (), (), ())


def test_nothing_answered_shows_dashes_and_every_error():
    made = document(fail=1.0)
    assert [row.cells[4:8] for row in made.results.rows] == [("–", "–", "–", "100 %")] * 4
    assert {row.cells[2] for row in made.errors.rows} == {"rpc_error[-32602]"}


def test_a_notice_names_whom_it_concerns_unless_its_words_do():
    silent = replace(HEAD_MOVED, saw="the head moved 7 blocks")
    assert document(silent).notices[0].saw == "pathfinder: the head moved 7 blocks"
    assert document(HEAD_MOVED).notices[0].saw == HEAD_MOVED.saw


def test_hostile_text_is_tame_wherever_it_comes_from():
    evil = "\x1b]0;owned\x07\x1b[2J\r\n\u202eesrever\u200b\x00"
    names = ("juno" + evil, "path" + evil)
    run = make_run(nodes=names, calls=("get" + evil, "b"), rounds=2, per_trial=60, fail=0.1, interrupted=True)
    facts = tuple(replace(f, client_version=evil, spec_version=evil, place=evil) for f in run.before)
    run = replace(run, before=facts, after=facts, scenario=replace(run.scenario, name=evil, about=evil))
    analysis = make_analysis(run, Notice("k", Weight.WARNING, evil, evil, evil, names[0], "get" + evil))
    errors = tuple(replace(s, errors={evil: 3}) for s in analysis.summaries)
    analysis = replace(analysis, summaries=errors)
    info = replace(make_info(), directory=evil, command=evil, host=evil, labels={evil: evil})
    for text in strings(build(info, run, analysis)):
        assert not any(ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u202e\u200b" for c in text), repr(text)


def test_endless_text_is_cut():
    saw = document(replace(HEAD_MOVED, saw="x" * 100_000)).notices[0].saw
    assert len(saw) < 500
    assert saw.endswith("…")


def test_the_best_node_of_each_call_is_named_where_they_differ():
    made = document(verdicts=(Verdict.SLOWER, Verdict.FASTER))
    assert made.routing == "by call, send getBlockWithTxs to juno; getEvents to pathfinder"
