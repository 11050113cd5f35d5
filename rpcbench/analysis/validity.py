"""The validity gate: every reason not to believe a run, looked for after the run. A new check is one entry below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rpcbench.analysis import likeness_checks, load_checks, reply_checks
from rpcbench.analysis.equal_work import unequal_work
from rpcbench.analysis.measured import Evidence
from rpcbench.model.verdict import Notice, Weight

Check = Callable[[Evidence], Iterable[Notice]]

CHECKS: tuple[Check, ...] = (
    load_checks.not_delivered,
    load_checks.send_lag,
    load_checks.generator_busy,
    load_checks.near_ceiling,
    load_checks.rounds_missing,
    reply_checks.rate_limited,
    reply_checks.unanswered,
    reply_checks.constant_replies,
    reply_checks.reverts,
    reply_checks.timeouts,
    reply_checks.network_errors,
    reply_checks.too_few_samples,
    likeness_checks.sizes_differ,
    likeness_checks.empty_replies,
    likeness_checks.errors_differ,
    unequal_work,
)


def gate(evidence: Evidence, noticed: Sequence[Notice] = ()) -> tuple[Notice, ...]:
    """All notices about a run: what the checks find in its rows, then those that were `noticed` around it."""
    notices = [*(notice for check in CHECKS for notice in check(evidence)), *noticed]
    if (nothing := _nothing_left(evidence, notices)) is not None:
        notices.append(nothing)
    return tuple(notices)


def _nothing_left(evidence: Evidence, notices: Sequence[Notice]) -> Notice | None:
    """The run is void when every call of a single node is; with more nodes its comparisons say so themselves."""
    voided = {n.call for n in notices if n.weight is Weight.VOID}
    if len(evidence.measured.run.nodes) > 1 or None in voided or not voided.issuperset(evidence.measured.calls):
        return None
    return Notice(
        kind="nothing_measured",
        weight=Weight.VOID,
        saw="every call of this run is void",
        why="no figure of it says how fast the node is",
        advice="see what voids each call",
    )
