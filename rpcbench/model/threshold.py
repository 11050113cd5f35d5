"""A threshold: the limit that somebody set for a figure of a run, before the run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Unit(StrEnum):
    """What a limit and the figure that is held against it are counted in; a share is a fraction of 1."""

    MS = "ms"
    SHARE = "share"
    PER_S = "per_s"
    RATIO = "ratio"


@dataclass(frozen=True, slots=True)
class Threshold:
    """`metric` must stand in `relation` (<, <=, > or >=) to `limit`; `text` is how it was written.

    `call` and `node` None mean every call, and every node, each by itself. With `base` the metric on `node` is divided
    by the metric on `base`. One with `warn` is shown when it is missed, and does not fail the run.
    """

    text: str
    metric: str
    relation: str
    limit: float
    unit: Unit
    call: str | None = None
    node: str | None = None
    base: str | None = None
    warn: bool = False
