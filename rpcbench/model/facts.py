"""What a node says of itself when it is asked quietly, before and after a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HeadReading:
    """The nodes' heads at one moment of a run, by name. `away` names those that could not even be reached."""

    asked_unix_ns: int
    heads: dict[str, int]
    away: tuple[str, ...] = ()

    @property
    def apart(self) -> int:
        """How many blocks lie between the highest and the lowest head."""
        return max(self.heads.values()) - min(self.heads.values()) if self.heads else 0


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """One node at one moment. `None` means that the node did not say.

    `place` is where it was asked (redacted). `common_hash` is the hash of block `common_height`, a block below
    every node's head. `clock_skew_s` is wall clock minus the timestamp of the latest block.
    `round_trip_ms` is the median of the quiet questions.
    """

    node: str
    place: str
    chain_id: str | None
    spec_version: str | None
    client_version: str | None
    head: int
    head_hash: str | None
    common_height: int | None
    common_hash: str | None
    syncing: bool | None
    clock_skew_s: float | None
    round_trip_ms: float
    asked_unix_ns: int
