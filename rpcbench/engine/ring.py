"""Rows on their way from the worker to the parent, in shared memory that both see.

The worker gathers rows and moves them over a few times a second (`publish`), so the hot path touches no shared
memory. Rows that find no room wait in the worker: none is lost, none is overwritten.
"""

from __future__ import annotations

from multiprocessing.shared_memory import SharedMemory

from rpcbench.model.samples import SAMPLE

ROW_BYTES = SAMPLE.itemsize
# The header holds counters that only grow within a trial, eight bytes each.
_HEADER_BYTES = 64
_WRITTEN, _READ, _STARTED, _ORIGIN_NS, _ORIGIN_UNIX_NS = range(5)


def new_ring_memory(capacity: int) -> SharedMemory:
    """Shared memory for a ring of `capacity` rows."""
    return SharedMemory(create=True, size=_HEADER_BYTES + capacity * ROW_BYTES)


def _parts(memory: SharedMemory, capacity: int) -> tuple[memoryview, memoryview]:
    """The header's counters and the place for rows."""
    assert memory.buf is not None
    return memory.buf[:_HEADER_BYTES].cast("Q"), memory.buf[_HEADER_BYTES : _HEADER_BYTES + capacity * ROW_BYTES]


class RingWriter:
    """The worker's end."""

    def __init__(self, memory: SharedMemory, capacity: int) -> None:
        self._header, self._rows = _parts(memory, capacity)
        self._capacity = capacity
        self._pending: list[bytes] = []
        self._written = 0
        self.append = self._pending.append  # a row of ROW_BYTES bytes; the hot path pays for no more than this

    @property
    def appended(self) -> int:
        """Rows so far."""
        return self._written + len(self._pending)

    def begin(self, origin_ns: int, origin_unix_ns: int) -> None:
        """Tell the parent when the trial's clock started, on the monotonic clock and on the wall's."""
        self._header[_ORIGIN_UNIX_NS] = origin_unix_ns
        self._header[_ORIGIN_NS] = origin_ns

    def publish(self, started: int) -> None:
        """Move rows to where the parent sees them, as far as there is room; say how many requests were started."""
        room = self._capacity - (self._written - self._header[_READ])
        rows = b"".join(self._pending[:room])
        first = (self._written % self._capacity) * ROW_BYTES
        before_end = len(self._rows) - first
        self._rows[first : first + len(rows)] = rows[:before_end]
        self._rows[: max(0, len(rows) - before_end)] = rows[before_end:]
        self._written += len(rows) // ROW_BYTES
        del self._pending[:room]
        self._header[_STARTED] = started
        self._header[_WRITTEN] = self._written

    def finish(self, started: int) -> bytes:
        """Publish for the last time; the rows that still found no room are given back."""
        self.publish(started)
        return b"".join(self._pending)

    def release(self) -> None:
        """Let go of the memory, which stays with the parent."""
        self._header.release()
        self._rows.release()


class RingReader:
    """The parent's end."""

    def __init__(self, memory: SharedMemory, capacity: int) -> None:
        self._header, self._rows = _parts(memory, capacity)
        self._capacity = capacity
        self._told = 0

    def reset(self) -> None:
        """Begin a new trial; the worker must be at rest."""
        self._header[:] = memoryview(bytes(_HEADER_BYTES)).cast("Q")
        self._told = 0

    @property
    def origin_ns(self) -> int:
        """When the trial's clock started; 0 before that."""
        return self._header[_ORIGIN_NS]

    @property
    def origin_unix_ns(self) -> int:
        """The same on the wall clock."""
        return self._header[_ORIGIN_UNIX_NS]

    @property
    def started(self) -> int:
        """Requests the worker has started, as it last told."""
        return self._header[_STARTED]

    def drain(self, *, finished: bool = False) -> bytearray:
        """The rows that came since the last call, oldest first.

        While the worker runs, rows are taken one call after their count was seen: the count may be visible to this
        processor before the rows are. Once the worker has said (through the pipe) that it is done, all is.
        """
        told, self._told = self._told, self._header[_WRITTEN]
        upto = self._told if finished else told
        read = self._header[_READ]
        first = (read % self._capacity) * ROW_BYTES
        size = (upto - read) * ROW_BYTES
        rows = bytearray(self._rows[first : first + size])
        if len(rows) < size:
            rows += self._rows[: size - len(rows)]
        self._header[_READ] = upto
        return rows

    def release(self) -> None:
        """Let go of the memory so that it can be closed."""
        self._header.release()
        self._rows.release()
