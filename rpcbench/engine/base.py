"""What every engine promises. Nothing here sends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from rpcbench.model.samples import Samples
from rpcbench.model.workload import Workload


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a trial stands. Rates and quantiles are over the last moments, for eyes only."""

    elapsed_s: float
    sent: int
    done: int
    failed: int
    rate_per_s: float
    p50_ms: float
    p99_ms: float


OnProgress = Callable[[Progress], None]


class Engine(Protocol):
    """Sends a workload, byte for byte as planned, and records one row per request."""

    name: str

    def run(self, workload: Workload, on_progress: OnProgress) -> Samples:
        """Send `workload` and return every row; a failed request is a row, never an exception.

        Raises EngineError when the generator itself failed, KeyboardInterrupt when the person did.
        """

    def close(self) -> None:
        """Stop the worker processes; safe to call twice."""
