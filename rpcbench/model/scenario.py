"""A scenario: which calls, in which proportion, under which load, for how long."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Chain(StrEnum):
    """The two protocols rpcbench speaks."""

    STARKNET = "starknet"
    ETHEREUM = "ethereum"


class Arrival(StrEnum):
    """How open-loop requests are spread over time."""

    POISSON = "poisson"
    CONSTANT = "constant"


@dataclass(frozen=True, slots=True)
class Closed:
    """Closed loop: each of `concurrency` clients sends its next request when the last one is answered."""

    concurrency: int = 8


@dataclass(frozen=True, slots=True)
class Open:
    """Open loop: requests fall due at `rate_per_s` in total, whether or not earlier ones were answered."""

    rate_per_s: float
    arrival: Arrival = Arrival.POISSON
    max_in_flight: int = 512


Load = Closed | Open


@dataclass(frozen=True, slots=True)
class CallSpec:
    """One kind of call. `params` may hold generators (see `rpcbench.plan.parameters`).

    `label` is unique within a scenario; it stands in every table, by default the method without its prefix. A request
    holds `batch` of these calls, as a JSON-RPC batch where that is more than one.
    """

    method: str
    params: Any
    weight: float
    label: str
    batch: int = 1


@dataclass(frozen=True, slots=True)
class Scenario:
    """Everything a run needs to know but the nodes. Durations are nanoseconds.

    A trial lasts `duration_ns`, or exactly `requests` requests when that is given.
    `text` is the file as it was read, kept with the results.
    """

    name: str
    about: str
    chain: Chain
    calls: tuple[CallSpec, ...]
    load: Load = field(default_factory=Closed)
    rounds: int = 10
    duration_ns: int = 3_000_000_000
    requests: int | None = None
    warmup_ns: int = 1_000_000_000
    timeout_ns: int = 10_000_000_000
    seed: int = 1
    thresholds: tuple[str, ...] = ()
    text: str = field(default="", repr=False)
