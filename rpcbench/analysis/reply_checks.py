"""Doubts about the replies: did both nodes do the same work, and did anyone do any?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpcbench.analysis.measured import Evidence
from rpcbench.analysis.quantiles import SHOWN, samples_needed
from rpcbench.analysis.words import counted, listed, percent
from rpcbench.model.samples import Status
from rpcbench.model.verdict import Notice, Summary, Weight

# Equal work: a node that fails more than this share is compared on other requests than its peer. Two nodes that both
# answer this much are also within a percentage point of each other.
ANSWERED_AT_LEAST = 0.99
REVERTS_APART_AT_MOST = 0.01
# This many different calls with one and the same result are no coincidence.
CONSTANT_CALLS = 20
_SILENT = (Status.TIMEOUT.label, Status.NETWORK.label)


def unanswered(evidence: Evidence) -> Iterator[Notice]:
    """A call that a node never, or not reliably, answers."""
    compared = len(evidence.measured.run.nodes) > 1
    for s in evidence.each():
        if not s.requests or s.answered / s.requests >= ANSWERED_AT_LEAST:
            continue
        yield Notice(
            kind="unanswered",
            weight=Weight.VOID if compared or not s.answered else Weight.WARNING,
            saw=_failures(s),
            why="a failed request is often the fastest reply; what is left is not the same work on every node",
            advice="check that the node serves this method with these parameters and has the blocks that are asked for",
            node=s.node,
            call=s.call,
        )


def rate_limited(evidence: Evidence) -> Iterator[Notice]:
    """A limiter stands before the node: the whole run, not one call, measured the limiter."""
    for node in evidence.measured.run.nodes:
        mine = [s for s in evidence.each() if s.node == node]
        refused: dict[str, int] = {}
        for s in mine:
            for name, count in s.errors.items():
                if name.startswith(Status.RATE_LIMITED.label):
                    refused[name] = refused.get(name, 0) + count
        if not refused:
            continue
        total, requests = sum(refused.values()), sum(s.requests for s in mine)
        yield Notice(
            kind="rate_limited",
            weight=Weight.VOID,
            saw=f"{node} refused {total:,} of {counted(requests, 'request')} with {listed(sorted(refused))}",
            why="what a limiter lets through says how it is set, not how fast the node is",
            advice="lower the rate or the concurrency below the limit, or use an endpoint without one",
            node=node,
        )


def timeouts(evidence: Evidence) -> Iterator[Notice]:
    """Requests without a reply in time. Whether they void the call is for `unanswered` to say."""
    timeout_s = evidence.measured.run.scenario.timeout_ns / 1e9
    for s in evidence.each():
        count = _failed_as(s, Status.TIMEOUT)
        if count:
            yield Notice(
                kind="timeouts",
                weight=Weight.WARNING,
                saw=f"{s.node} left {count:,} of {counted(s.requests, f'{s.call} request')} without a reply "
                f"for {timeout_s:g} s",
                why="the slowest requests of all are missing from its latencies, which look the better for it",
                advice="lower the load, or raise --timeout to see how long they take",
                node=s.node,
                call=s.call,
            )


def network_errors(evidence: Evidence) -> Iterator[Notice]:
    """Requests whose connection was refused or broke. Whether they void the call is for `unanswered` to say."""
    for s in evidence.each():
        count = _failed_as(s, Status.NETWORK)
        if count:
            yield Notice(
                kind="network_errors",
                weight=Weight.WARNING,
                saw=f"{count:,} of {counted(s.requests, f'{s.call} request')} to {s.node} ended with the connection "
                "refused or broken",
                why="the node, or something before it, went away or sheds load: its other figures are from such a time",
                advice="look into the node's log for a restart or a connection limit, and measure again",
                node=s.node,
                call=s.call,
            )


def reverts(evidence: Evidence) -> Iterator[Notice]:
    """Replies that say that the contract refused: answers, counted as such, but not to be overlooked."""
    measured = evidence.measured
    for call in measured.calls:
        shares = {}
        for node in measured.run.nodes:
            status = measured.column(node, call, "status")
            answered = np.count_nonzero(status <= Status.REVERTED)
            shares[node] = np.count_nonzero(status == Status.REVERTED) / answered if answered else 0.0
        base, *others = measured.run.nodes
        for node in others:
            if abs(shares[node] - shares[base]) > REVERTS_APART_AT_MOST:
                yield Notice(
                    kind="reverts_differ",
                    weight=Weight.VOID,
                    saw=f"{percent(shares[node])} of {node}'s answers to {call} are reverts, "
                    f"{percent(shares[base])} of {base}'s",
                    why="an execution that reverts stops early, so that the nodes did not do the same work",
                    advice="check that both nodes are on the same chain and at the same block",
                    node=node,
                    call=call,
                )
        if any(shares.values()):
            yield Notice(
                kind="reverts",
                weight=Weight.INFO,
                saw=f"answers to {call} that are reverts: "
                + listed([f"{node} {percent(share)}" for node, share in shares.items()]),
                why="a revert is a valid answer and counts as one, but takes less work than a call that goes through",
                advice="use parameters that the contract accepts, unless reverts are part of your traffic",
                call=call,
            )


def constant_replies(evidence: Evidence) -> Iterator[Notice]:
    """Many different calls, one result: the parameters made no difference."""
    for call in evidence.measured.calls:
        results = {node: _results(evidence, node, call) for node in evidence.measured.run.nodes}
        constant = [n for n, r in results.items() if len(r.calls) >= CONSTANT_CALLS and r.distinct == 1]
        # One result everywhere can be the truth, such as no events on a quiet chain; on some nodes only it cannot.
        legitimate = constant and all(r.of(results[constant[0]].calls).distinct == 1 for r in results.values())
        for who, node in [(constant, None)] if legitimate else [([n], n) for n in constant]:
            calls = max(len(results[n].calls) for n in who)
            yield Notice(
                kind="constant_reply",
                weight=Weight.WARNING if legitimate else Weight.VOID,
                saw=f"{listed(who)} gave one constant reply to {calls:,} different {call} requests",
                why="the node ignores the parameters or a cache answers: the work that was asked for was not done",
                advice="check the parameters against the specification, and that the chain holds what they ask for",
                node=node,
                call=call,
            )


def too_few_samples(evidence: Evidence) -> Iterator[Notice]:
    """Percentiles that are left blank because too few requests were answered."""
    for call in evidence.measured.calls:
        fewest = min((s for s in evidence.each() if s.call == call), key=lambda s: s.answered)
        if fewest.requests and not fewest.answered:
            continue  # `unanswered` has said so
        missing = [
            f"{name} needs {samples_needed(q)}" for name, q in SHOWN.items() if samples_needed(q) > fewest.answered
        ]
        if missing:
            yield Notice(
                kind="too_few_samples",
                weight=Weight.INFO,
                saw=f"{fewest.node} answered {counted(fewest.answered, f'{call} request')}: {listed(missing)}",
                why="a percentile of too few samples is little more than their largest",
                advice="lengthen the run, or give the call more weight",
                call=call,
            )


def _failed_as(s: Summary, status: Status) -> int:
    """How many requests failed in this class, whatever their codes."""
    return sum(count for name, count in s.errors.items() if name.partition("[")[0] == status.label)


def _failures(s: Summary) -> str:
    """`pathfinder answered 100 % of getEvents with rpc_error[-32602]`, the three most frequent classes."""
    shares = [
        (percent(count / s.requests), f"not at all ({name})" if name.partition("[")[0] in _SILENT else f"with {name}")
        for name, count in list(s.errors.items())[:3]
    ]
    (share, how), *rest = shares
    return f"{s.node} answered {listed([f'{share} of {s.call} {how}', *[f'{a} {b}' for a, b in rest]])}"


@dataclass(frozen=True, slots=True)
class _Results:
    """Which calls were answered with a result, and with which."""

    call: NDArray[np.int32]
    digest: NDArray[np.uint64]

    @property
    def calls(self) -> NDArray[np.int32]:
        return np.unique(self.call)

    @property
    def distinct(self) -> int:
        return len(np.unique(self.digest))

    def of(self, calls: NDArray[np.int32]) -> _Results:
        mine = np.isin(self.call, calls)
        return _Results(self.call[mine], self.digest[mine])


def _results(evidence: Evidence, node: str, call: str) -> _Results:
    ok = evidence.measured.column(node, call, "status") == Status.OK
    column = evidence.measured.column
    return _Results(column(node, call, "call")[ok], column(node, call, "digest")[ok])
