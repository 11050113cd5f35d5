"""The figures of the live view."""

import math

import numpy as np

from rpcbench.engine.progress import ProgressMeter
from rpcbench.model.samples import SAMPLE, Status, no_rows


def rows(done_ms: list[float], latency_ms: list[float], status: Status = Status.OK) -> np.ndarray:
    table = np.zeros(len(done_ms), dtype=SAMPLE)
    table["done_ns"] = np.array(done_ms) * 1e6
    table["due_ns"] = table["done_ns"] - (np.array(latency_ms) * 1e6).astype(np.int64)
    table["status"] = status
    return table


def test_nothing_yet():
    progress = ProgressMeter().read(10_000_000, started=3)
    assert (progress.sent, progress.done, progress.failed, progress.rate_per_s) == (3, 0, 0, 0)
    assert math.isnan(progress.p50_ms)


def test_the_last_second_counts():
    meter = ProgressMeter()
    meter.add(rows([100, 200], [50, 50]))
    meter.add(rows([2500, 2600, 2700], [1, 2, 3]))
    meter.add(no_rows())
    progress = meter.read(3_000_000_000, started=9)
    assert (progress.sent, progress.done, progress.rate_per_s) == (9, 5, 3)
    assert progress.p50_ms == 2
    assert 2.9 < progress.p99_ms <= 3
    assert progress.elapsed_s == 3


def test_failures_are_counted_and_enter_no_quantile():
    meter = ProgressMeter()
    meter.add(rows([10, 20], [5, 5]))
    meter.add(rows([30], [900], Status.TIMEOUT))
    meter.add(rows([40], [5], Status.REVERTED))
    progress = meter.read(100_000_000, started=4)
    assert (progress.done, progress.failed) == (4, 1)
    assert progress.p99_ms == 5
    assert progress.rate_per_s == 40
