"""A calibration's figures, from the generator's rows and the stamps of the server that it was measured against; and
what they say of a run.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rpcbench.analysis.quantiles import Floats, quantile
from rpcbench.model.ruler import Ceiling, Floor, Pace, Ruler, Stamps
from rpcbench.model.samples import Rows, Samples


def ceiling(trials: Sequence[Samples]) -> Ceiling:
    """The best of several closed-loop trials: other work on the machine can only lower what is reached."""
    best = max(trials, key=_rate_per_s)
    requests = len(best.rows)
    return Ceiling(
        reply_bytes=int(np.median(best.rows["bytes_in"])),
        rate_per_s=_rate_per_s(best),
        cpu_us_per_request=best.cpu_ns / requests / 1e3,
        cpu_share=best.cpu_ns / best.wall_ns,
    )


def floor(samples: Samples, stamps: Stamps) -> Floor:
    """What is measured of a server that takes next to no time, asked for one thing at a time."""
    rows = _stamped(samples, stamps)
    return Floor(*_p50_p99_us(_service_ns(rows)), *_p50_p99_us(_server_ns(rows, stamps)))


def pace(rate_per_s: int, samples: Samples, stamps: Stamps) -> Pace:
    """Send lag and error of one open-loop trial; NaN at p99 where the trial was too short for it."""
    rows = _stamped(samples, stamps)
    lag_ns = rows["sent_ns"] - rows["due_ns"]
    return Pace(rate_per_s, *_p50_p99_us(lag_ns), *_p50_p99_us(_service_ns(rows) - _server_ns(rows, stamps)))


def ceiling_share(ruler: Ruler, trials: Sequence[Samples]) -> float:
    """The rate of `trials` as a share of what the generator can do with replies as large as theirs; 0 without any."""
    requests = sum(len(t.rows) for t in trials)
    wall_s = sum(t.wall_ns for t in trials) / 1e9
    if not requests or not wall_s:
        return 0.0
    received_bytes = sum(int(t.rows["bytes_in"].sum(dtype=np.int64)) for t in trials)
    return requests / wall_s / ruler.ceiling_per_s(received_bytes / requests)


def _stamped(samples: Samples, stamps: Stamps) -> Rows:
    """The rows that were answered and that the server noted."""
    rows = samples.rows[samples.answered]
    known: Rows = rows[(rows["call"] >= 0) & (rows["call"] < len(stamps.arrived_ns))]
    stamped: Rows = known[stamps.arrived_ns[known["call"]] > 0]
    return stamped


def _service_ns(rows: Rows) -> NDArray[np.int64]:
    service: NDArray[np.int64] = rows["done_ns"] - rows["sent_ns"]
    return service


def _server_ns(rows: Rows, stamps: Stamps) -> NDArray[np.int64]:
    """How long the server had each request, by its own clock."""
    calls = rows["call"]
    server: NDArray[np.int64] = stamps.departed_ns[calls] - stamps.arrived_ns[calls]
    return server


def _p50_p99_us(values_ns: NDArray[np.int64]) -> tuple[float, float]:
    values_us: Floats = values_ns / 1e3
    return quantile(values_us, 0.50), quantile(values_us, 0.99)


def _rate_per_s(samples: Samples) -> float:
    return len(samples.rows) / samples.wall_ns * 1e9 if samples.wall_ns else 0.0
