"""Running a server until it is told to stop: by a signal, or by the end of whoever started it."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Callable

from rpcbench.sim.server import Server, run_loop
from rpcbench.sim.spec import SimSpec

_ORPHAN_CHECK_S = 1.0


def serve(spec: SimSpec, announce: Callable[[str], None], *, owner: int | None = None) -> None:
    """Serve until SIGINT or SIGTERM; with `owner`, the parent's process id, also until that or standard input ends."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        server = Server(spec, loop)
        announce(await server.start())
        if owner is not None:
            loop.add_reader(sys.stdin.fileno(), _stop_at_end, sys.stdin.fileno(), stop)
            _watch_owner(loop, owner, stop)
        gc.disable()  # blocks and replies come and go by reference count; a collection would only be a pause
        await stop.wait()
        await server.stop()

    run_loop(main)


def _stop_at_end(fd: int, stop: asyncio.Event) -> None:
    if not os.read(fd, 4096):
        stop.set()


def _watch_owner(loop: asyncio.AbstractEventLoop, owner: int, stop: asyncio.Event) -> None:
    """The pipe may outlive the owner in another child's hands; being the parent does not."""
    if os.getppid() != owner:
        stop.set()
    else:
        loop.call_later(_ORPHAN_CHECK_S, _watch_owner, loop, owner, stop)
