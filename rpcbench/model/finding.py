"""What came of asking several nodes the same question: do they agree, and where do they not?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """Only `different` speaks against a node."""

    EQUAL = "equal"
    DIFFERENT = "different"
    ENVIRONMENT = "environment"  # the nodes are set up differently, so one of them cannot know the answer
    INCONCLUSIVE = "inconclusive"  # nothing can be said either way


class Cause(StrEnum):
    """Why a question ended in `environment` or `inconclusive`."""

    UNSERVED = "method not served"
    HISTORY = "history missing"
    SPEC = "other spec version"
    NODE_OWN = "about the node itself"
    WRITES = "writes are not sent"
    MOVED = "head moved"
    PAGES = "more pages than were read"
    BOTH_ERROR = "both error"
    TIMED_OUT = "timed out"
    NO_ANSWER = "no answer"
    UNREADABLE = "reply cannot be read"


@dataclass(frozen=True, slots=True)
class Tally:
    """How a sample of calls came out: so many `asked`, so many of them `compared`, so many `equal`."""

    asked: int
    compared: int
    equal: int


@dataclass(frozen=True, slots=True)
class Deviation:
    """One place in which the answer of node `other` parts from that of `base`; values are JSON, cut to be read."""

    path: str
    base: str
    other: str
    base_value: str
    other_value: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One call put to all nodes. Everything here is fit to print.

    `params` is what was asked, at a fixed block. `groups` holds the nodes whose answers are equal, the largest group
    first, and among equals the one that holds the earlier node. `apart` names nodes with nothing to compare, and what
    they said. `deviations` compare the first node of each further group with the first of the first; `more` tells
    that there are others. `curls` has a shell command for each node of a difference.
    """

    call: int
    spec: int
    method: str
    params: str
    outcome: Outcome
    cause: Cause | None = None
    groups: tuple[tuple[str, ...], ...] = ()
    apart: tuple[tuple[str, str], ...] = ()
    deviations: tuple[Deviation, ...] = ()
    more: bool = False
    curls: tuple[tuple[str, str], ...] = ()

    @property
    def majority(self) -> tuple[str, ...]:
        """The nodes of the largest group, none where two groups are equally large."""
        largest, *others = self.groups or ((),)
        return largest if not others or len(largest) > len(others[0]) else ()
