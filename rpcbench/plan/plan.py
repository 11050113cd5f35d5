"""The whole run as data: every call, its order and its due time, fixed before the first byte. Pure and seeded.

The same round is the same traffic on every node; different rounds draw different calls, so that a node's cache,
warm from an earlier round, does not answer a later one.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rpcbench.errors import UsageError
from rpcbench.model.node import Node
from rpcbench.model.scenario import CallSpec, Closed, Open, Scenario
from rpcbench.model.workload import Call, Trial, Workload
from rpcbench.plan.arrival import due_times_ns
from rpcbench.plan.parameters import Template, compile_params, draw
from rpcbench.plan.rounds import trial_order
from rpcbench.protocol.batch import encode_batch, item_id
from rpcbench.protocol.jsonrpc import encode

# Closed loop by time: how many calls a round holds before it begins again is not known beforehand, and must not
# depend on the nodes' speed or a seed would no longer mean the same traffic.
_CLOSED_CALLS_PER_S = 4_000
_CLOSED_CALLS = (2_000, 40_000)
MAX_PLANNED_REQUESTS = 20_000_000


@dataclass(frozen=True, slots=True)
class RoundTraffic:
    """One round's calls, which of them is sent when, for every node alike. See Workload for the arrays."""

    calls: tuple[Call, ...]
    order: NDArray[np.int32]
    due_ns: NDArray[np.int64] | None
    duration_ns: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """`rounds[0]` is the warm-up; `calls` are all distinct ones, by id; `fingerprint` covers bytes, order and times."""

    scenario: Scenario
    head: int
    calls: tuple[Call, ...]
    rounds: tuple[RoundTraffic, ...]
    trials: tuple[Trial, ...]
    fingerprint: str

    @property
    def call_spec(self) -> NDArray[np.int32]:
        """int32[calls]: the CallSpec's index of every call id."""
        return np.array([call.spec for call in self.calls], dtype=np.int32)

    def planned(self, trial: Trial) -> int | None:
        """How many requests the trial sends, None where its duration decides."""
        traffic = self.rounds[trial.round]
        by_time = traffic.due_ns is None and traffic.duration_ns is not None
        return None if by_time else len(traffic.order)

    def workload(self, trial: Trial, node: Node) -> Workload:
        """The trial's traffic, addressed to `node`."""
        traffic = self.rounds[trial.round]
        load = self.scenario.load
        return Workload(
            node=node,
            calls=traffic.calls,
            order=traffic.order,
            due_ns=traffic.due_ns,
            concurrency=load.concurrency if isinstance(load, Closed) else load.max_in_flight,
            duration_ns=traffic.duration_ns,
            timeout_ns=self.scenario.timeout_ns,
        )

    def requests_per_trial(self, closed_rate_per_s: float) -> tuple[int, int]:
        """Requests of a warm-up trial and of a measured one; by-time closed loops at the rate that is assumed."""

        def count(traffic: RoundTraffic) -> int:
            if traffic.due_ns is None and traffic.duration_ns is not None:
                return round(closed_rate_per_s * traffic.duration_ns / 1e9)
            return len(traffic.order)

        return count(self.rounds[0]), count(self.rounds[1])

    @property
    def sending_s(self) -> float | None:
        """Seconds of load over all trials, None where the nodes' speed decides."""
        total_ns = 0
        for trial in self.trials:
            traffic = self.rounds[trial.round]
            if traffic.due_ns is not None and len(traffic.due_ns):
                total_ns += int(traffic.due_ns[-1])
            elif traffic.duration_ns is not None:
                total_ns += traffic.duration_ns
            else:
                return None
        return total_ns / 1e9


class _Drawing:
    """Draws calls round by round; equal calls get one id over the whole run, hence equal bytes."""

    def __init__(self, scenario: Scenario, head: int) -> None:
        self._scenario = scenario
        self._head = head
        self._templates: list[Template] = [compile_params(c.params, scenario.chain) for c in scenario.calls]
        self._cumulative = list(accumulate(c.weight for c in scenario.calls))
        self._drawn = [0] * len(scenario.calls)
        self._ids: dict[tuple[int, bytes], Call] = {}
        self.calls: list[Call] = []

    def round(self, number: int, count: int) -> tuple[tuple[Call, ...], NDArray[np.int32]]:
        """The calls of round `number` without repetition, and `count` positions among them."""
        rng = random.Random(f"{self._scenario.seed}/round/{number}")
        specs = rng.choices(range(len(self._templates)), cum_weights=self._cumulative, k=count)
        positions: dict[int, int] = {}
        order = np.empty(count, dtype=np.int32)
        for i, spec in enumerate(specs):
            call = self._draw(spec, rng)
            order[i] = positions.setdefault(call.id, len(positions))
        return tuple(self.calls[call_id] for call_id in positions), order

    def _draw(self, spec: int, rng: random.Random) -> Call:
        asked = self._scenario.calls[spec]
        params = [self._draw_params(spec, rng) for _ in range(asked.batch)]
        key = (spec, _encode(0, asked, params))
        call = self._ids.get(key)
        if call is None:
            call = Call(len(self.calls), spec, _encode(len(self.calls), asked, params), asked.batch)
            self._ids[key] = call
            self.calls.append(call)
        return call

    def _draw_params(self, spec: int, rng: random.Random) -> Any:
        params = draw(self._templates[spec], rng, self._head, self._drawn[spec])
        self._drawn[spec] += 1
        return params


