"""What runs an engine: one long-lived worker process that sends, and gives its rows back through shared memory."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import wait
from time import monotonic_ns

import numpy as np

from rpcbench.engine.base import OnProgress, Progress
from rpcbench.engine.progress import ProgressMeter
from rpcbench.engine.ring import RingReader, new_ring_memory
from rpcbench.engine.traffic import Sender
from rpcbench.engine.trial import Outcome
from rpcbench.engine.worker import Failure, serve
from rpcbench.errors import EngineError
from rpcbench.model.samples import SAMPLE, Rows, Samples
from rpcbench.model.workload import Workload

_PROGRESS_S = 0.125
_PATIENCE_S = 2.0


class WorkerEngine:
    """Sends in the way of its `sender`. `ring_rows` bounds the rows on their way to this process."""

    def __init__(self, sender: Sender, *, ring_rows: int = 2**17) -> None:
        self.name = sender.name
        self._sender = sender
        self._ring_rows = ring_rows
        self._worker: _Worker | None = None

    def run(self, workload: Workload, on_progress: OnProgress) -> Samples:
        """Send `workload` from the worker process and gather its rows."""
        try:
            if self._worker is None:
                self._worker = _Worker(self._ring_rows, self._sender)
            return self._worker.run(workload, on_progress)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Stop the worker process; the next run starts another."""
        if self._worker is not None:
            self._worker.stop()
            self._worker = None


class _Worker:
    """The worker process as the parent sees it."""

    def __init__(self, ring_rows: int, sender: Sender) -> None:
        context = multiprocessing.get_context("spawn")
        memory = new_ring_memory(ring_rows)
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=serve, args=(theirs, memory.name, ring_rows, sender), name="rpcbench-worker", daemon=True
        )
        try:
            with _interrupts_held():
                self._process.start()
            theirs.close()
            self._receive()  # that it is ready
        except BaseException:
            memory.close()
            self._end_process()
            raise
        finally:
            memory.unlink()  # both have it mapped by now, so nothing is left behind whoever dies first
        self._memory = memory
        self._ring = RingReader(memory, ring_rows)

    def run(self, workload: Workload, on_progress: OnProgress) -> Samples:
        self._ring.reset()
        gathered = _Gathered(self._ring)
        try:
            self._pipe.send(workload)
        except OSError:
            raise EngineError(self._epitaph()) from None
        while not wait([self._pipe], _PROGRESS_S):
            gathered.take()
            if self._ring.origin_ns:
                on_progress(gathered.progress())
        answer = self._receive()
        if isinstance(answer, Failure):
            raise EngineError(answer.sentence)
        assert isinstance(answer, Outcome)
        gathered.take_last(answer.leftover)
        on_progress(gathered.progress())
        return gathered.samples(answer)

    def stop(self) -> None:
        self._end_process()
        self._ring.release()
        self._memory.close()

    def _receive(self) -> Outcome | Failure | str:
        try:
            answer: Outcome | Failure | str = self._pipe.recv()
        except (EOFError, OSError):
            raise EngineError(self._epitaph()) from None
        return answer

    def _end_process(self) -> None:
        if self._process.pid is not None:
            self._process.terminate()
            self._process.join(_PATIENCE_S)
            if self._process.is_alive():
                self._process.kill()
                self._process.join()
        self._pipe.close()

    def _epitaph(self) -> str:
        self._process.join(_PATIENCE_S)
        code = self._process.exitcode
        how = f"was killed by {signal.Signals(-code).name}" if code is not None and code < 0 else "ended by itself"
        return f"The load generator's worker process {how}, and the trial is lost; check free memory, then run again."


class _Gathered:
    """The rows of one trial, as they come out of the ring."""

    def __init__(self, ring: RingReader) -> None:
        self._ring = ring
        self._meter = ProgressMeter()
        self._bytes = bytearray()

    def take(self) -> None:
        """Take what came while the worker runs."""
        self._add(self._ring.drain())

    def take_last(self, leftover: bytes) -> None:
        """Take the rest; the worker has finished."""
        self._add(self._ring.drain(finished=True) + leftover)

    def progress(self) -> Progress:
        return self._meter.read(monotonic_ns() - self._ring.origin_ns, self._ring.started)

    def samples(self, outcome: Outcome) -> Samples:
        rows = np.frombuffer(self._bytes, dtype=SAMPLE)
        return Samples(
            rows=rows,
            started_unix_ns=self._ring.origin_unix_ns,
            wall_ns=int(rows["done_ns"].max()) if len(rows) else 0,
            cpu_ns=outcome.cpu_ns,
            connects=outcome.connects,
            reconnects=outcome.reconnects,
        )

    def _add(self, drained: bytearray) -> None:
        rows = np.frombuffer(drained, dtype=SAMPLE)
        _count_from(rows, self._ring.origin_ns)
        self._bytes += drained
        self._meter.add(rows)


def _count_from(rows: Rows, origin_ns: int) -> None:
    """Make monotonic times relative to the trial's start; those that never came stay 0."""
    for name in ("due_ns", "sent_ns", "first_ns", "done_ns"):
        times = rows[name]
        np.subtract(times, origin_ns, out=times, where=times != 0)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keep Ctrl-C from a process that is just being born; it reaches this one afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
