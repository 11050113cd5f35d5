"""What the lanes of a trial share in every engine, and what lanes and the loops that drive them promise each other."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from struct import Struct
from typing import Protocol

from rpcbench.engine.ring import RingWriter
from rpcbench.model.samples import SAMPLE_FORMAT, Status
from rpcbench.model.workload import Workload

NEVER_NS = 2**63
MAX_BODY_BYTES = 256 * 2**20  # what goes on beyond counts as a bad reply
pack_row = Struct(SAMPLE_FORMAT).pack


class Lane(Protocol):
    """One place in flight: at most one request at a time, each of which ends in exactly one row."""

    busy: bool
    failures: int  # requests in a row that reached nobody
    reconnects: int
    due_ns: int
    sent_ns: int

    @property
    def connected(self) -> bool:
        """Whether the next request finds a connection."""

    def start(self, position: int, due_ns: int, now_ns: int) -> None:
        """Send the call at `position` now, opening a connection first where there is none."""

    def expire(self, now_ns: int) -> None:
        """The time for the request in flight is over."""

    async def open_ahead(self) -> None:
        """Open the connection before there is a request for it; that it fails is no matter here."""


class Driver(Protocol):
    """Decides what a lane sends next: the closed loop or the open one."""

    started: int
    finished: asyncio.Future[None]

    def begin(self, origin_ns: int) -> None:
        """Start the clock."""

    def ready(self, lane: Lane) -> None:
        """The lane's request has its row, and its connection is either usable or gone."""

    def idle_lost(self, lane: Lane) -> None:
        """A lane that waits for work lost its connection."""

    def expire(self, now_ns: int) -> int:
        """End requests that wait for a lane and are out of time; the next time to ask."""

    def close(self) -> None:
        """Stop whatever still runs."""


class Traffic(ABC):
    """The lanes of one trial. `ids` are by position in the workload's calls."""

    def __init__(self, ids: Sequence[int], timeout_ns: int, rows: RingWriter) -> None:
        self.ids = ids
        self.timeout_ns = timeout_ns
        self.rows = rows
        self.lanes: list[Lane] = []

    def new_lane(self, driver: Driver) -> Lane:
        """One more place in flight."""
        lane = self._make_lane(driver)
        self.lanes.append(lane)
        return lane

    @abstractmethod
    def _make_lane(self, driver: Driver) -> Lane:
        """A lane of the engine's own kind."""

    @property
    @abstractmethod
    def opened(self) -> int:
        """How many connections were opened so far."""

    @abstractmethod
    async def close(self) -> None:
        """Drop every connection and wait until they are gone."""

    def give_up(self, position: int, due_ns: int, now_ns: int) -> None:
        """The row of a request that ran out of time before it could be sent."""
        call = self.ids[position]
        self.rows.append(pack_row(due_ns, 0, 0, now_ns, 0, 0, call, 0, 0, Status.TIMEOUT, 0, 0))

    def expire(self, now_ns: int) -> int:
        """End every request in flight that is out of time; when the next one will be, if it stays unanswered."""
        earliest_ns = now_ns
        for lane in self.lanes:
            if lane.busy:
                began_ns = lane.sent_ns or lane.due_ns
                if began_ns + self.timeout_ns <= now_ns:
                    lane.expire(now_ns)
                else:
                    earliest_ns = min(earliest_ns, began_ns)
        return earliest_ns + self.timeout_ns


class Sender(Protocol):
    """One way of sending. It is pickled to the worker process, and makes the traffic of one trial after another."""

    @property
    def name(self) -> str:
        """Which engine this is, as it stands in a run's manifest."""

    def traffic(self, workload: Workload, rows: RingWriter) -> Traffic:
        """Everything `workload` needs, encoded and ready; called in the worker's running loop."""
