"""The measured rows of a run, sorted by node, call and round. Warm-up trials end here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpcbench.model.run import Run, TrialRecord
from rpcbench.model.samples import Rows, Status, no_rows
from rpcbench.model.verdict import Summary
from rpcbench.model.workload import Phase


@dataclass(frozen=True, slots=True)
class Cell:
    """One call on one node in one round. `wall_s` is the whole trial's, whatever else was sent in it."""

    round: int
    wall_s: float
    rows: Rows

    @property
    def latency_ms(self) -> NDArray[np.float64]:
        """done − due of the rows that hold a real answer."""
        return self._since("due_ns")

    @property
    def service_ms(self) -> NDArray[np.float64]:
        """done − sent of the rows that hold a real answer."""
        return self._since("sent_ns")

    def _since(self, start: str) -> NDArray[np.float64]:
        answered = self.rows["status"] <= Status.REVERTED
        elapsed_ns: NDArray[np.int64] = self.rows["done_ns"][answered] - self.rows[start][answered]
        return elapsed_ns / 1e6


@dataclass(frozen=True, slots=True)
class Measured:
    """The run without its warm-up. `cells` are by node and call, in the order in which they ran."""

    run: Run
    cells: Mapping[tuple[str, str], tuple[Cell, ...]]

    @property
    def calls(self) -> tuple[str, ...]:
        """Labels in the scenario's order."""
        return tuple(spec.label for spec in self.run.scenario.calls)

    def column(self, node: str, call: str, name: str) -> NDArray[Any]:
        """One field of every row of a call on a node, over all rounds."""
        return np.concatenate([no_rows()[name], *(cell.rows[name] for cell in self.cells[node, call])])

    def trials(self, node: str) -> tuple[TrialRecord, ...]:
        """The node's measured trials."""
        return tuple(t for t in measured_trials(self.run) if self.run.nodes[t.trial.node] == node)

    def rounds(self, node: str) -> frozenset[int]:
        """The rounds that the node finished."""
        return frozenset(t.trial.round for t in self.trials(node))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a check may look at: every row, and the summaries by node and call."""

    measured: Measured
    summaries: Mapping[tuple[str, str], Summary]

    def each(self) -> Iterator[Summary]:
        """Every summary, call by call."""
        return iter(self.summaries.values())


def measured_trials(run: Run) -> tuple[TrialRecord, ...]:
    """The trials that count."""
    return tuple(t for t in run.trials if t.trial.phase is Phase.MEASURE)


def measure(run: Run) -> Measured:
    """Sort the measured rows of `run` by node, call and round."""
    cells: dict[tuple[str, str], list[Cell]] = {
        (node, spec.label): [] for node in run.nodes for spec in run.scenario.calls
    }
    for record in measured_trials(run):
        rows, wall_s = record.samples.rows, record.samples.wall_ns / 1e9
        spec_of_row = run.call_spec[rows["call"]]
        for index, spec in enumerate(run.scenario.calls):
            mine = rows if len(run.scenario.calls) == 1 else rows[spec_of_row == index]
            cells[run.nodes[record.trial.node], spec.label].append(Cell(record.trial.round, wall_s, mine))
    return Measured(run, {key: tuple(found) for key, found in cells.items()})
