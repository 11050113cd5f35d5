"""The noise floor of a run: what the method finds between a node and itself.

A run holds such a comparison without being asked for it. With the order reversed each round, a node that ends one
round begins the next: two trials of the same node, as near in time as the two trials of a pair. Each node's rounds are
split into such neighbours, and the medians of one half compared with those of the other exactly as two nodes are. The
halves take turns in coming first, so that a steady drift falls on both alike.

Neighbours are different rounds and so different calls, which the two trials of a pair are not. The floor therefore
errs on the large side.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

import numpy as np

from rpcbench.analysis.decision import as_ratio, pair
from rpcbench.analysis.measured import Measured
from rpcbench.analysis.quantiles import quantile
from rpcbench.model.run import TrialRecord
from rpcbench.model.verdict import NoiseFloor

# With fewer the interval says more of Student's law than of the run.
PAIRS_NEEDED = 3

Rounds = tuple[int, int]


def noise_floors(measured: Measured, level: float) -> tuple[NoiseFloor, ...]:
    """One floor per call that has enough neighbouring rounds, all nodes taken together."""
    neighbours = {node: _neighbours(measured.trials(node)) for node in measured.run.nodes}
    floors = []
    for call in measured.calls:
        pairs = [two for node in neighbours for two in _medians(measured, node, call, neighbours[node])]
        if len(pairs) >= PAIRS_NEEDED:
            in_turns = [two[::way] for two, way in zip(pairs, cycle((1, -1)), strict=False)]
            one, other = np.array(in_turns).T
            floors.append(NoiseFloor(call, as_ratio(pair(one, other, level).effect)))
    return tuple(floors)


def _neighbours(trials: Sequence[TrialRecord]) -> list[Rounds]:
    """A node's rounds two by two, split where neighbours are nearest to each other in the order of trials."""
    trials = sorted(trials, key=lambda t: t.trial.index)
    ways = [list(zip(trials[begin::2], trials[begin + 1 :: 2], strict=False)) for begin in (0, 1)]
    nearest = min((way for way in ways if way), key=_mean_distance, default=[])
    return [(one.trial.round, other.trial.round) for one, other in nearest]


def _mean_distance(pairs: Sequence[tuple[TrialRecord, TrialRecord]]) -> float:
    return sum(other.trial.index - one.trial.index for one, other in pairs) / len(pairs)


def _medians(measured: Measured, node: str, call: str, neighbours: Sequence[Rounds]) -> list[tuple[float, float]]:
    of_round = {cell.round: quantile(cell.latency_ms, 0.50) for cell in measured.cells[node, call]}
    medians = [(of_round[one], of_round[other]) for one, other in neighbours]
    return [(one, other) for one, other in medians if one > 0 and other > 0]