def _encode(call_id: int, asked: CallSpec, params: Sequence[Any]) -> bytes:
    """The body of one call, or of a batch of several."""
    if asked.batch == 1:
        return encode(call_id, asked.method, params[0])
    return encode_batch(encode(item_id(call_id, i), asked.method, one) for i, one in enumerate(params))


def make_plan(scenario: Scenario, nodes: int, head: int) -> Plan:
    """Lay out every round for `nodes` nodes whose common head, margin already taken off, is `head`.

    Raises UsageError when the plan would not fit into memory, TemplateError for parameters that cannot be drawn.
    """
    load, warmup_ns = scenario.load, scenario.warmup_ns
    sizes = [_round_size(scenario, warmup_ns, None)]
    sizes += [_round_size(scenario, scenario.duration_ns, scenario.requests)] * scenario.rounds
    if sizes[1] < 1:
        raise UsageError("the plan holds no request: raise the rate or the duration")
    if (planned := round(sum(sizes) * _calls_per_request(scenario))) > MAX_PLANNED_REQUESTS:
        raise UsageError(
            f"the plan would hold {planned:,} calls, more than {MAX_PLANNED_REQUESTS:,}; "
            "ask for a lower rate, a shorter duration or fewer rounds"
        )
    drawing = _Drawing(scenario, head)
    rounds = []
    for number, size in enumerate(sizes):
        calls, order = drawing.round(number, size)
        due_ns = due_times_ns(load, size, _arrival_seed(scenario.seed, number)) if isinstance(load, Open) else None
        exact = number > 0 and scenario.requests is not None
        duration_ns = None if exact or isinstance(load, Open) else (scenario.duration_ns if number else warmup_ns)
        rounds.append(RoundTraffic(calls, order, due_ns, duration_ns))
    return Plan(
        scenario=scenario,
        head=head,
        calls=tuple(drawing.calls),
        rounds=tuple(rounds),
        trials=trial_order(nodes, scenario.rounds, warmup=warmup_ns > 0),
        fingerprint=_fingerprint(drawing.calls, rounds),
    )


def rehearsal_calls(plan: Plan, each: int) -> tuple[Call, ...]:
    """Up to `each` distinct calls of every kind, in plan order."""
    seen = [0] * len(plan.scenario.calls)
    chosen = []
    for call in plan.calls:
        if seen[call.spec] < each:
            seen[call.spec] += 1
            chosen.append(call)
    return tuple(chosen)


def _round_size(scenario: Scenario, duration_ns: int, requests: int | None) -> int:
    if requests is not None:
        return requests
    if isinstance(scenario.load, Open):
        return round(scenario.load.rate_per_s * duration_ns / 1e9)
    low, high = _CLOSED_CALLS
    calls = min(high, max(low, round(_CLOSED_CALLS_PER_S * duration_ns / 1e9))) if duration_ns else 0
    return round(calls / _calls_per_request(scenario))


def _calls_per_request(scenario: Scenario) -> float:
    """More than one where there are batches."""
    return sum(c.weight * c.batch for c in scenario.calls) / sum(c.weight for c in scenario.calls)


def _arrival_seed(seed: int, number: int) -> int:
    return random.Random(f"{seed}/arrival/{number}").getrandbits(63)


def _fingerprint(calls: Sequence[Call], rounds: Sequence[RoundTraffic]) -> str:
    digest = hashlib.sha256()
    for call in calls:
        digest.update(call.body)
    for traffic in rounds:
        digest.update(np.array([c.id for c in traffic.calls], dtype=np.int32)[traffic.order].tobytes())
        if traffic.due_ns is not None:
            digest.update(traffic.due_ns.tobytes())
    return digest.hexdigest()[:16]
