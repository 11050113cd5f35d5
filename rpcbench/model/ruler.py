"""The ruler: what the load generator itself can do and adds on this machine, measured against a server's own clock."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# An open loop should stay below this share of the ceiling: queueing in the generator grows steeply above it.
SAFE_SHARE_OF_CEILING = 0.7
# The rate at which the error is quoted.
REFERENCE_RATE_PER_S = 1_000


@dataclass(frozen=True, slots=True)
class Stamps:
    """When each request came to a server and left it, by call id, in ns of the monotonic clock; 0: it never came.

    All processes of a host share that clock. `unix_offset_ns` leads from it to the wall's. `served` counts all
    requests, those included whose ids are beyond the arrays.
    """

    arrived_ns: NDArray[np.int64]
    departed_ns: NDArray[np.int64]
    served: int
    unix_offset_ns: int


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most that was reached with replies of one size. `cpu_share` is the generator's part of a core meanwhile:
    well below 1, something else was the limit and the generator could do more."""

    reply_bytes: int
    rate_per_s: float
    cpu_us_per_request: float
    cpu_share: float


@dataclass(frozen=True, slots=True)
class Floor:
    """The shortest service times this generator can measure, and the part of them that the server itself took."""

    service_p50_us: float
    service_p99_us: float
    server_p50_us: float
    server_p99_us: float


@dataclass(frozen=True, slots=True)
class Pace:
    """An open loop at one rate: how late requests left, and measured service time minus the server's own."""

    rate_per_s: int
    lag_p50_us: float
    lag_p99_us: float
    error_p50_us: float
    error_p99_us: float


@dataclass(frozen=True, slots=True)
class Ruler:
    """One calibration of one engine over plain HTTP. `paces` go up in rate and hold REFERENCE_RATE_PER_S."""

    measured_utc: str
    engine: str
    small: Ceiling
    large: Ceiling
    floor: Floor
    paces: tuple[Pace, ...]

    def __post_init__(self) -> None:
        """Raises ValueError for figures that no calibration can have; it may come from a file."""
        rates = [pace.rate_per_s for pace in self.paces]
        if not (0 < self.small.reply_bytes < self.large.reply_bytes and REFERENCE_RATE_PER_S in rates):
            raise ValueError("reply sizes or rates are missing")
        if not (self.small.rate_per_s > 0 and self.large.rate_per_s > 0):
            raise ValueError("a ceiling is not above zero")

    @property
    def reference(self) -> Pace:
        """The pace whose error is quoted beside results."""
        return next(pace for pace in self.paces if pace.rate_per_s == REFERENCE_RATE_PER_S)

    def ceiling_per_s(self, reply_bytes: float) -> float:
        """The ceiling for replies of this size: the time for one grows with its size, on a line through both."""
        small_s, large_s = 1 / self.small.rate_per_s, 1 / self.large.rate_per_s
        position = (reply_bytes - self.small.reply_bytes) / (self.large.reply_bytes - self.small.reply_bytes)
        return 1 / max(small_s, small_s + position * (large_s - small_s))
