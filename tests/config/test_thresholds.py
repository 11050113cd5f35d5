"""How thresholds are written, and the sentence for everything that is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpcbench.config.thresholds import parse_threshold
from rpcbench.errors import EXIT_USAGE, SpecError
from rpcbench.model.threshold import Threshold, Unit

CALLS = ("getEvents", "getBlockWithTxs")
NODES = ("juno", "pathfinder", "127.0.0.1:8545")


def refusal(text: str) -> str:
    with pytest.raises(SpecError) as caught:
        parse_threshold(text, CALLS, NODES)
    assert caught.value.exit_code == EXIT_USAGE
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "metric", "relation", "limit", "unit"),
    [
        ("p99<200ms", "p99", "<", 200.0, Unit.MS),
        ("p95 <= 1.5 s", "p95", "<=", 1500.0, Unit.MS),
        ("p50<250µs", "p50", "<", 0.25, Unit.MS),
        ("mean<1m30s", "mean", "<", 90_000.0, Unit.MS),
        ("errors<0.1%", "errors", "<", 0.001, Unit.SHARE),
        ("errors > 99.9 %", "errors", ">", 0.999, Unit.SHARE),
        ("rate>=100", "rate", ">=", 100.0, Unit.PER_S),
        ("rate>2.5/s", "rate", ">", 2.5, Unit.PER_S),
    ],
)
def test_a_limit_for_every_call_and_node(text, metric, relation, limit, unit) -> None:
    assert parse_threshold(text, CALLS, NODES) == Threshold(text, metric, relation, limit, unit)


def test_a_limit_for_one_call_on_one_node() -> None:
    found = parse_threshold("  warn: getEvents.p90 ( 127.0.0.1:8545 ) < 5ms ", CALLS, NODES)
    assert (found.call, found.metric, found.node, found.base) == ("getEvents", "p90", "127.0.0.1:8545", None)
    assert found.warn
    assert found.text == "warn: getEvents.p90 ( 127.0.0.1:8545 ) < 5ms"


def test_a_node_with_a_port_is_no_prefix() -> None:
    assert parse_threshold("p99(127.0.0.1:8545)<5ms", CALLS, NODES).node == "127.0.0.1:8545"


@pytest.mark.parametrize(
    "text", ["getEvents.p50(pathfinder)/p50(juno)<=1.1", "getEvents.p50(pathfinder) / getEvents.p50(juno) <= 1.1"]
)
def test_a_limit_between_two_nodes(text) -> None:
    found = parse_threshold(text, CALLS, NODES)
    assert (found.call, found.metric, found.node, found.base) == ("getEvents", "p50", "pathfinder", "juno")
    assert (found.limit, found.unit, found.warn) == (1.1, Unit.RATIO, False)


def test_a_label_may_hold_dots() -> None:
    assert parse_threshold("trace.block.p99<5ms", ["trace.block"]).call == "trace.block"


def test_names_that_nobody_knows_yet_are_let_through() -> None:
    assert parse_threshold("anything.p99(anyone)<5ms").node == "anyone"


METRICS = "write one of p50, p90, p95, p99, mean, rate, errors"
TIME = "write a time above zero with its unit, such as 200ms or 1.5s"
SHARE = "write a share above 0% and below 100%, such as 0.1%"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "there is no <, <=, > or >=; write a threshold such as getEvents.p99<200ms"),
        ("p99", "there is no <, <=, > or >=; write a threshold such as getEvents.p99<200ms"),
        ("p99==5ms", "`==` (character 4) is none of <, <=, >, >=; write one of these"),
        ("p99≤5ms", "`≤` (character 4) is none of <, <=, >, >=; write one of these"),
        ("<5ms", f"there is no metric at character 1; {METRICS}"),
        ("p101<5ms", f"`p101` (character 1) is no metric; {METRICS}"),
        ("p(101)<5ms", f"`p(101)` (character 1) is no metric; {METRICS}"),
        ("getEvents.p(99)<5ms", "`p(99)` (character 11) is no metric; write p99, without brackets"),
        ("p99.9<5ms", f"`p99.9` (character 1) is no metric; {METRICS}"),
        ("getEvents.p99.9<5ms", f"`p99.9` (character 11) is no metric; {METRICS}"),
        ("getEvents.avg<5ms", f"`avg` (character 11) is no metric; {METRICS}"),
        ("getEvents<5ms", f"`getEvents` (character 1) is no metric; {METRICS}"),
        ("200ms>p99", f"`200ms` (character 1) is no metric; {METRICS}"),
        ("getEvnts.p99<5ms", "`getEvnts` (character 1) is no call of this scenario; did you mean getEvents?"),
        ("warn: zzz.p99<5ms", "`zzz` (character 7) is no call of this scenario; write getEvents or getBlockWithTxs"),
        ("p99(juo)<5ms", "`juo` (character 5) is no node of this run; did you mean juno?"),
        ("p50(juno)/p50(geth)<2", "`geth` (character 15) is no node of this run; write juno or pathfinder or "),
        ("p99(juno<5ms", "`p99(juno` (character 1) is not of the form call.metric(node); write it as in "),
        ("p99()<5ms", "`p99()` (character 1) is not of the form call.metric(node)"),
        (".p99<5ms", "`.p99` (character 1) is not of the form call.metric(node)"),
        ("fail: p99<5ms", "`fail` (character 1) may not stand before a threshold; write warn: or nothing"),
        ("p99<", f"there is no value at character 5; {TIME}"),
        ("p99<200", f"`200` (character 5) has no unit; {TIME}"),
        ("p99< 0ms", f"`0ms` (character 6) is no limit for a time; {TIME}"),
        ("p99<-5ms", f"`-5ms` (character 5) is no limit for a time; {TIME}"),
        ("p99<1%", f"`1%` (character 5) is no limit for a time; {TIME}"),
        ("p99<5ms<6ms", f"`5ms<6ms` (character 5) is no limit for a time; {TIME}"),
        ("errors<1", f"`1` (character 8) has no percent sign; {SHARE}"),
        ("errors<=0%", f"`0%` (character 9) is no limit for a share of requests; {SHARE}"),
        ("errors<100%", f"`100%` (character 8) is no limit for a share of requests; {SHARE}"),
        ("errors<5ms", f"`5ms` (character 8) is no limit for a share of requests; {SHARE}"),
        ("rate>=0", "`0` (character 7) is no limit for a rate; write answers per second, above 0, such as 100"),
        ("rate>=100ms", "`100ms` (character 7) is no limit for a rate"),
        ("p99(juno)/p99<1", "`p99` (character 11) does not say on which node; write p99(node)"),
        ("p99/p99(juno)<1", "`p99` (character 1) does not say on which node; write p99(node)"),
        ("p99(juno)/p99(juno)<1", "`juno` (character 15) stands on both sides of the `/`; name two nodes"),
        ("p99(juno)/p50(pathfinder)<1", "`p50(pathfinder)` (character 11) is another figure than before the `/`"),
        (
            "getEvents.p99(juno)/getBlockWithTxs.p99(pathfinder)<1",
            "`getBlockWithTxs.p99(pathfinder)` (character 21) is another figure than before the `/`",
        ),
        ("errors(juno)/errors(pathfinder)<1", "`errors` (character 1) has no ratio between nodes; write one of p50"),
        ("p95(juno)/p95(pathfinder)<1", "`p95` (character 1) has no ratio between nodes"),
        ("p99(juno)/p99(pathfinder)<5ms", "`5ms` (character 27) is no limit for a ratio; write a number above 0"),
        ("p99(juno)/p99(pathfinder)<0", "`0` (character 27) is no limit for a ratio"),
        ("p99<" + "9" * 60 + "h", "`" + "9" * 39 + "…` (character 5) is no limit for a time"),
    ],
)
def test_what_is_wrong_is_named_with_its_place_and_what_would_be_right(text, sentence) -> None:
    assert refusal(text).startswith(sentence)


@given(st.text(alphabet="p95rate.mn()/<>=%: wsju0", max_size=24))
def test_any_text_is_read_or_refused_in_words(text) -> None:
    said = ""
    try:
        found = parse_threshold(text, CALLS, NODES)
    except SpecError as error:
        said = str(error)
    assert any(word in said for word in ("; write", "; name", "; did you mean")) or found.limit > 0
