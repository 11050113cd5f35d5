"""The worker process: receives workloads over a pipe, sends them, and hands rows back through shared memory."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

import uvloop

from rpcbench.engine.ring import RingWriter
from rpcbench.engine.traffic import Sender
from rpcbench.engine.trial import Outcome, run_trial
from rpcbench.errors import RpcbenchError
from rpcbench.model.workload import Workload

READY = "ready"  # the first thing a worker says


@dataclass(frozen=True, slots=True)
class Failure:
    """The worker could not do it; `sentence` is fit to print."""

    sentence: str


def serve(pipe: Pipe, ring_name: str, ring_rows: int, sender: Sender) -> None:
    """Send one workload after another until the pipe closes. Ctrl-C is the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    memory = SharedMemory(ring_name)
    pipe.send(READY)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        while True:
            try:
                workload = pipe.recv()
            except (EOFError, OSError):
                break
            pipe.send(_answer(runner, workload, memory, ring_rows, sender))
            del workload
    memory.close()


def _answer(
    runner: asyncio.Runner, workload: Workload, memory: SharedMemory, ring_rows: int, sender: Sender
) -> Outcome | Failure:
    rows = RingWriter(memory, ring_rows)
    try:
        return runner.run(_run(workload, rows, sender))
    except RpcbenchError as error:
        return Failure(str(error))
    except Exception as error:
        # Where, and not what: the text of an exception may hold a URL.
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(where.filename).name}:{where.lineno}"
        return Failure(f"The load generator failed ({type(error).__name__} at {place}); please report this as a bug.")
    finally:
        rows.release()


async def _run(workload: Workload, rows: RingWriter, sender: Sender) -> Outcome:
    """One trial; the process ends with it when the parent goes away meanwhile."""
    loop = asyncio.get_running_loop()
    parent = multiprocessing.parent_process()
    assert parent is not None
    loop.add_reader(parent.sentinel, os._exit, 1)  # not the pipe: the loop would leave it non-blocking
    try:
        return await run_trial(workload, rows, sender)
    finally:
        loop.remove_reader(parent.sentinel)
