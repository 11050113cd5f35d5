"""Where the heads are while a run lasts: one quiet question per node, over connections of its own, between trials.

Between trials it takes nothing from a node or from the generator while requests are timed, and trials are short beside
the time in which heads drift apart. A run of one long trial is seen at its ends only.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from types import TracebackType

from rpcbench.model.facts import HeadReading, NodeFacts
from rpcbench.model.node import Node
from rpcbench.model.route import DIRECT, Route
from rpcbench.model.scenario import Chain
from rpcbench.model.verdict import Notice, Weight
from rpcbench.survey.asker import Asker, open_client
from rpcbench.survey.interview import Interview, ask_each
from rpcbench.survey.trouble import Kind

EVERY_S = 1.0
# A node that does not say where it is keeps nobody waiting for long, and is not asked for ever.
_TIMEOUT_S = 2.0
_PATIENCE = 3


class HeadWatch:
    """Reads all heads at the same moment, at most every `every_s`. With one node there is nothing to compare."""

    def __init__(self, nodes: Sequence[Node], chain: Chain, *, route: Route = DIRECT, every_s: float = EVERY_S) -> None:
        self._chain = chain
        self._every_s = every_s
        self._looked_s = -every_s
        self._runner = asyncio.Runner()
        self._client = open_client(route)
        watched = nodes if len(nodes) > 1 else ()
        self._askers = [Asker(self._client, node, _TIMEOUT_S) for node in watched]
        self._silent = {node.name: 0 for node in watched}

    def __enter__(self) -> HeadWatch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()

    def look(self) -> HeadReading | None:
        """The heads now; None where it is too soon to look again."""
        now_s = time.monotonic()
        if not self._askers or now_s - self._looked_s < self._every_s:
            return None
        self._looked_s = now_s
        return self._runner.run(self._look())

    async def _look(self) -> HeadReading:
        asked_unix_ns = time.time_ns()
        interviews = [
            Interview(asker, chain=self._chain) for asker in self._askers if self._silent[asker.node.name] < _PATIENCE
        ]
        await ask_each(interviews, Interview.ask_head)
        heads, away = {}, []
        for interview in interviews:
            name = interview.asker.node.name
            if interview.head is not None:
                heads[name] = interview.head.number
            elif interview.trouble is not None and interview.trouble.kind is Kind.SILENT:
                away.append(name)
            self._silent[name] = self._silent[name] + 1 if interview.trouble else 0
        return HeadReading(asked_unix_ns, heads, tuple(away))


def judge_heads(readings: Sequence[HeadReading], after: Iterable[NodeFacts], max_lag: int) -> list[Notice]:
    """What the readings of a run speak against: heads that were too far apart, and nodes that were away for a while.

    `after` is the survey after the run; a node that is missing there is `gone`, and need not be told twice.
    """
    back = {fact.node for fact in after}
    return [*_apart(readings, max_lag), *_away(readings, back)]


def _apart(readings: Sequence[HeadReading], max_lag: int) -> list[Notice]:
    wide = [reading for reading in readings if reading.apart > max_lag]
    if not wide:
        return []
    worst = max(wide, key=lambda reading: reading.apart)
    behind, ahead = min(worst.heads, key=worst.heads.__getitem__), max(worst.heads, key=worst.heads.__getitem__)
    # A single reading can fall between two nodes' imports of a burst of blocks; two are a state.
    return [
        Notice(
            kind="heads_apart_during",
            weight=Weight.VOID if len(wide) > 1 else Weight.WARNING,
            saw=f"{behind} was up to {worst.apart:,} blocks behind {ahead} during the run, and more than {max_lag} in "
            f"{len(wide)} of {len(readings)} looks",
            why="a node that takes in blocks at another pace has other work beside ours",
            advice="see whether the node falls behind under this load, or allow more with --max-lag",
            node=behind,
        )
    ]


def _away(readings: Sequence[HeadReading], back: set[str]) -> list[Notice]:
    names = sorted({name for reading in readings for name in reading.away if name in back})
    return [
        Notice(
            kind="away_during",
            weight=Weight.VOID,
            saw=f"{name} could not be reached in {sum(name in reading.away for reading in readings)} of "
            f"{len(readings)} looks between trials, and is back",
            why="it was restarted or overrun: its figures mix a cold node with a warm one, or leave out its worst time",
            advice="look into its log and repeat the run",
            node=name,
        )
        for name in names
    ]
