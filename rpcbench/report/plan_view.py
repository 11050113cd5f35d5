"""The plan in one line, before anything is sent: what a run will do, how much, and for how long."""

from __future__ import annotations

from rpcbench.model.scenario import Scenario
from rpcbench.report.asked import asked
from rpcbench.report.numbers import clock, significant, size


def plan_header(
    scenario: Scenario,
    nodes: int,
    *,
    requests: int | None = None,
    bytes_in: float | None = None,
    total_s: float | None = None,
) -> str:
    """`asked` with what is to be expected of it, as far as that is known."""
    expected = [
        f"{significant(requests, 2)} requests" if requests else "",
        size(bytes_in) if bytes_in else "",
        clock(total_s) if total_s else "",
    ]
    known = ", ".join(part for part in expected if part)
    return f"{asked(scenario, nodes)} · about {known}" if known else asked(scenario, nodes)
