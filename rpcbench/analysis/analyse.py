"""A run to all that can be said about it."""

from __future__ import annotations

from collections.abc import Sequence

from rpcbench.analysis.comparison import compare
from rpcbench.analysis.drift_checks import rounds_drifting
from rpcbench.analysis.measured import Evidence, measure
from rpcbench.analysis.noise_floor import noise_floors
from rpcbench.analysis.summaries import summarise
from rpcbench.analysis.thresholds import Findings, judge_thresholds
from rpcbench.analysis.validity import gate
from rpcbench.model.run import Run
from rpcbench.model.threshold import Threshold
from rpcbench.model.verdict import Analysis, Notice


def analyse(
    run: Run,
    *,
    noise: float = 0.01,
    level: float = 0.95,
    noticed: Sequence[Notice] = (),
    thresholds: Sequence[Threshold] = (),
) -> Analysis:
    """Summaries, notices and comparisons of the measured trials of `run`; warm-up enters nowhere.

    `noise` is the relative difference that counts as none, `level` the confidence of every interval, `noticed` what
    the surveys around the run found, `thresholds` what is to be judged: the run's own, read by its conductor.
    """
    measured = measure(run)
    summaries = summarise(measured, level)
    notices = gate(Evidence(measured, summaries), noticed)
    comparisons = compare(measured, notices, noise=noise, level=level)
    drifting = rounds_drifting(measured, notices, comparisons)
    return Analysis(
        summaries=tuple(summaries.values()),
        comparisons=comparisons,
        notices=(*notices, *drifting),
        thresholds=judge_thresholds(thresholds, Findings(measured, summaries, notices, comparisons, noise, level)),
        noise_floors=noise_floors(measured, level),
    )
