"""What a load balancer could make of the answer: the best node for each call."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from rpcbench.analysis.comparison import PRIMARY
from rpcbench.model.verdict import Analysis, Comparison, Verdict


@dataclass(frozen=True, slots=True)
class Route:
    """Send `call` to `node`."""

    call: str
    node: str


def routes(analysis: Analysis) -> tuple[Route, ...]:
    """The node that is shown to be the fastest at the median, for every call that has one; none of an invalid run.

    The others were each compared with the base, so of two that are faster one is best only if their intervals part.
    """
    if not analysis.valid:
        return ()
    primary = sorted((c for c in analysis.comparisons if c.metric == PRIMARY), key=lambda c: c.call)
    best = {call: _best(list(comparisons)) for call, comparisons in groupby(primary, key=lambda c: c.call)}
    in_order = dict.fromkeys(c.call for c in analysis.comparisons)
    return tuple(Route(call, node) for call in in_order if (node := best.get(call)))


def _best(comparisons: list[Comparison]) -> str | None:
    if all(c.verdict is Verdict.SLOWER for c in comparisons):
        return comparisons[0].base
    for c in comparisons:
        rivals = [o.ratio for o in comparisons if o is not c]
        if c.verdict is Verdict.FASTER and c.ratio and all(r and c.ratio.high < r.low for r in rivals):
            return c.other
    return None
