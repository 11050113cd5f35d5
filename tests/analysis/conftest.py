"""Runs made by hand, so that every figure about them is known by construction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from rpcbench.model.run import Run, TrialRecord
from rpcbench.model.samples import SAMPLE, Rows, Samples, Status
from rpcbench.model.scenario import CallSpec, Chain, Closed, Load, Scenario
from rpcbench.model.workload import Phase, Trial

IDS_PER_CALL = 10_000  # call k of the scenario has the ids from k * IDS_PER_CALL on
WALL_NS = 1_000_000_000


class Build:
    """What the tests make their runs with."""

    @staticmethod
    def rows(
        latency_ms: Sequence[float],
        *,
        call: int = 0,
        ids: Sequence[int] | None = None,
        status: Status = Status.OK,
        code: int = 0,
        due_ms: Sequence[float] | float = 0.0,
        lag_ms: Sequence[float] | float = 0.0,
        digest: Sequence[int] | int | None = None,
        bytes_in: int = 100,
    ) -> Rows:
        """One row per latency. Unless told otherwise each is another call of the spec, with a result of its own."""
        rows = np.zeros(len(latency_ms), dtype=SAMPLE)
        rows["call"] = (np.arange(len(rows)) if ids is None else np.asarray(ids)) + call * IDS_PER_CALL
        rows["due_ns"] = np.round(np.asarray(due_ms) * 1e6) + 1
        rows["done_ns"] = rows["due_ns"] + np.round(np.asarray(latency_ms) * 1e6).astype(np.int64)
        rows["sent_ns"] = rows["due_ns"] + np.round(np.asarray(lag_ms) * 1e6).astype(np.int64)
        rows["first_ns"] = np.where(status <= Status.BAD_REPLY, rows["done_ns"], 0)
        rows["digest"] = rows["call"].astype(np.uint64) + 1 if digest is None else digest
        rows["status"], rows["code"], rows["bytes_in"] = status, code, bytes_in
        return rows

    @staticmethod
    def run(
        trials: Mapping[tuple[int, str], Rows],
        *,
        calls: Sequence[str] = ("getBlock",),
        load: Load | None = None,
        nodes: Sequence[str] = ("juno", "pathfinder"),
        rounds: int | None = None,
        planned: int | None = None,
        interrupted: bool = False,
    ) -> Run:
        """A run of `trials`, by round and node; round 0 is the warm-up. Every trial takes a second."""
        specs = tuple(CallSpec(f"starknet_{label}", {}, 1.0, label) for label in calls)
        asked = max((r for r, _ in trials), default=0) if rounds is None else rounds
        records = []
        for index, ((number, node), rows) in enumerate(trials.items()):
            trial = Trial(index, number, nodes.index(node), Phase.MEASURE if number else Phase.WARMUP)
            samples = Samples(rows, index * WALL_NS, WALL_NS, 0, 1, 0)
            records.append(TrialRecord(trial, samples, planned))
        return Run(
            scenario=Scenario("test", "", Chain.STARKNET, specs, load or Closed(), rounds=asked),
            nodes=tuple(nodes),
            call_spec=np.repeat(np.arange(len(calls), dtype=np.int32), IDS_PER_CALL),
            trials=tuple(records),
            before=(),
            after=(),
            interrupted=interrupted,
            simulated=False,
        )

    def alike(self, rounds: int = 10, *, nodes: Sequence[str] = ("juno", "pathfinder"), count: int = 500) -> Run:
        """A healthy run: every node answers `count` requests a round, all as fast as each other."""
        latencies = np.linspace(1.0, 3.0, count)
        return self.run({(r, node): self.rows(latencies) for r in range(1, rounds + 1) for node in nodes}, nodes=nodes)

    def paced(self, medians: Mapping[str, Sequence[float]], *, count: int = 9) -> Run:
        """Every round has exactly the median that is asked for, from `count` latencies around it."""
        spread = np.linspace(0.5, 1.5, count)
        return self.run(
            {
                (number, node): self.rows(spread * median)
                for node, of_node in medians.items()
                for number, median in enumerate(of_node, start=1)
            },
            nodes=tuple(medians),
        )

    @staticmethod
    def with_load(run: Run, load: Load, planned: int) -> Run:
        """The same rows, as if they had been asked for in another way."""
        return replace(
            run,
            scenario=replace(run.scenario, load=load),
            trials=tuple(replace(t, planned=planned) for t in run.trials),
        )


@pytest.fixture
def build() -> Build:
    return Build()
