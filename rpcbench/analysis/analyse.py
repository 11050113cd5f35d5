"""A run to all that can be said about it."""

from __future__ import annotations

from collections.abc import Sequence

from rpcbench.analysis.comparison import compare
from rpcbench.analysis.measured import Evidence, measure
from rpcbench.analysis.summaries import summarise
from rpcbench.analysis.validity import gate
from rpcbench.model.run import Run
from rpcbench.model.verdict import Analysis, Notice


def analyse(run: Run, *, noise: float = 0.01, level: float = 0.95, noticed: Sequence[Notice] = ()) -> Analysis:
    """Summaries, notices and comparisons of the measured trials of `run`; warm-up enters nowhere.

    `noise` is the relative difference that counts as none, `level` the confidence of every interval, `noticed` what
    the surveys around the run found.
    """
    measured = measure(run)
    summaries = summarise(measured)
    notices = gate(Evidence(measured, summaries), noticed)
    return Analysis(
        summaries=tuple(summaries.values()),
        comparisons=compare(measured, notices, noise=noise, level=level),
        notices=notices,
    )
