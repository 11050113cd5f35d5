"""What the answers mean: why nodes cannot be compared, what is doubtful, what changed during a run. No I/O.

The first node is the base: the others are held against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rpcbench.model.facts import NodeFacts
from rpcbench.model.node import Node
from rpcbench.model.scenario import Chain
from rpcbench.model.verdict import Notice, Weight
from rpcbench.protocol import ethereum, starknet
from rpcbench.protocol.starknet import spec_family
from rpcbench.survey.trouble import Trouble, called

CLOCK_SKEW_S = 600
STILL_S = 120


def problems(facts: Sequence[NodeFacts], chain: Chain, max_lag: int) -> Iterator[str]:
    """One sentence for each reason why these nodes cannot be compared."""
    # Hashes mean nothing across chains, and heights nothing across histories: the first difference says it all.
    yield from list(_other_chains(facts, chain)) or list(_forks(facts)) or _laggards(facts, max_lag)
    yield from _other_specs(facts)


def _other_chains(facts: Sequence[NodeFacts], chain: Chain) -> Iterator[str]:
    base, *others = facts
    for fact in others:
        if int(fact.chain_id or "0x0", 16) != int(base.chain_id or "0x0", 16):
            yield (
                f"{_called(fact)} is on chain {_chain_label(fact, chain)} and {_called(base)} on "
                f"{_chain_label(base, chain)}: name nodes of one chain."
            )


def _chain_label(fact: NodeFacts, chain: Chain) -> str:
    chain_id = fact.chain_id or "?"
    name = (starknet if chain is Chain.STARKNET else ethereum).chain_name(chain_id)
    return chain_id if name == chain_id else f"{name} ({chain_id})"


def _other_specs(facts: Sequence[NodeFacts]) -> Iterator[str]:
    base, *others = facts
    for fact in others:
        if not _same_family(fact, base):
            yield (
                f"{_called(fact)} speaks spec {fact.spec_version} and {_called(base)} {base.spec_version}: give both "
                f"a path of the same version, or upgrade the older node."
            )


def _laggards(facts: Sequence[NodeFacts], max_lag: int) -> Iterator[str]:
    leader = max(facts, key=lambda fact: fact.head)
    for fact in facts:
        lag = leader.head - fact.head
        if lag > max_lag:
            yield (
                f"{_called(fact)} is {_blocks(lag)} behind {_called(leader)}, {fact.head:,} against {leader.head:,}, "
                f"and {max_lag} are allowed: let it catch up, or allow more (--max-lag {lag})."
            )


def _forks(facts: Sequence[NodeFacts]) -> Iterator[str]:
    known = [fact for fact in facts if fact.common_hash is not None]
    for fact in known[1:]:
        base = known[0]
        if fact.common_hash != base.common_hash:
            yield (
                f"{_called(fact)} is not on the same chain as {_called(base)}: block {fact.common_height:,} has hash "
                f"{_short(fact.common_hash)} on the one and {_short(base.common_hash)} on the other, so one has a "
                f"different genesis or follows a fork; name nodes that share their history."
            )


def doubts(facts: Sequence[NodeFacts], at_root: Sequence[str]) -> Iterator[Notice]:
    """What does not forbid a comparison but should be known; `at_root` names nodes without versioned paths."""
    for fact in facts:
        if fact.node in at_root:
            yield _unversioned(fact)
        if fact.spec_version != facts[0].spec_version and _same_family(fact, facts[0]):
            yield _spec_patch(fact, facts[0])
        if fact.common_hash is None:
            yield _common_block_missing(fact)
        if fact.syncing:
            yield _syncing(fact)
        if abs(fact.clock_skew_s or 0.0) > CLOCK_SKEW_S:
            yield _clock_skew(fact)


def _unversioned(fact: NodeFacts) -> Notice:
    return Notice(
        "unversioned_path",
        Weight.INFO,
        f"{_called(fact)} serves no versioned path and is asked at its root, where it speaks spec {fact.spec_version}",
        "what a root path serves changes with the node's version and settings",
        "state the spec version with the results when you compare them later",
        node=fact.node,
    )


def _spec_patch(fact: NodeFacts, base: NodeFacts) -> Notice:
    return Notice(
        "spec_patch",
        Weight.INFO,
        f"{_called(fact)} speaks spec {fact.spec_version} and {_called(base)} {base.spec_version}",
        "patch versions differ in wording, seldom in what is returned",
        "nothing, unless their replies turn out to differ",
        node=fact.node,
    )


def _common_block_missing(fact: NodeFacts) -> Notice:
    return Notice(
        "common_block_missing",
        Weight.WARNING,
        f"{_called(fact)} does not have block {fact.common_height:,}, which is below every head",
        "whether the nodes share their history could not be checked",
        "see whether the node keeps old blocks",
        node=fact.node,
    )


def _syncing(fact: NodeFacts) -> Notice:
    return Notice(
        "syncing",
        Weight.WARNING,
        f"{_called(fact)} says that it is syncing",
        "a node that catches up shares its disk and processor between that and our requests",
        "wait until it has caught up",
        node=fact.node,
    )


def _clock_skew(fact: NodeFacts) -> Notice:
    skew_s = fact.clock_skew_s or 0.0
    age = f"{_duration(skew_s)} old" if skew_s > 0 else f"{_duration(-skew_s)} in the future"
    return Notice(
        "clock_skew",
        Weight.INFO,
        f"the latest block of {_called(fact)} is {age} by this machine's clock",
        "its chain stands still, the node is far behind everyone else, or a clock is wrong",
        "make sure that the node follows the chain if it should, and that both clocks are right",
        node=fact.node,
    )


def cached(node: Node, headers: Mapping[str, str]) -> Notice:
    """A node whose replies bear the headers of a cache or a proxy."""
    seen = ", ".join(f"{name}: {value}" for name, value in headers.items())
    return Notice(
        "cache_headers",
        Weight.WARNING,
        f"replies of {called(node.name, node.place)} come with {seen}",
        "something between us and the node may answer in its place, or wait in its place",
        "measure the node itself, without the cache or proxy",
        node=node.name,
    )


def changes(before: NodeFacts, after: NodeFacts) -> Iterator[Notice]:
    """What a run has to know about one node that is not what it was."""
    for what, old, new in (
        ("client version", before.client_version, after.client_version),
        ("spec version", before.spec_version, after.spec_version),
        ("chain id", before.chain_id, after.chain_id),
    ):
        if old is not None and new is not None and old != new:
            yield Notice(
                "node_changed",
                Weight.VOID,
                f"{_called(after)} had {what} {old} before the run and has {new} after it",
                "the figures mix two different nodes",
                "repeat the run while the node is left alone",
                node=after.node,
            )
    if before.common_hash is not None and after.common_hash != before.common_hash:
        now = "is gone" if after.common_hash is None else f"is now {_short(after.common_hash)}"
        yield Notice(
            "reorg",
            Weight.VOID,
            f"{_called(after)} replaced its history: block {before.common_height:,} {_short(before.common_hash)} {now}",
            "the same request no longer means the same data",
            "repeat the run; if it happens again, find out why the node reorganises so deep",
            node=after.node,
        )
    if after.head < before.head:
        yield Notice(
            "head_went_back",
            Weight.WARNING,
            f"the head of {_called(after)} went back from {before.head:,} to {after.head:,}",
            "the node was restarted, reset or reorganised, and its caches with it",
            "look into its log and repeat the run",
            node=after.node,
        )


def drifts(before: Sequence[NodeFacts], after: Sequence[NodeFacts], max_lag: int) -> Iterator[Notice]:
    """Where the heads are after the run: moved apart, or not moved at all. `after` may lack nodes of `before`."""
    earlier = {fact.node: fact for fact in before}
    leader = max(after, key=lambda fact: fact.head)
    any_moved = any(fact.head != earlier[fact.node].head for fact in after)
    for fact in after:
        if leader.head - fact.head > max_lag:
            yield _heads_apart(fact, leader, max_lag)
        elapsed_s = (fact.asked_unix_ns - earlier[fact.node].asked_unix_ns) / 1e9
        if fact.head == earlier[fact.node].head and elapsed_s >= STILL_S:
            yield _head_still(fact, elapsed_s, any_moved)


def _heads_apart(fact: NodeFacts, leader: NodeFacts, max_lag: int) -> Notice:
    return Notice(
        "heads_apart",
        Weight.VOID,
        f"{_called(fact)} is {_blocks(leader.head - fact.head)} behind {_called(leader)} after the run, "
        f"{fact.head:,} against {leader.head:,}",
        f"nodes more than {max_lag} apart were not to be compared: they had different work beside ours",
        "see whether the node falls behind under this load, or allow more with --max-lag",
        node=fact.node,
    )


def _head_still(fact: NodeFacts, elapsed_s: float, others_moved: bool) -> Notice:
    return Notice(
        "head_still",
        Weight.WARNING if others_moved else Weight.INFO,
        f"the head of {_called(fact)} stayed at {fact.head:,} for {_duration(elapsed_s)}"
        + (" while others moved" if others_moved else ""),
        "a node that takes in no blocks has more time for requests than one that does",
        "expect other figures from a node that follows the chain",
        node=fact.node,
    )


def gone(node: str, trouble: Trouble) -> Notice:
    """A node that could not be asked again after the run."""
    dead = "the node did not survive the run, or nobody can reach it any more"
    unknown = "whether its head moved apart or its history changed is not known"
    return Notice(
        "gone",
        Weight.VOID if trouble.unreached else Weight.WARNING,
        f"after the run {str(trouble).removesuffix('.')}",
        dead if trouble.unreached else unknown,
        "look into its log and repeat the run",
        node=node,
    )


def _same_family(one: NodeFacts, other: NodeFacts) -> bool:
    return spec_family(one.spec_version or "") == spec_family(other.spec_version or "")


def _called(fact: NodeFacts) -> str:
    return called(fact.node, fact.place)


def _short(block_hash: str | None) -> str:
    return f"{(block_hash or '?')[:10]}…"


def _blocks(count: int) -> str:
    return "1 block" if count == 1 else f"{count:,} blocks"


def _duration(seconds: float) -> str:
    for unit, length_s in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length_s:
            return f"{seconds / length_s:.0f} {unit}"
    return f"{seconds:.0f} s"
