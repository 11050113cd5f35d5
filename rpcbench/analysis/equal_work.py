"""Which requests two nodes may be compared on: calls that both answered in the same way.

A call that one node answered with data and the other with a revert, or not at all, is other work on each; its latencies
are left out on both sides. A call that only one of them was asked, because the other did not come that far within a
closed loop's time, says nothing against either and stays: both walk through the same calls in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpcbench.analysis.measured import Cell, Evidence, Measured
from rpcbench.analysis.reply_checks import ANSWERED_AT_LEAST
from rpcbench.analysis.words import percent
from rpcbench.model.samples import Status
from rpcbench.model.verdict import Notice, Weight

# What is left out beside this share is a handful of failures.
FEW_LEFT_OUT = 0.01

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class EqualWork:
    """Call ids whose results, and whose reverts, count for two nodes: bool[calls] each."""

    results: Flags
    reverts: Flags

    def counts(self, cell: Cell) -> Flags:
        """Which of the cell's answered rows count, in their order."""
        status, call = cell.rows["status"], cell.rows["call"]
        answered = status <= Status.REVERTED
        counts: Flags = np.where(status == Status.OK, self.results[call], self.reverts[call])[answered]
        return counts


def equal_work(measured: Measured, call: str, base: str, other: str) -> EqualWork:
    """What `base` and `other` both answered of `call`, over the whole run."""
    calls = len(measured.run.call_spec)
    ids = {node: measured.column(node, call, "call") for node in (base, other)}
    status = {node: measured.column(node, call, "status") for node in (base, other)}
    alone = ~(_among(ids[base], calls) & _among(ids[other], calls))

    def both(kind: Status) -> Flags:
        one, two = (_among(ids[node][status[node] == kind], calls) for node in (base, other))
        return (one & two) | alone

    return EqualWork(both(Status.OK), both(Status.REVERTED))


def unequal_work(evidence: Evidence) -> Iterator[Notice]:
    """What the comparison of two nodes leaves out. Where failures void the call, `unanswered` has said so."""
    measured, (base, *others) = evidence.measured, evidence.measured.run.nodes
    for call in measured.calls:
        for other in others:
            if any(_unreliable(evidence, node, call) for node in (base, other)):
                continue
            work = equal_work(measured, call, base, other)
            counts = [work.counts(cell) for node in (base, other) for cell in measured.cells[node, call]]
            answered = sum(len(some) for some in counts)
            left_out = answered - sum(int(np.count_nonzero(some)) for some in counts)
            if not left_out:
                continue
            share = left_out / answered
            yield Notice(
                kind="unequal_work",
                weight=Weight.WARNING if share > FEW_LEFT_OUT else Weight.INFO,
                saw=f"{percent(share)} of the answers to {call} by {base} and {other}, {left_out:,} of {answered:,}, "
                "are to calls that the other failed or answered in another way, and are not compared",
                why="only work that both did can be timed against each other",
                advice="ask for what both nodes answer alike: see which of these calls fail or revert on one of them",
                node=other,
                call=call,
            )


def _among(ids: NDArray[np.int32], calls: int) -> Flags:
    found = np.zeros(calls, dtype=np.bool_)
    found[ids] = True
    return found


def _unreliable(evidence: Evidence, node: str, call: str) -> bool:
    summary = evidence.summaries[node, call]
    return not summary.requests or summary.answered / summary.requests < ANSWERED_AT_LEAST
