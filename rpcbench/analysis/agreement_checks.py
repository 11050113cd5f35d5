"""Doubts from the sample of calls that all nodes were asked quietly before the run: did they answer alike?

Nodes that do different work are not ranked. A call is void for a pair of nodes when they differ in substance on two
sampled calls or more, or on the only one there was: one of them has an error where the other has data, another number
of items, or other values in more places than a few. Any other difference, such as a fee that is estimated in another
way or one deviating field, takes the nodes the same work, and is told as a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rpcbench.analysis.words import counted
from rpcbench.model.finding import Deviation, Finding, Outcome, Tally
from rpcbench.model.verdict import Notice, Weight

# So many differing places are no longer one field that is computed otherwise.
FEW_PLACES = 3
_SHOWN_LENGTH = 48


def tally(findings: Sequence[Finding]) -> Tally:
    """How many of the sampled calls could be compared, and how many were answered alike."""
    equal = sum(finding.outcome is Outcome.EQUAL for finding in findings)
    different = sum(finding.outcome is Outcome.DIFFERENT for finding in findings)
    return Tally(asked=len(findings), compared=equal + different, equal=equal)


def disagreements(findings: Sequence[Finding], nodes: Sequence[str], labels: Sequence[str]) -> Iterator[Notice]:
    """A notice per call and other node that answers unlike the first; one per call that a node cannot answer."""
    for spec, label in enumerate(labels):
        mine = [finding for finding in findings if finding.spec == spec]
        for other in nodes[1:]:
            yield from _differing(mine, nodes[0], other, label)
        yield from _set_up_otherwise(mine, label)


def _differing(findings: Sequence[Finding], base: str, other: str, label: str) -> Iterator[Notice]:
    compared = [f for f in findings if _heard(f, base) and _heard(f, other)]
    parted = [f for f in compared if f.outcome is Outcome.DIFFERENT and not _together(f, base, other)]
    if not parted:
        return
    serious = [f for f in parted if in_substance(f)]
    void = len(serious) > 1 or (bool(serious) and len(compared) == 1)
    yield Notice(
        kind="replies_differ",
        weight=Weight.VOID if void else Weight.WARNING,
        saw=f"{other} and {base} answer {len(parted)} of {counted(len(compared), f'sampled {label} call')} differently"
        + _place((serious or parted)[0]),
        why="the nodes do not do the same work: the faster one may only do less of it"
        if void
        else "the same question has another answer on each: one of them may be wrong",
        advice="findings.jsonl has every place with both values and a curl line per node",
        node=other,
        call=label,
    )


def in_substance(finding: Finding) -> bool:
    """Whether the answers differ in more than a few values."""
    places = finding.deviations
    return finding.more or len(places) > FEW_PLACES or any(_unlike(place) for place in places)


def _unlike(place: Deviation) -> bool:
    """An error or nothing where the other has data, or another number of items. JSON texts would stand in quotes."""
    values = (place.base_value, place.other_value)
    if place.path == "$" and "null" in values:
        return True
    return any(value.startswith("error ") or value.endswith((" items", " item")) for value in values)


def _heard(finding: Finding, node: str) -> bool:
    return any(node in group for group in finding.groups)


def _together(finding: Finding, one: str, other: str) -> bool:
    return any(one in group and other in group for group in finding.groups)


def _place(finding: Finding) -> str:
    if not finding.deviations:
        return ""
    at = finding.deviations[0]
    return f", at {at.path}: {at.base} {_cut(at.base_value)}, {at.other} {_cut(at.other_value)}"


def _cut(value: str) -> str:
    return value if len(value) <= _SHOWN_LENGTH else value[: _SHOWN_LENGTH - 1] + "…"


def _set_up_otherwise(findings: Sequence[Finding], label: str) -> Iterator[Notice]:
    """The nodes are not set up alike, as far as this call shows: one notice for each cause and node."""
    told: dict[tuple[str, str], str] = {}
    affected: dict[tuple[str, str], int] = {}
    for finding in findings:
        if finding.outcome is Outcome.ENVIRONMENT:
            for node, said in finding.apart or [("", "")]:
                key = (str(finding.cause), node)
                told.setdefault(key, said)
                affected[key] = affected.get(key, 0) + 1
    for (cause, node), said in told.items():
        answers = f"{affected[cause, node]} of {counted(len(findings), f'sampled {label} call')}"
        yield Notice(
            kind="setup_differs",
            weight=Weight.WARNING,
            saw=f"{cause} in {answers}" + (f": {node}: {said}" if node else ""),
            why="a node that cannot know the answer has less to do for it",
            advice="give the nodes the same specification version and the same history, or leave the call out",
            node=node or None,
            call=label,
        )
