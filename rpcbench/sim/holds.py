"""Holding replies until they are due, to within microseconds, and the queue in front of a bounded set of workers.

All times are nanoseconds of the monotonic clock.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Callable
from time import monotonic_ns

from rpcbench.engine.pacing import make_timer

_LATENESS_KEPT = 4096


class Holds:
    """Callbacks to be made at their deadlines, never before."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self._count = 0
        self._late_ns: deque[int] = deque(maxlen=_LATENESS_KEPT)
        self._timer = make_timer(loop, self._fire)

    def until(self, deadline_ns: int, callback: Callable[[], None]) -> None:
        """Call back at `deadline_ns`."""
        self._count += 1
        heapq.heappush(self._due, (deadline_ns, self._count, callback))
        if self._due[0][1] == self._count:
            self._timer.arm(deadline_ns)

    def lateness_us(self) -> dict[str, float]:
        """By how much the last few thousand callbacks came after their deadlines; empty when there were none."""
        late = sorted(self._late_ns)
        at = {"p50": len(late) // 2, "p99": len(late) * 99 // 100, "max": len(late) - 1}
        return {name: late[i] / 1e3 for name, i in at.items()} if late else {}

    def close(self) -> None:
        """Drop what is still held."""
        self._due.clear()
        self._timer.close()

    def _fire(self) -> None:
        due = self._due
        while due and due[0][0] <= (now_ns := monotonic_ns()):
            deadline_ns, _, callback = heapq.heappop(due)
            self._late_ns.append(now_ns - deadline_ns)
            callback()
        if due:
            self._timer.arm(due[0][0])


class Workers:
    """A first-come-first-served queue in front of a number of workers, kept as the times they become free."""

    def __init__(self, count: int) -> None:
        self._free_at_ns = [0] * count

    def done_at(self, arrival_ns: int, service_ns: int) -> int:
        """When a request that arrives now and takes `service_ns` is finished."""
        done_ns = max(arrival_ns, self._free_at_ns[0]) + service_ns
        heapq.heapreplace(self._free_at_ns, done_ns)
        return done_ns
