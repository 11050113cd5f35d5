"""What happened to every request: one fixed-width row each.

Times are monotonic nanoseconds since the trial's start; they compare within one trial only.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


class Status(IntEnum):
    """The class of one reply. Everything but `OK` and `REVERTED` is a failure and enters no latency quantile."""

    OK = 0
    REVERTED = 1  # the node executed the call and the contract refused: a valid answer
    NULL_RESULT = 2  # `result: null` where data was asked for
    RPC_ERROR = 3  # `error` in the body; code = JSON-RPC code
    RATE_LIMITED = 4  # by HTTP status or body; code = whichever said so
    HTTP_ERROR = 5  # status outside 2xx; code = HTTP status
    BAD_REPLY = 6  # not JSON, no result, cut off, or not a reply to this request
    TIMEOUT = 7  # no complete reply within the timeout
    NETWORK = 8  # refused, reset, closed, TLS failure

    @property
    def label(self) -> str:
        """Lower-case name for tables and files."""
        return self.name.lower()


# First and sent are 0 when it never came to that; done_ns is always set.
# connect_ns is the time this request spent waiting for its own connection to open, 0 on a reused one.
# bytes_in counts the body as received. digest is xxh3-64 of the result without the envelope.
SAMPLE = np.dtype(
    [
        ("due_ns", "<i8"),
        ("sent_ns", "<i8"),
        ("first_ns", "<i8"),
        ("done_ns", "<i8"),
        ("connect_ns", "<i8"),
        ("digest", "<u8"),
        ("call", "<i4"),
        ("code", "<i4"),
        ("bytes_in", "<u4"),
        ("status", "u1"),
        ("reconnect", "u1"),
        ("reserved", "<u2"),
    ]
)
SAMPLE_FORMAT = "<qqqqqQiiIBBH"  # the same row for `struct`
assert SAMPLE.itemsize == 64

Rows = NDArray[np.void]


@dataclass(frozen=True, slots=True)
class Samples:
    """All rows of one trial, in order of completion, and what the generator spent on them.

    `wall_ns` runs from the trial's start to its last row; `cpu_ns` is user + system time of the generator's
    processes over the same window; `connects` counts connections opened, `reconnects` those opened because an
    earlier one had been lost.
    """

    rows: Rows
    started_unix_ns: int
    wall_ns: int
    cpu_ns: int
    connects: int
    reconnects: int

    @property
    def latency_ns(self) -> NDArray[np.int64]:
        """done − due: what the user of the node waits, queueing included."""
        latency: NDArray[np.int64] = self.rows["done_ns"] - self.rows["due_ns"]
        return latency

    @property
    def service_ns(self) -> NDArray[np.int64]:
        """done − sent: what the node took once it was asked; meaningless where nothing was sent."""
        service: NDArray[np.int64] = self.rows["done_ns"] - self.rows["sent_ns"]
        return service

    @property
    def answered(self) -> NDArray[np.bool_]:
        """Rows that hold a real answer (OK or REVERTED): the only ones that enter a latency quantile."""
        answered: NDArray[np.bool_] = self.rows["status"] <= Status.REVERTED
        return answered


def no_rows() -> Rows:
    """An empty table of samples."""
    return np.empty(0, dtype=SAMPLE)


def count_failures(rows: Rows) -> Counter[str]:
    """Failed requests by class, as `rpc_error[-32602]` or `timeout`; a revert is an answer and not among them."""
    failed = rows[rows["status"] > Status.REVERTED]
    pairs, counts = np.unique(failed[["status", "code"]], return_counts=True)
    classes: Counter[str] = Counter()
    for (status, code), count in zip(pairs.tolist(), counts.tolist(), strict=True):
        classes[f"{Status(status).label}[{code}]" if code else Status(status).label] += count
    return classes
