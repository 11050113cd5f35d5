"""Does one node answer as the other does? A sample of calls, put to all nodes at fixed blocks, quietly.

A call goes to all nodes at the same moment, and the next one when all have answered. Answers are compared in
canonical form (`rpcbench.protocol.normalise`). Where they differ everybody is asked once more, so that a head that
moved in between is not taken for a disagreement.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from rpcbench.model.facts import NodeFacts
from rpcbench.model.finding import Cause, Finding, Outcome
from rpcbench.model.node import Node
from rpcbench.model.route import DIRECT, Route
from rpcbench.model.scenario import Chain
from rpcbench.model.workload import Call
from rpcbench.protocol import starknet
from rpcbench.protocol.catalogue import writes
from rpcbench.protocol.normalise import not_compared
from rpcbench.protocol.rules import RuleBook
from rpcbench.survey.asker import Asker, open_client
from rpcbench.survey.hearing import Hearing, unheard
from rpcbench.survey.witness import Answer, Question, Witness, question

SAMPLE_CALLS = 100
# How many pages of events, of the largest size that all nodes serve, are read of each node for one call.
MAX_PAGES = 4


def sample(calls: Iterable[Call], count: int = SAMPLE_CALLS) -> tuple[Call, ...]:
    """Up to `count` of the calls, as many of each kind as of any other where there are so many, in order of id."""
    kinds: dict[int, list[Call]] = {}
    for call in calls:
        kinds.setdefault(call.spec, []).append(call)
    in_turn = [call for turn in zip_longest(*kinds.values()) for call in turn if call is not None]
    return tuple(sorted(in_turn[:count], key=lambda call: call.id))


def agree(
    nodes: Sequence[Node],
    calls: Sequence[Call],
    chain: Chain,
    head: int,
    *,
    rules: RuleBook | None = None,
    facts: Iterable[NodeFacts] = (),
    timeout_s: float = 10.0,
    route: Route = DIRECT,
    max_pages: int = MAX_PAGES,
    on_call: Callable[[int, int], None] = lambda done, of: None,
) -> tuple[Finding, ...]:
    """Put every call to all nodes and compare; one Finding for each call, in that order.

    `head` is a height that all nodes have: calls that ask at `latest` are asked there. `facts`, from the survey, tell
    which nodes follow another patch level of the specification. `on_call` hears how many calls of how many are done.
    """
    specs = {fact.node: fact.spec_version for fact in facts}

    async def hear_all() -> tuple[Finding, ...]:
        findings = []
        async with open_client(route) as client:
            witnesses = [Witness(Asker(client, node, timeout_s), chain, max_pages) for node in nodes]
            for call in calls:
                findings.append(await _hear(witnesses, question(call, chain, head), rules or RuleBook(), specs))
                on_call(len(findings), len(calls))
        return tuple(findings)

    return asyncio.run(hear_all())


async def _hear(
    witnesses: Sequence[Witness], asked: Question, rules: RuleBook, specs: Mapping[str, str | None]
) -> Finding:
    """Put one question to all nodes and say what came of it."""
    if writes(asked.method):
        return unheard(asked, Cause.WRITES)
    if not_compared(asked.method) is not None:
        return unheard(asked, Cause.NODE_OWN)
    answers = await _with_pruned_apart(witnesses, await _ask_all(witnesses, asked))
    hearing = Hearing(asked, [witness.node for witness in witnesses], answers, rules.rules_for(asked.method), specs)
    try:
        finding = hearing.finding()
    except RecursionError:
        return unheard(asked, Cause.UNREADABLE)
    if finding.outcome is Outcome.DIFFERENT and hearing.restless(await _ask_all(witnesses, asked)):
        return replace(finding, outcome=Outcome.INCONCLUSIVE, cause=Cause.MOVED, curls=())
    return finding


async def _ask_all(witnesses: Sequence[Witness], asked: Question) -> list[Answer]:
    return list(await asyncio.gather(*(witness.answer(asked) for witness in witnesses)))


async def _with_pruned_apart(witnesses: Sequence[Witness], answers: list[Answer]) -> list[Answer]:
    """Answers of nodes that found nothing, because they do not have the block in which others found it, set apart."""
    number = next((height for answer in answers if (height := _height(answer)) is not None), None)
    if number is None:
        return answers
    pruned = Answer(cause=Cause.HISTORY, said=f"does not have block {number:,}")
    return [
        pruned if answer.not_found and await witness.lacks_block(number) else answer
        for witness, answer in zip(witnesses, answers, strict=True)
    ]


def _height(answer: Answer) -> int | None:
    """The height of the block that an answer stands in."""
    value = answer.value[0] if isinstance(answer.value, list) and answer.value else answer.value
    if not isinstance(value, dict):
        return None
    found = next((value[key] for key in ("block_number", "blockNumber", "number") if key in value), None)
    try:
        return starknet.parse_quantity(found)  # an integer, or hex as on Ethereum
    except ValueError:
        return None
