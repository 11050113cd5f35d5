"""What follows from the answers of several nodes to one question. No I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rpcbench.model.finding import Cause, Deviation, Finding, Outcome
from rpcbench.model.node import Node
from rpcbench.protocol.difference import ABSENT, Difference, difference, shown
from rpcbench.protocol.normalise import RpcError
from rpcbench.protocol.rules import Rules
from rpcbench.survey.curl import curl_line
from rpcbench.survey.privacy import printable
from rpcbench.survey.witness import Answer, Question

_PLACES = 10
_PARAMS_LIMIT = 200
_SETUP = (Cause.UNSERVED, Cause.HISTORY)


@dataclass(frozen=True, slots=True)
class Hearing:
    """One question and an answer of each node. `specs` maps a node's name to the spec version that it follows."""

    question: Question
    nodes: Sequence[Node]
    answers: Sequence[Answer]
    rules: Rules
    specs: Mapping[str, str | None]

    def finding(self) -> Finding:
        """What can be said of the nodes' agreement. Raises RecursionError for answers nested too deeply to compare."""
        bare = unheard(self.question, None)
        answered = list(zip(self.nodes, self.answers, strict=True))
        apart = tuple((node.name, answer.said) for node, answer in answered if answer.cause)
        groups = self._groups()
        names = tuple(tuple(self.nodes[i].name for i in group) for group in groups)
        finding = replace(bare, groups=names, apart=apart)
        if len(groups) > 1:
            return self._parted(finding, groups)
        outcome, cause = self._together()
        if cause is Cause.BOTH_ERROR:
            finding = replace(bare, apart=tuple((node.name, answer.said) for node, answer in answered))
        return replace(finding, outcome=outcome, cause=cause)

    def restless(self, again: Sequence[Answer]) -> bool:
        """Whether some node, asked once more, did not repeat its own answer."""
        return any(
            before.cause is None and after.cause is None and self._differ(before.value, after.value)
            for before, after in zip(self.answers, again, strict=True)
        )

    def _differ(self, one: Any, other: Any) -> bool:
        return bool(difference(one, other, self.rules, limit=1))

    def _groups(self) -> list[list[int]]:
        """Positions of nodes with equal answers, the largest group first. Its first answer stands for a group."""
        values = self._comparable()
        groups: list[list[int]] = []
        for i, value in values.items():
            home = next((group for group in groups if not self._differ(values[group[0]], value)), None)
            if home is None:
                groups.append([i])
            else:
                home.append(i)
        return sorted(groups, key=len, reverse=True)

    def _comparable(self) -> dict[int, Any]:
        """The values by position; where pages were left unread, no more events than were read of every such node."""
        values = {i: answer.value for i, answer in enumerate(self.answers) if answer.cause is None}
        read = [len(answer.value["events"]) for answer in self.answers if not answer.whole]
        if read:
            return {i: _first_events(value, min(read)) for i, value in values.items()}
        return values

    def _together(self) -> tuple[Outcome, Cause | None]:
        """Nobody contradicts anybody. Is there anything that all agree on?"""
        heard = [answer for answer in self.answers if answer.cause is None]
        causes = [answer.cause for answer in self.answers if answer.cause]
        setup = [cause for cause in causes if cause in _SETUP]
        if not heard and len(setup) == len(causes):
            return Outcome.INCONCLUSIVE, Cause.BOTH_ERROR
        if heard and setup:
            return Outcome.ENVIRONMENT, setup[0]
        if causes:
            return Outcome.INCONCLUSIVE, next(cause for cause in causes if cause not in _SETUP)
        if not all(answer.valid for answer in heard):
            return Outcome.INCONCLUSIVE, Cause.BOTH_ERROR
        if not all(answer.whole for answer in heard):
            return Outcome.INCONCLUSIVE, Cause.PAGES
        return Outcome.EQUAL, None

    def _parted(self, finding: Finding, groups: Sequence[Sequence[int]]) -> Finding:
        """Answers differ: where, and does it count?"""
        values = self._comparable()
        base = groups[0][0]
        others = [group[0] for group in groups[1:]]
        places = {i: difference(values[base], values[i], self.rules, limit=_PLACES + 1) for i in others}
        finding = replace(
            finding,
            deviations=tuple(self._deviation(base, i, place) for i in others for place in places[i][:_PLACES]),
            more=any(len(found) > _PLACES for found in places.values()),
        )
        if self.question.moving and not _at_one_block(list(values.values())):
            return replace(finding, cause=Cause.MOVED)
        if all(self._is_of_spec(base, i, places[i]) for i in others):
            return replace(finding, outcome=Outcome.ENVIRONMENT, cause=Cause.SPEC)
        curls = tuple((self.nodes[i].name, curl_line(self.nodes[i], self.question.body)) for i in values)
        return replace(finding, outcome=Outcome.DIFFERENT, curls=curls)

    def _deviation(self, base: int, other: int, place: Difference) -> Deviation:
        return Deviation(
            path=printable(place.path, self.nodes[base]),
            base=self.nodes[base].name,
            other=self.nodes[other].name,
            base_value=self._shown(base, place.left),
            other_value=self._shown(other, place.right),
        )

    def _shown(self, i: int, value: Any) -> str:
        """A value as a person may see it; an error in the node's own words."""
        return self.answers[i].said if isinstance(value, RpcError) else printable(shown(value), self.nodes[i])

    def _is_of_spec(self, base: int, other: int, places: Sequence[Difference]) -> bool:
        """Whether the nodes follow different patch levels, and all they differ in is members that one does not have."""
        level, other_level = (self.specs.get(self.nodes[i].name) for i in (base, other))
        return level != other_level and all(ABSENT in (place.left, place.right) for place in places)


def unheard(question: Question, cause: Cause | None) -> Finding:
    """The finding for a question that was not asked, or not yet."""
    params = json.dumps(question.params, separators=(",", ":"))
    cut = params if len(params) <= _PARAMS_LIMIT else params[: _PARAMS_LIMIT - 1] + "…"
    return Finding(question.call.id, question.call.spec, question.method, cut, Outcome.INCONCLUSIVE, cause)


def _first_events(value: Any, count: int) -> Any:
    return {"events": value["events"][:count]} if isinstance(value, dict) and "events" in value else value


def _at_one_block(values: Sequence[Any]) -> bool:
    """Whether proofs, which can only be had at the head, are all of one block."""
    roots = [value.get("global_roots") if isinstance(value, dict) else None for value in values]
    blocks = [root.get("block_hash") if isinstance(root, dict) else None for root in roots]
    return blocks[0] is not None and all(block == blocks[0] for block in blocks)
