"""run.json: what was asked, where, of whom, and what became of it. Versioned; holds no secret."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict

from rpcbench.model.facts import HeadReading, NodeFacts
from rpcbench.model.finding import Tally
from rpcbench.model.ruler import Ruler
from rpcbench.model.scenario import Scenario
from rpcbench.model.verdict import Notice
from rpcbench.model.workload import Phase


class RunStatus(StrEnum):
    """A manifest that still says `running` after its process is gone belongs to a run that was killed."""

    RUNNING = "running"
    DONE = "done"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="constants")


class NodeEntry(_Entry):
    """A node without its secrets: where it is in public words, and only the names of its headers."""

    name: str
    place: str
    header_names: list[str]
    tags: list[str]


class TrialEntry(_Entry):
    """One finished trial and the file that holds its rows."""

    index: int
    round: int
    node: str
    phase: Phase
    file: str
    requests: int
    planned: int | None
    started_unix_ns: int
    wall_s: float
    cpu_s: float
    rate_per_s: float
    errors: dict[str, int]
    connects: int
    reconnects: int


class Tool(_Entry):
    """What made the run."""

    version: str
    engine: str
    python: str


class Host(_Entry):
    """The machine that generated the load."""

    system: str
    cpus: int
    memory_mb: int | None


class Manifest(_Entry):
    """The record's table of contents. Times are UTC; durations inside `scenario` are nanoseconds.

    `ruler` is null where the generator had not been calibrated on this machine, `agreement` where there was but one
    node; what it counts is in findings.jsonl.
    """

    version: Literal[1] = 1
    id: str
    status: RunStatus
    reason: str = ""
    started_utc: str
    finished_utc: str | None = None
    command: str
    labels: dict[str, str]
    noise: float
    simulated: bool
    tool: Tool
    host: Host
    scenario: Scenario
    head: int
    fingerprint: str
    nodes: list[NodeEntry]
    before: list[NodeFacts]
    after: list[NodeFacts]
    trials: list[TrialEntry]
    notices: list[Notice]
    ruler: Ruler | None = None
    heads: list[HeadReading] = []
    agreement: Tally | None = None
