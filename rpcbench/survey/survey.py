"""Ask every node who and where it is, before a run and again after it, and say whether they can be compared.

The questions are few. Starknet: chain id, spec version at the newest path, client version, latest block, syncing,
one common block: 6 for Juno, 7 for Pathfinder, 13 for a node without versioned paths. Ethereum: 5, or 6 where
nobody said which chain it is. Nodes are asked at the same time, each one question after the other, so that heads are
read together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rpcbench.errors import NodesError
from rpcbench.model.facts import NodeFacts
from rpcbench.model.node import Node
from rpcbench.model.route import DIRECT, Route
from rpcbench.model.scenario import Chain
from rpcbench.model.verdict import Notice
from rpcbench.survey import judging
from rpcbench.survey.asker import Asker, open_client
from rpcbench.survey.interview import Interview, ask_each
from rpcbench.survey.paths import choose_paths, has_no_path
from rpcbench.survey.trouble import Kind, Trouble, called

# Blocks this close to the lowest head may still be reorganised or missing on a node that is a little behind.
COMMON_MARGIN_BLOCKS = 5

SIMULATED_MARK = "rpcbench-sim"


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found out. `nodes` point at the paths to be measured; a node that could not be asked has no facts."""

    chain: Chain
    nodes: tuple[Node, ...]
    facts: tuple[NodeFacts, ...]
    problems: tuple[str, ...]
    notices: tuple[Notice, ...]


def ask(
    nodes: Sequence[Node],
    chain: Chain | None,
    *,
    max_lag: int = 5,
    timeout_s: float = 10.0,
    route: Route = DIRECT,
) -> Survey:
    """Ask all nodes and compare their answers; `chain` None takes the chain that the first answering node speaks.

    Raises NodesError when no node tells which chain it speaks, UsageError when certificate files cannot be used.
    """
    return asyncio.run(_ask(nodes, chain, max_lag, timeout_s, route))


def judge(survey: Survey) -> None:
    """Raise NodesError with every problem, one on a line, unless the nodes can be compared."""
    if survey.problems:
        raise NodesError("\n".join(survey.problems))


def ask_again(
    survey: Survey, *, max_lag: int = 5, timeout_s: float = 10.0, route: Route = DIRECT
) -> tuple[tuple[NodeFacts, ...], tuple[Notice, ...]]:
    """The same questions after the run, and what has changed since; a node that no longer answers has no facts."""
    return asyncio.run(_ask_again(survey, max_lag, timeout_s, route))


def simulated(facts: Iterable[NodeFacts]) -> bool:
    """Whether any of these nodes is one of rpcbench's own embedded nodes."""
    return any(SIMULATED_MARK in (fact.client_version or "") for fact in facts)


async def _ask(nodes: Sequence[Node], chain: Chain | None, max_lag: int, timeout_s: float, route: Route) -> Survey:
    async with open_client(route) as client:
        interviews = [Interview(Asker(client, node, timeout_s)) for node in nodes]
        await ask_each(interviews, lambda interview: interview.ask_chain(chain))
        chain = _settle_chain(interviews, chain)
        if chain is Chain.STARKNET:
            await choose_paths([interview for interview in interviews if interview.trouble is None])
        await ask_each(interviews, Interview.ask_client)
        answering = await ask_each(interviews, Interview.ask_head)
        await ask_each(answering, Interview.ask_syncing)
        lowest = min((interview.head.number for interview in answering if interview.head), default=0)
        height = max(0, lowest - COMMON_MARGIN_BLOCKS)
        await ask_each(answering, lambda interview: interview.ask_common(height))
    facts = _facts(interviews)
    cached = [judging.cached(i.asker.node, i.asker.cache_headers) for i in interviews if i.asker.cache_headers]
    at_root = [i.asker.node.name for i in interviews if chain is Chain.STARKNET and has_no_path(i)]
    return Survey(
        chain=chain,
        nodes=tuple(interview.asker.node for interview in interviews),
        facts=facts,
        problems=(*_troubles(interviews), *(judging.problems(facts, chain, max_lag) if facts else ())),
        notices=(*(judging.doubts(facts, at_root) if facts else ()), *cached),
    )


def _settle_chain(interviews: Sequence[Interview], expected: Chain | None) -> Chain:
    """The chain to compare on; nodes of another one are in trouble from here on. Raises NodesError if none is known."""
    answering = [interview for interview in interviews if interview.trouble is None]
    if expected is None and not answering:
        raise NodesError("\n".join(_troubles(interviews)))
    chain = expected or answering[0].chain or Chain.STARKNET
    if expected is None:
        first = answering[0].asker.node
        conflict = f" and {called(first.name, first.place)} {chain.title()}: name nodes of one chain"
    else:
        conflict = f", but the scenario is for {chain.title()}: name another node or another scenario"
    for interview in answering:
        if interview.chain is not chain:
            predicate = f"speaks {(interview.chain or chain).title()}{conflict}"
            interview.trouble = Trouble(interview.asker.node, predicate, Kind.ELSEWHERE)
    return chain


async def _ask_again(
    survey: Survey, max_lag: int, timeout_s: float, route: Route
) -> tuple[tuple[NodeFacts, ...], tuple[Notice, ...]]:
    before = {fact.node: fact for fact in survey.facts}
    async with open_client(route) as client:
        nodes = [node for node in survey.nodes if node.name in before]
        interviews = [Interview(Asker(client, node, timeout_s)) for node in nodes]
        await ask_each(interviews, lambda interview: interview.ask_chain(survey.chain))
        if survey.chain is Chain.STARKNET:
            await ask_each(interviews, Interview.ask_spec)
        await ask_each(interviews, Interview.ask_client)
        await ask_each(interviews, Interview.ask_head)
        await ask_each(interviews, Interview.ask_syncing)
        await ask_each(interviews, lambda i: i.ask_common(before[i.asker.node.name].common_height or 0))
    after = _facts(interviews)
    notices = [judging.gone(i.asker.node.name, i.trouble) for i in interviews if i.trouble]
    for fact in after:
        notices += judging.changes(before[fact.node], fact)
    if after:
        notices += judging.drifts(survey.facts, after, max_lag)
    return after, tuple(notices)


def _facts(interviews: Iterable[Interview]) -> tuple[NodeFacts, ...]:
    return tuple(facts for interview in interviews if (facts := interview.facts) is not None)


def _troubles(interviews: Iterable[Interview]) -> list[str]:
    return [str(interview.trouble) for interview in interviews if interview.trouble is not None]
