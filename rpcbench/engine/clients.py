"""The closed loop: each client sends its next request when its last one is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import monotonic_ns

from rpcbench.engine.traffic import NEVER_NS, Lane, Traffic

_FIRST_PAUSE_S = 0.010
_LONGEST_PAUSE_S = 0.5


class ClosedLoop:
    """Clients that walk one order together, from a shared cursor.

    With a duration, sending stops when it is over and the order begins again when it runs out; without one, exactly
    the order is sent. A client that reached nobody pauses, longer each time, so a dead node is not hammered.
    """

    def __init__(self, traffic: Traffic, order: Sequence[int], clients: int, duration_ns: int | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._order = order
        self._length = len(order)
        self._again = duration_ns is not None
        self._duration_ns = duration_ns
        self._end_ns = 0
        self._cursor = 0
        self._clients = clients if self._again else min(clients, len(order))
        self._lanes = [traffic.new_lane(self) for _ in range(self._clients)] if len(order) else []
        self.started = 0
        self.finished: asyncio.Future[None] = self._loop.create_future()
        if not self._lanes:
            self.finished.set_result(None)

    def begin(self, origin_ns: int) -> None:
        """The clock starts: every client sends its first request."""
        self._end_ns = NEVER_NS if self._duration_ns is None else origin_ns + self._duration_ns
        for lane in self._lanes:
            self._next(lane)

    def ready(self, lane: Lane) -> None:
        """The client is free: it sends again, or pauses when nobody answers."""
        if lane.failures:
            self._pause(lane)
        else:
            self._next(lane)

    def idle_lost(self, lane: Lane) -> None:
        """Nothing to do: the client opens another connection when it sends again."""

    def expire(self, now_ns: int) -> int:
        """No request waits outside a lane, so none runs out of time there."""
        return NEVER_NS

    def close(self) -> None:
        """Nothing is left running."""

    def _next(self, lane: Lane) -> None:
        now_ns = monotonic_ns()
        cursor = self._cursor
        if cursor == self._length and self._again:
            cursor = 0
        if now_ns >= self._end_ns or cursor == self._length:
            self._retire()
            return
        self._cursor = cursor + 1
        self.started += 1
        lane.start(self._order[cursor], now_ns, now_ns)

    def _pause(self, lane: Lane) -> None:
        pause_s = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** min(10, lane.failures - 1))
        if monotonic_ns() + pause_s * 1e9 >= self._end_ns:
            self._retire()
        else:
            self._loop.call_later(pause_s, self._next, lane)

    def _retire(self) -> None:
        self._clients -= 1
        if not self._clients:
            self.finished.set_result(None)
