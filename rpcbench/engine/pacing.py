"""Waking up at an absolute time, as exactly as the platform allows.

Linux has timerfd: nanosecond deadlines on the monotonic clock, seen by the event loop as a readable file. Elsewhere
the loop's own timers serve; they have millisecond steps, may fire up to one early, and the send lag in the rows says
what that cost. Whoever is woken checks the clock and arms again, so nothing is ever sent early.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
from collections.abc import Callable
from time import CLOCK_MONOTONIC, monotonic_ns
from typing import Protocol

_TFD_NONBLOCK = os.O_NONBLOCK
_TFD_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_TFD_TIMER_ABSTIME = 1
_SECOND_NS = 1_000_000_000


class Timer(Protocol):
    """Calls back once at (or a little around) the time it was last armed for."""

    def arm(self, at_ns: int) -> None:
        """Fire at `at_ns` on the monotonic clock, at once if that has passed."""

    def close(self) -> None:
        """Never fire again."""


def make_timer(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> Timer:
    """The most exact timer there is here."""
    return LinuxTimer(loop, callback) if sys.platform == "linux" else LoopTimer(loop, callback)


class _Itimerspec(ctypes.Structure):
    _fields_ = [(name, ctypes.c_long) for name in ("interval_s", "interval_ns", "value_s", "value_ns")]


class LinuxTimer:
    """A timerfd watched by the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._settime = libc.timerfd_settime
        self._fd = libc.timerfd_create(CLOCK_MONOTONIC, _TFD_NONBLOCK | _TFD_CLOEXEC)
        if self._fd < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create failed")
        self._spec = _Itimerspec()
        self._spec_ref = ctypes.byref(self._spec)
        self._loop = loop
        self._callback = callback
        loop.add_reader(self._fd, self._fire)

    def arm(self, at_ns: int) -> None:
        # A time of zero would disarm.
        self._spec.value_s, self._spec.value_ns = divmod(max(1, at_ns), _SECOND_NS)
        self._settime(self._fd, _TFD_TIMER_ABSTIME, self._spec_ref, None)

    def close(self) -> None:
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _fire(self) -> None:
        try:
            os.read(self._fd, 8)
        except BlockingIOError:  # armed anew since
            return
        self._callback()


class LoopTimer:
    """The event loop's own timer."""

    def __init__(self, loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
        self._loop = loop
        self._callback = callback
        self._handle: asyncio.TimerHandle | None = None

    def arm(self, at_ns: int) -> None:
        if self._handle is not None:
            self._handle.cancel()
        delay_s = max(0, at_ns - monotonic_ns()) / _SECOND_NS
        self._handle = self._loop.call_later(delay_s, self._callback)

    def close(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
