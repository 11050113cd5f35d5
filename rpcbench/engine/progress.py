"""What a person sees while a trial runs: counts, and the rate and quantiles of the last second."""

from __future__ import annotations

from collections import deque

import numpy as np

from rpcbench.engine.base import Progress
from rpcbench.model.samples import Rows, Status

_WINDOW_NS = 1_000_000_000


class ProgressMeter:
    """Fed with rows as they come."""

    def __init__(self) -> None:
        self._recent: deque[Rows] = deque()
        self._done = 0
        self._failed = 0

    def add(self, rows: Rows) -> None:
        """Take new rows, times from the trial's start."""
        if not len(rows):
            return
        self._done += len(rows)
        self._failed += int(np.count_nonzero(rows["status"] > Status.REVERTED))
        self._recent.append(rows)

    def read(self, elapsed_ns: int, started: int) -> Progress:
        """The state `elapsed_ns` after the trial's start; NaN quantiles where nothing was answered lately."""
        since_ns = elapsed_ns - _WINDOW_NS
        while self._recent and self._recent[0]["done_ns"][-1] < since_ns:
            self._recent.popleft()
        rows = np.concatenate(self._recent) if self._recent else np.empty(0, dtype=[("done_ns", "<i8")])
        rows = rows[rows["done_ns"] >= since_ns]
        p50_ms = p99_ms = float("nan")
        if len(rows):
            answered = rows[rows["status"] <= Status.REVERTED]
            if len(answered):
                p50_ms, p99_ms = np.quantile(answered["done_ns"] - answered["due_ns"], (0.5, 0.99)) / 1e6
        return Progress(
            elapsed_s=elapsed_ns / 1e9,
            sent=started,
            done=self._done,
            failed=self._failed,
            rate_per_s=len(rows) / min(1.0, max(elapsed_ns, 1) / 1e9),
            p50_ms=float(p50_ms),
            p99_ms=float(p99_ms),
        )
