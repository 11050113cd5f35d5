"""Everything as pandas tables: what requests.csv, summary.csv, compare.csv and timeline.csv hold.

Write them with `float_format=FLOAT_FORMAT, index=False`; a cell is empty where nothing was sent, received or computed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rpcbench.analysis.comparison import PRIMARY
from rpcbench.analysis.quantiles import SHOWN, quantile
from rpcbench.model.run import Run, TrialRecord
from rpcbench.model.samples import Status, no_rows
from rpcbench.model.verdict import Analysis, Estimate, Quantiles
from rpcbench.model.workload import Phase

if TYPE_CHECKING:
    import pandas as pd

FLOAT_FORMAT = "%.6f"  # a millionth of a millisecond is the nanosecond that was measured
_SECOND_NS = 1_000_000_000


def requests_table(run: Run) -> pd.DataFrame:
    """One line per request, warm-up included and marked; times are milliseconds since the trial's start."""
    import pandas as pd

    rows = np.concatenate([no_rows(), *(t.samples.rows for t in run.trials)])
    lengths = [len(t.samples.rows) for t in run.trials]
    spec = run.call_spec[rows["call"]]
    sent, received = rows["sent_ns"] > 0, rows["first_ns"] > 0
    columns: dict[str, Any] = {
        "node": _named(run.nodes, _of_trial([t.trial.node for t in run.trials], lengths)),
        "call": _named([c.label for c in run.scenario.calls], spec),
        "method": _methods(run, spec),
        "round": _of_trial([t.trial.round for t in run.trials], lengths),
        "phase": _named(list(Phase), _of_trial([list(Phase).index(t.trial.phase) for t in run.trials], lengths)),
        "status": _named([s.label for s in Status], rows["status"]),
        "code": rows["code"].copy(),  # a view would keep every row alive
        "due_ms": rows["due_ns"] / 1e6,
        "sent_ms": _ms(rows["sent_ns"], sent),
        "first_ms": _ms(rows["first_ns"], received),
        "done_ms": rows["done_ns"] / 1e6,
        "latency_ms": (rows["done_ns"] - rows["due_ns"]) / 1e6,
        "service_ms": _ms(rows["done_ns"] - rows["sent_ns"], sent),
        "send_lag_ms": _ms(rows["sent_ns"] - rows["due_ns"], sent),
        "connect_ms": rows["connect_ns"] / 1e6,
        "bytes_in": rows["bytes_in"].copy(),
        "digest": _hex(rows["digest"]),
        "reconnect": rows["reconnect"].copy(),
    }
    return pd.DataFrame(columns, copy=False)


def summary_table(analysis: Analysis) -> pd.DataFrame:
    """One line per call and node; `errors` counts failed requests, `errors_by_class` says which.

    `low` and `high` bound the interval of a percentile of latency; a bound that the run cannot give is `inf`.
    """
    import pandas as pd

    quantile_names = [f.name for f in fields(Quantiles)]
    names = ["node", "call", "requests", "answered", "errors", "errors_by_class", "rate_per_s", "bytes_in"]
    names += [f"{clock}_{name}_ms" for clock in ("latency", "service") for name in quantile_names]
    names += [f"latency_{name}_{bound}_ms" for name in SHOWN for bound in ("low", "high")]
    lines = [
        (
            *(s.node, s.call, s.requests, s.answered, sum(s.errors.values())),
            "; ".join(f"{name} {count}" for name, count in s.errors.items()),
            *(s.rate_per_s, s.bytes_in),
            *(getattr(clock, name) for clock in (s.latency_ms, s.service_ms) for name in quantile_names),
            *(bound for name in SHOWN for bound in _bounds(s.latency_intervals_ms.get(name))[1:]),
        )
        for s in analysis.summaries
    ]
    return pd.DataFrame(lines, columns=names)


