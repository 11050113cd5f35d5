"""Absolute figures: one call on one node over all measured rounds."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from rpcbench.analysis.measured import Cell, Measured
from rpcbench.analysis.percentile_intervals import percentile_intervals
from rpcbench.analysis.quantiles import Floats, quantiles
from rpcbench.model.samples import count_failures
from rpcbench.model.verdict import Summary


def summarise(measured: Measured, level: float) -> dict[tuple[str, str], Summary]:
    """A summary by node and call, in the scenario's order of calls; intervals are at `level`."""
    pairs = [(node, call) for call in measured.calls for node in measured.run.nodes]
    return {(node, call): _summary(node, call, measured.cells[node, call], level) for node, call in pairs}


def _summary(node: str, call: str, cells: tuple[Cell, ...], level: float) -> Summary:
    by_round = [cell.latency_ms for cell in cells]
    latency_ms = _together(by_round)
    wall_s = sum(cell.wall_s for cell in cells)
    return Summary(
        node=node,
        call=call,
        requests=sum(len(cell.rows) for cell in cells),
        answered=len(latency_ms),
        rate_per_s=len(latency_ms) / wall_s if wall_s else math.nan,
        latency_ms=quantiles(latency_ms),
        service_ms=quantiles(_together([cell.service_ms for cell in cells])),
        errors=count_errors(cells),
        bytes_in=sum(int(cell.rows["bytes_in"].sum(dtype=np.int64)) for cell in cells),
        latency_intervals_ms=percentile_intervals(by_round, level),
    )


def count_errors(cells: tuple[Cell, ...]) -> dict[str, int]:
    """Failed requests by class, the most frequent first; together with the answered ones they are all requests.

    A revert is an answer and so not among them; `rpcbench.analysis.reply_checks.reverts` makes it visible.
    """
    counted = sum((count_failures(cell.rows) for cell in cells), Counter[str]())
    return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


def _together(parts: list[Floats]) -> Floats:
    return np.concatenate([np.empty(0), *parts])
