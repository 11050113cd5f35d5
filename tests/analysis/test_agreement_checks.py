"""What follows from a sample of calls that all nodes were asked: who is void, who is only warned of."""

import pytest

from rpcbench.analysis.agreement_checks import FEW_PLACES, disagreements, tally
from rpcbench.model.finding import Cause, Deviation, Finding, Outcome, Tally
from rpcbench.model.verdict import Weight

PAIR = ("juno", "pathfinder")
ONE_FIELD = (("$.timestamp", "17", "18"),)
OTHER_COUNT = (("$.events", "5 items", "3 items"),)


def found(*places, outcome=Outcome.DIFFERENT, spec=0, groups=None, **more):
    """A finding on two nodes; `places` are (path, value of juno, value of pathfinder)."""
    if groups is None:
        groups = (PAIR,) if outcome is Outcome.EQUAL else (("juno",), ("pathfinder",))
    deviations = tuple(Deviation(path, groups[0][0], groups[1][0], a, b) for path, a, b in places)
    return Finding(0, spec, "m", "{}", outcome, groups=groups, deviations=deviations, **more)


EQUAL = found(outcome=Outcome.EQUAL)


def judged(*findings, nodes=PAIR, labels=("getBlock",)):
    return list(disagreements(findings, nodes, labels))


def test_nodes_that_agree_leave_nothing_to_say():
    assert judged(EQUAL, EQUAL) == []
    assert judged() == []
    assert judged(found(outcome=Outcome.INCONCLUSIVE, cause=Cause.MOVED)) == []


def test_a_deviating_field_is_a_warning_with_its_place_and_both_values():
    (notice,) = judged(EQUAL, EQUAL, found(*ONE_FIELD))
    assert notice.saw == (
        "pathfinder and juno answer 1 of 3 sampled getBlock calls differently, at $.timestamp: juno 17, pathfinder 18"
    )
    assert (notice.kind, notice.weight) == ("replies_differ", Weight.WARNING)
    assert (notice.node, notice.call) == ("pathfinder", "getBlock")
    assert "curl" in notice.advice


def test_long_values_are_cut_in_the_sentence():
    (notice,) = judged(found(("$.hash", '"0x' + "a" * 60, '"0x1"')))
    assert notice.saw.endswith(f'juno "0x{"a" * 44}…, pathfinder "0x1"')


def test_one_field_that_always_deviates_is_no_other_work():
    assert judged(*[found(*ONE_FIELD)] * 5)[0].weight is Weight.WARNING


@pytest.mark.parametrize(
    "places",
    [
        OTHER_COUNT,
        (("$", "null", '"0x1"'),),
        (("$", '{"a":1}', "error 24 Block not found"),),
        tuple((f"$.f{i}", "1", "2") for i in range(FEW_PLACES + 1)),
    ],
)
def test_two_answers_that_differ_in_substance_void_the_call(places):
    assert judged(EQUAL, found(*places))[0].weight is Weight.WARNING
    (notice,) = judged(EQUAL, EQUAL, found(*places), found(*places))
    assert notice.weight is Weight.VOID
    assert "2 of 4 sampled" in notice.saw


def test_the_only_answer_there_is_voids_the_call_alone():
    assert judged(found(*OTHER_COUNT))[0].weight is Weight.VOID


@pytest.mark.parametrize("value", ['"error 5"', '"7 items"', '"null"'])
def test_texts_that_read_like_something_else_are_texts(value):
    assert judged(found(("$.name", value, '"x"')))[0].weight is Weight.WARNING


def test_a_null_inside_is_a_field_like_any_other():
    assert judged(found(("$.status", "null", '"0x1"')))[0].weight is Weight.WARNING


def test_every_other_node_is_held_against_the_first():
    nodes = ("juno", "pathfinder", "madara")
    split = found(*OTHER_COUNT, groups=(("juno", "madara"), ("pathfinder",)))
    assert [(n.node, n.weight) for n in judged(split, nodes=nodes)] == [("pathfinder", Weight.VOID)]
    alone = found(*OTHER_COUNT, groups=(("pathfinder", "madara"), ("juno",)))
    assert [n.node for n in judged(alone, nodes=nodes)] == ["pathfinder", "madara"]


def test_calls_are_judged_each_by_itself():
    findings = [found(*OTHER_COUNT, spec=1), EQUAL]
    assert [n.call for n in judged(*findings, labels=("getBlock", "getEvents"))] == ["getEvents"]


def test_a_node_that_cannot_know_the_answer_is_a_warning():
    pruned = found(
        outcome=Outcome.ENVIRONMENT,
        cause=Cause.HISTORY,
        groups=(("juno",),),
        apart=(("pathfinder", "does not have block 3"),),
    )
    (notice,) = judged(EQUAL, pruned, pruned)
    assert (notice.kind, notice.weight, notice.node) == ("setup_differs", Weight.WARNING, "pathfinder")
    assert notice.saw == "history missing in 2 of 3 sampled getBlock calls: pathfinder: does not have block 3"


def test_the_tally_counts_what_could_be_compared():
    unknown = found(outcome=Outcome.INCONCLUSIVE, cause=Cause.MOVED)
    assert tally([EQUAL, EQUAL, found(*ONE_FIELD), unknown]) == Tally(asked=4, compared=3, equal=2)