def compare_table(analysis: Analysis) -> pd.DataFrame:
    """One line per call, pair of nodes and metric. `errors` has a difference in share instead of a ratio.

    `noise_floor` is that of the call's p50, which is what it is taken from.
    """
    import pandas as pd

    names = ["metric", "call", "base", "other", "ratio", "low", "high"]
    names += [f"difference_{bound}{unit}" for unit in ("ms", "share") for bound in ("", "low_", "high_")]
    names += ["verdict", "detectable", "more_rounds", "noise_floor", "reason"]
    floors = {floor.call: floor.share for floor in analysis.noise_floors}
    lines = [
        (
            *(c.metric, c.call, c.base, c.other),
            *(*_bounds(c.ratio), *_bounds(c.difference_ms), *_bounds(c.difference_share)),
            *(c.verdict.value, c.detectable, c.more_rounds),
            *(floors.get(c.call, math.nan) if c.metric == PRIMARY else math.nan, c.reason),
        )
        for c in analysis.comparisons
    ]
    return pd.DataFrame(lines, columns=names).astype({"detectable": float, "more_rounds": "Int64"})


def timeline_table(run: Run) -> pd.DataFrame:
    """One line per second and trial on the run's common time axis, seconds without a reply included.

    A request belongs to the second in which it was done. `rate` is answered requests per second over the part of the
    second that the trial covers; quantiles are of latency.
    """
    import pandas as pd

    names = ["node", "round", "phase", "second", "requests", "failed", "rate", "p50_ms", "p99_ms"]
    first_ns = min((t.samples.started_unix_ns for t in run.trials), default=0)
    lines = [line for t in run.trials for line in _seconds(t, run.nodes[t.trial.node], first_ns)]
    return pd.DataFrame(lines, columns=names)


def _seconds(trial: TrialRecord, node: str, first_ns: int) -> Iterator[tuple[str | int | float, ...]]:
    samples = trial.samples
    start_ns = samples.started_unix_ns - first_ns
    end_ns = start_ns + samples.wall_ns
    done_ns = samples.rows["done_ns"] + start_ns
    by_time = np.argsort(done_ns, kind="stable")
    latency_ms, answered = samples.latency_ns[by_time] / 1e6, samples.answered[by_time]
    first, last = start_ns // _SECOND_NS, max(start_ns, end_ns - 1) // _SECOND_NS
    # The last row is done when the trial ends, and belongs to its last second even where that is a whole one.
    edges = np.searchsorted(done_ns[by_time], np.arange(first + 1, last + 1) * _SECOND_NS)
    slices = np.split(np.arange(len(done_ns)), edges)
    for second, rows in zip(range(first, last + 1), slices, strict=True):
        good = latency_ms[rows][answered[rows]]
        covered_ns = min(end_ns, (second + 1) * _SECOND_NS) - max(start_ns, second * _SECOND_NS)
        rate = len(good) / covered_ns * 1e9 if covered_ns else math.nan
        counts = (len(rows), len(rows) - len(good))
        phase, number = trial.trial.phase.value, trial.trial.round
        yield (node, number, phase, second, *counts, rate, quantile(good, 0.50), quantile(good, 0.99))


def _of_trial(values: Sequence[int], lengths: Sequence[int]) -> NDArray[np.int32]:
    return np.repeat(np.array(values, dtype=np.int32), lengths)


def _named(names: Sequence[str], codes: NDArray[Any]) -> pd.Categorical[str]:
    import pandas as pd

    return pd.Categorical.from_codes(codes.astype(np.int32), categories=pd.Index(list(names), dtype=str))


def _methods(run: Run, spec: NDArray[np.int32]) -> pd.Categorical[str]:
    """Several calls may share a method, a category may not be named twice."""
    of_spec = [c.method for c in run.scenario.calls]
    methods = sorted(set(of_spec))
    return _named(methods, np.array([methods.index(m) for m in of_spec], dtype=np.int32)[spec])


def _ms(nanoseconds: NDArray[np.int64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    milliseconds: NDArray[np.float64] = np.where(known, nanoseconds / 1e6, np.nan)
    return milliseconds


def _hex(digests: NDArray[np.uint64]) -> pd.Categorical[str]:
    """Sixteen hex digits, empty for 0: replies repeat, so that most digests are stored once."""
    distinct, codes = np.unique(digests, return_inverse=True)
    if len(distinct) and distinct[0] == 0:
        distinct, codes = distinct[1:], codes - 1  # a code of -1 is an empty cell
    digits = distinct.astype(">u8").tobytes().hex()
    return _named([digits[i : i + 16] for i in range(0, len(digits), 16)], codes)


def _bounds(estimate: Estimate | None) -> tuple[float, float, float]:
    return (math.nan,) * 3 if estimate is None else (estimate.value, estimate.low, estimate.high)
