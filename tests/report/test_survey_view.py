"""What nodes said of themselves, as a table and as lines above a comparison; the plan in one line."""

import io
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from rpcbench.model.scenario import Arrival, Open
from rpcbench.report.plan_view import plan_header
from rpcbench.report.survey_view import node_lines, show_survey
from tests.report.made import HEAD_MOVED, make_facts, make_run

FACTS = (make_facts("juno", 3_214_551), make_facts("pathfinder", 3_214_550))


def shown(facts=FACTS, width: int = 160, **rest: object) -> str:
    out = io.StringIO()
    show_survey(facts, Console(file=out, width=width, markup=False, emoji=False, highlight=False), **rest)
    return out.getvalue()


def test_every_fact_is_in_the_table():
    header, juno, pathfinder = shown().splitlines()
    assert header.split("  ")[0].strip() == "node"
    expected = [
        "juno",
        "localhost:6060/rpc/v0_10",
        "Juno 0.16.1",
        "0.10.2",
        "SN_MAIN",
        "3,214,551",
        "no",
        "12 s",
        "1.80 ms",
    ]
    assert all(fact in juno for fact in expected)
    assert " 1 " in pathfinder


def test_what_a_node_did_not_say_is_a_dash():
    silent = replace(FACTS[0], chain_id=None, spec_version=None, client_version=None, syncing=None, clock_skew_s=None)
    assert shown((silent,)).splitlines()[1].split()[2:] == ["–", "–", "–", "3,214,551", "–", "–", "–", "1.80", "ms"]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_narrow_terminal_gets_the_table_on_its_side(width):
    lines = shown(width=width).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert [line.split()[0] for line in lines[:3]] == ["node", "place", "client"]


def test_problems_and_notices_follow():
    text = shown(problems=["juno is on another chain"], notices=[HEAD_MOVED])
    assert "PROBLEM  juno is on another chain" in text
    assert "warning pathfinder fell 7 blocks behind" in text


def test_no_facts_is_no_table():
    assert shown((), problems=["juno does not answer"]).splitlines() == ["  PROBLEM  juno does not answer"]


def test_a_line_per_node_says_who_is_behind():
    assert node_lines(FACTS) == [
        "juno        localhost:6060/rpc/v0_10  Juno 0.16.1        spec 0.10.2  head 3,214,551",
        "pathfinder  localhost:9545/rpc/v0_10  Pathfinder 0.23.0  spec 0.10.2  head 3,214,550  1 behind",
    ]


def test_lines_give_up_the_spec_and_then_the_place():
    assert (
        node_lines(FACTS, 85)[1] == "pathfinder  localhost:9545/rpc/v0_10  Pathfinder 0.23.0  head 3,214,550  1 behind"
    )
    assert node_lines(FACTS, 60)[1] == "pathfinder  Pathfinder 0.23.0  head 3,214,550  1 behind"


def test_hostile_facts_are_tamed():
    evil = replace(FACTS[0], node="a\x1b[2Jb", client_version="c\nd", place="\x07e")
    assert "\x1b" not in shown((evil,)) + node_lines((evil,))[0]
    assert len(node_lines((evil,))) == 1
    assert "\n" not in node_lines((evil,))[0]


def test_the_plan_in_one_line():
    scenario = make_run(rounds=1, per_trial=1).scenario
    full = plan_header(replace(scenario, rounds=10), 2, requests=48_123, bytes_in=4.1e8, total_s=64)
    assert full == (
        "mixed · 10 rounds × 3 s × 2 nodes · closed loop, 8 connections · seed 1 · about 48,000 requests, 0.41 GB, 1:04"
    )
    assert plan_header(scenario, 1).startswith("mixed · 1 round × 3 s × 1 node · ")
    fixed = replace(scenario, requests=1000, load=Open(500, Arrival.CONSTANT, 64))
    assert "1,000 requests × 2 nodes · open loop, 500 per second (constant), at most 64 in flight" in plan_header(
        fixed, 2
    )
