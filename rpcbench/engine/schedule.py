"""The open loop: requests fall due at planned times, whether or not earlier ones were answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic_ns

from rpcbench.engine.pacing import Timer, make_timer
from rpcbench.engine.traffic import NEVER_NS, Lane, Traffic

_LANES_AT_FIRST = 16  # more are opened when they are needed

MakeTimer = Callable[[asyncio.AbstractEventLoop, Callable[[], None]], Timer]


class OpenLoop:
    """Sends each request when it is due, never before; all that is due goes out in one tick.

    What finds `in_flight` requests on their way waits its turn, and the wait is inside its latency. One that is still
    waiting when its timeout (counted from when it fell due) is over ends as a timeout without having been sent: every
    planned request has its row, and a silent node cannot make a trial endless.
    """

    def __init__(
        self,
        traffic: Traffic,
        order: Sequence[int],
        due_ns: Sequence[int],
        in_flight: int,
        timer: MakeTimer = make_timer,
    ) -> None:
        loop = asyncio.get_running_loop()
        self._traffic = traffic
        self._order = order
        self._due_ns = due_ns  # from the trial's start
        self._origin_ns = 0
        self._in_flight = in_flight
        self._idle = [traffic.new_lane(self) for _ in range(min(in_flight, _LANES_AT_FIRST, len(order)))]
        self._timer = timer(loop, self._tick)
        self._blocked = False  # something is due and no lane is free; the timer is not armed then
        self._ended = 0
        self.started = 0  # also the index of the next request
        self.finished: asyncio.Future[None] = loop.create_future()
        if not len(order):
            self.finished.set_result(None)

    def begin(self, origin_ns: int) -> None:
        """The clock starts."""
        self._origin_ns = origin_ns
        self._idle.sort(key=lambda lane: lane.connected)  # taken from the end
        self._tick()

    def ready(self, lane: Lane) -> None:
        """A lane came free: what waits goes first."""
        self._idle.append(lane)
        self._ended += 1
        if self._blocked:
            self._tick()
        elif self._ended == len(self._order):
            self.finished.set_result(None)

    def idle_lost(self, lane: Lane) -> None:
        """Lanes that are still connected are taken before this one."""
        self._idle.remove(lane)
        self._idle.insert(0, lane)

    def expire(self, now_ns: int) -> int:
        """End what has waited too long for a lane; when to ask again."""
        if not self._blocked:
            return NEVER_NS
        too_late_ns = now_ns - self._origin_ns - self._traffic.timeout_ns
        while self.started < len(self._order) and self._due_ns[self.started] <= too_late_ns:
            position, due_ns = self._order[self.started], self._due_ns[self.started]
            self._traffic.give_up(position, self._origin_ns + due_ns, now_ns)
            self.started += 1
            self._ended += 1
        self._tick()
        if not self._blocked:
            return NEVER_NS
        return self._origin_ns + self._due_ns[self.started] + self._traffic.timeout_ns

    def close(self) -> None:
        """Stop the timer."""
        self._timer.close()

    def _tick(self) -> None:
        """Send all that is due, in order."""
        self._blocked = False
        while self.started < len(self._order):
            due_ns = self._origin_ns + self._due_ns[self.started]
            now_ns = monotonic_ns()
            if now_ns < due_ns:
                self._timer.arm(due_ns)
                return
            lane = self._free_lane()
            if lane is None:
                self._blocked = True
                return
            position = self._order[self.started]
            self.started += 1
            lane.start(position, due_ns, now_ns)
        if self._ended == len(self._order) and not self.finished.done():
            self.finished.set_result(None)

    def _free_lane(self) -> Lane | None:
        if self._idle:
            return self._idle.pop()
        return self._traffic.new_lane(self) if len(self._traffic.lanes) < self._in_flight else None
