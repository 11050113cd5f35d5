"""What is sent to one node in one trial: which call, and when. Fixed before the first byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from rpcbench.model.node import Node


@dataclass(frozen=True, slots=True)
class Call:
    """One distinct JSON-RPC call, or batch of `batch` calls, ready to send.

    `id` is unique within a run and is also the request id inside `body`, in a batch that of its first call; `spec`
    indexes the scenario's calls.
    """

    id: int
    spec: int
    body: bytes
    batch: int = 1


class Phase(StrEnum):
    """Warm-up trials are recorded like any other and left out of every figure."""

    WARMUP = "warmup"
    MEASURE = "measure"


@dataclass(frozen=True, slots=True)
class Trial:
    """One workload on one node in one round: the unit of replication. `round` counts from 1; warm-up is round 0."""

    index: int
    round: int
    node: int
    phase: Phase


@dataclass(frozen=True, slots=True)
class Workload:
    """Traffic for one trial.

    `order` int32[n] holds positions in `calls`. Open loop: `due_ns` int64[n], ascending, from the trial's start,
    and `concurrency` caps the requests in flight. Closed loop: `due_ns` is None, `concurrency` clients walk
    `order` together; when it runs out they begin again, unless `duration_ns` is None, which means
    "exactly `order`, however long it takes".
    """

    node: Node
    calls: Sequence[Call]
    order: NDArray[np.int32]
    due_ns: NDArray[np.int64] | None
    concurrency: int
    duration_ns: int | None
    timeout_ns: int

    def shard(self, k: int, n: int) -> Workload:
        """Every `n`-th request from the `k`-th on: the union over k is exactly this workload.

        Clients are dealt out, never invented: the shards' concurrencies add up to this one's, so `n` must not
        exceed it.
        """
        if not 0 <= k < n <= self.concurrency:
            raise ValueError(f"shard {k} of {n} with concurrency {self.concurrency}")
        return replace(
            self,
            order=self.order[k::n],
            due_ns=None if self.due_ns is None else self.due_ns[k::n],
            concurrency=self.concurrency // n + (k < self.concurrency % n),
        )
