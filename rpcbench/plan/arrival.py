"""When open-loop requests fall due. Pure and seeded."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rpcbench.model.scenario import Arrival, Open


def due_times_ns(load: Open, count: int, seed: int) -> NDArray[np.int64]:
    """`count` ascending instants int64 from the trial's start, at `load.rate_per_s` on average.

    A Poisson process given its count is `count` sorted uniform instants over the span it covers (order-statistics
    property); so the number of requests is exactly the planned one and their spacing is still exponential.
    """
    span_ns = count / load.rate_per_s * 1e9
    if load.arrival is Arrival.CONSTANT:
        return (np.arange(count) * (1e9 / load.rate_per_s)).astype(np.int64)
    rng = np.random.default_rng(seed)
    return np.sort(rng.uniform(0.0, span_ns, count)).astype(np.int64)
