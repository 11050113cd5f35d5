"""A whole run as the analysis sees it: what was asked, and every trial that was finished."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rpcbench.model.facts import HeadReading, NodeFacts
from rpcbench.model.finding import Tally
from rpcbench.model.ruler import Ruler
from rpcbench.model.samples import Samples
from rpcbench.model.scenario import Scenario
from rpcbench.model.workload import Trial


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """A finished trial. `planned` is the number of requests the plan held for it, None when time decides."""

    trial: Trial
    samples: Samples
    planned: int | None


@dataclass(frozen=True, slots=True)
class Run:
    """`nodes` are names, the first is the base. `call_spec` int32[calls] maps a call id to its CallSpec's index.

    `before` and `after` are the surveys around the run; `after` is empty when the run was interrupted.
    `ruler` is the generator's calibration as it was known when the run began. `heads` were read while it lasted.
    `agreement` tells how a sample of the calls was answered before it; None where nobody was asked.
    """

    scenario: Scenario
    nodes: tuple[str, ...]
    call_spec: NDArray[np.int32]
    trials: tuple[TrialRecord, ...]
    before: tuple[NodeFacts, ...]
    after: tuple[NodeFacts, ...]
    interrupted: bool
    simulated: bool
    ruler: Ruler | None = None
    heads: tuple[HeadReading, ...] = ()
    agreement: Tally | None = None


@dataclass(frozen=True, slots=True)
class RunInfo:
    """Where and when a run was made. Everything here is fit to print: `command` and `host` hold no secrets."""

    id: str
    directory: str
    started_utc: str
    tool_version: str
    host: str
    command: str
    labels: dict[str, str]
