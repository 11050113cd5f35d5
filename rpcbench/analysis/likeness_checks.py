"""Doubts about two nodes' replies to the same calls: are they as large, as full, and do they fail in the same way?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from rpcbench.analysis.measured import Evidence
from rpcbench.analysis.reply_checks import ANSWERED_AT_LEAST
from rpcbench.analysis.words import counted, listed, percent
from rpcbench.model.samples import Status, no_rows
from rpcbench.model.verdict import Notice, Summary, Weight
from rpcbench.protocol.empty import EMPTY_DIGESTS

# Order of keys changes no size. Indentation and padded hexadecimal numbers make a reply half as large again, seldom
# twice as large; ten times as much is another content. Bodies are counted as received, so compressed ones compressed.
SIZES_DIFFER = 2.0
SIZES_OF_ANOTHER_CONTENT = 10.0
# Smaller replies fit into a packet or two whatever is in them, and an envelope may be half of them.
SIZES_MATTER_BYTES = 1_000
# A node that is a moment behind has a few empty replies near its head.
EMPTY_AT_MOST = 0.01
# Counts of rare failures scatter by the root of their number: this many times that is no chance.
BEYOND_CHANCE = 4.0

_EMPTY = np.array(sorted(EMPTY_DIGESTS), dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class _Results:
    """What one node returned, a row per distinct call, in order of id."""

    calls: NDArray[np.int32]
    bytes_in: NDArray[np.float64]
    empty: NDArray[np.bool_]

    def of(self, positions: NDArray[np.intp]) -> _Results:
        return _Results(self.calls[positions], self.bytes_in[positions], self.empty[positions])


def sizes_differ(evidence: Evidence) -> Iterator[Notice]:
    """Replies of one node that are a multiple of the other's, call by call."""
    for call, base, other in _pairs(evidence):
        one, two = _both(evidence, call, base, other)
        full = ~(one.empty | two.empty)
        sizes = [float(np.median(r.bytes_in[full])) if full.any() else 0.0 for r in (one, two)]
        if max(sizes) < SIZES_MATTER_BYTES:
            continue
        ratio = float(np.median(two.bytes_in[full] / np.maximum(one.bytes_in[full], 1)))
        factor = max(ratio, 1 / ratio)
        if factor <= SIZES_DIFFER:
            continue
        larger, smaller = (other, base) if ratio > 1 else (base, other)
        void = factor > SIZES_OF_ANOTHER_CONTENT
        yield Notice(
            kind="sizes_differ",
            weight=Weight.VOID if void else Weight.WARNING,
            saw=f"{larger}'s replies to {call} are {factor:.1f} times as large as {smaller}'s to the same calls "
            f"({max(sizes):,.0f} bytes against {min(sizes):,.0f} at the median)",
            why="that is another content, and so other work"
            if void
            else "more is written and sent for the same answer, if it is the same",
            advice="see what they hold with `rpcbench verify`, and whether only one of them compresses or indents",
            node=other,
            call=call,
        )


def empty_replies(evidence: Evidence) -> Iterator[Notice]:
    """Results that hold nothing where the other node has data for the same call."""
    for call, base, other in _pairs(evidence):
        one, two = _both(evidence, call, base, other)
        for node, peer, mine, its in ((base, other, one, two), (other, base, two, one)):
            alone = int(np.count_nonzero(mine.empty & ~its.empty))
            if not alone or _unreliable(evidence.summaries[node, call]):
                continue
            share = alone / len(mine.calls)
            yield Notice(
                kind="empty_replies",
                weight=Weight.VOID if share > EMPTY_AT_MOST else Weight.WARNING,
                saw=f"{node} has nothing (null or empty) for {alone:,} of {counted(len(mine.calls), f'{call} call')}, "
                f"{percent(share)}, for which {peer} has data",
                why="finding nothing is less work than finding and sending it",
                advice="check that the node holds the history and the indexes that these calls need",
                node=node,
                call=call,
            )


def errors_differ(evidence: Evidence) -> Iterator[Notice]:
    """Nodes that both answer nearly everything, and fail the rest in other ways."""
    for call, base, other in _pairs(evidence):
        one, two = (evidence.summaries[node, call] for node in (base, other))
        if _unreliable(one) or _unreliable(two):
            continue
        beyond = []
        for name in sorted({*one.errors, *two.errors}):
            a, b = one.errors.get(name, 0), two.errors.get(name, 0)
            # Both counts as if the nodes had been sent equally many: a closed loop sends the faster one more.
            expected = b * one.requests / two.requests
            if abs(a - expected) > BEYOND_CHANCE * math.sqrt(a + expected):
                beyond.append(f"{name} {a:,} of {one.requests:,} against {b:,} of {two.requests:,}")
        if beyond:
            yield Notice(
                kind="errors_differ",
                weight=Weight.WARNING,
                saw=f"{base} and {other} fail {call} in different ways: {listed(beyond)}",
                why="what fails on one node only is left out there and not on the other",
                advice="look into the log of the node that fails, and at errors in summary.csv",
                node=other,
                call=call,
            )


def _unreliable(summary: Summary) -> bool:
    """Whether `unanswered` speaks of this already."""
    return not summary.requests or summary.answered / summary.requests < ANSWERED_AT_LEAST


def _pairs(evidence: Evidence) -> Iterator[tuple[str, str, str]]:
    base, *others = evidence.measured.run.nodes
    return ((call, base, other) for call, other in product(evidence.measured.calls, others))


def _both(evidence: Evidence, call: str, base: str, other: str) -> tuple[_Results, _Results]:
    """The results of the calls to which both nodes returned one, empty or not."""
    one, two = _results(evidence, base, call), _results(evidence, other, call)
    _, here, there = np.intersect1d(one.calls, two.calls, assume_unique=True, return_indices=True)
    return one.of(here), two.of(there)


def _results(evidence: Evidence, node: str, call: str) -> _Results:
    rows = np.concatenate([no_rows(), *(cell.rows for cell in evidence.measured.cells[node, call])])
    null = rows["status"] == Status.NULL_RESULT
    empty = null | np.isin(rows["digest"], _EMPTY)
    returned = np.flatnonzero(null | (rows["status"] == Status.OK))
    calls, first = np.unique(rows["call"][returned], return_index=True)
    return _Results(calls, rows["bytes_in"][returned[first]].astype(np.float64), empty[returned[first]])
