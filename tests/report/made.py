"""Hand-made runs and analyses: lognormal latencies whose ratio between the nodes is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rpcbench.model.facts import NodeFacts
from rpcbench.model.run import Run, RunInfo, TrialRecord
from rpcbench.model.samples import SAMPLE, Samples, Status
from rpcbench.model.scenario import CallSpec, Chain, Closed, Scenario
from rpcbench.model.verdict import Analysis, Comparison, Estimate, Notice, Quantiles, Summary, Verdict, Weight
from rpcbench.model.workload import Phase, Trial

SECOND = 1_000_000_000
RATIOS = (1.0, 1.36, 0.8, 1.02)


def make_samples(
    rng: np.random.Generator, n: int, calls: int, scale: float, wall_ns: int, start: int, fail: float
) -> Samples:
    rows = np.zeros(n, dtype=SAMPLE)
    rows["call"] = rng.integers(0, calls, n)
    rows["due_ns"] = np.sort(rng.integers(0, wall_ns, n))
    rows["sent_ns"] = rows["due_ns"] + 20_000
    latency_ms = scale * (1.5 + rows["call"]) * rng.lognormal(0.3, 0.35, n) * np.where(rng.random(n) < 0.01, 4, 1)
    rows["done_ns"] = rows["due_ns"] + (latency_ms * 1e6).astype("i8") + 30_000
    rows["first_ns"] = rows["done_ns"] - 10_000
    rows["bytes_in"] = 14_200
    rows["status"] = np.where(rng.random(n) < fail, int(Status.RPC_ERROR), int(Status.OK))
    rows["code"] = np.where(rows["status"] == Status.RPC_ERROR, -32602, 0)
    return Samples(rows[np.argsort(rows["done_ns"])], start, wall_ns, int(0.31 * wall_ns), 8, 0)


def make_facts(name: str, head: int) -> NodeFacts:
    place = f"localhost:{6060 if name == 'juno' else 9545}/rpc/v0_10"
    version = {"juno": "Juno 0.16.1", "pathfinder": "Pathfinder 0.23.0"}.get(name, f"{name} 1.0")
    return NodeFacts(name, place, "SN_MAIN", "0.10.2", version, head, "0xabc", 3_214_500, "0xdef", False, 12.0, 1.8, 0)


def make_run(
    nodes: tuple[str, ...] = ("juno", "pathfinder"),
    calls: tuple[str, ...] = ("getBlockWithTxs", "getEvents"),
    rounds: int = 10,
    per_trial: int = 300,
    trial_ns: int = 3 * SECOND,
    fail: float = 0.0,
    **changes: Any,
) -> Run:
    specs = tuple(CallSpec(f"starknet_{c}", [], 1.0, c) for c in calls)
    scenario = Scenario("mixed", "Blocks and events.", Chain.STARKNET, specs, Closed(8), rounds, trial_ns)
    rng = np.random.default_rng(7)
    order = [(0, node, Phase.WARMUP) for node in range(len(nodes))]
    for r in range(1, rounds + 1):
        within = range(len(nodes)) if r % 2 else reversed(range(len(nodes)))
        order += [(r, node, Phase.MEASURE) for node in within]
    trials, start = [], 1_760_000_000 * SECOND
    for index, (r, node, phase) in enumerate(order):
        wall = trial_ns if phase is Phase.MEASURE else SECOND
        scale = RATIOS[node] * float(rng.lognormal(0, 0.03))
        samples = make_samples(rng, per_trial, len(calls), scale, wall, start, fail)
        trials.append(TrialRecord(Trial(index, r, node, phase), samples, None))
        start += wall + 200_000_000
    before = tuple(make_facts(n, 3_214_551 - i) for i, n in enumerate(nodes))
    after = tuple(make_facts(n, 3_214_560 - i) for i, n in enumerate(nodes))
    run = Run(scenario, nodes, np.arange(len(calls), dtype="i4"), tuple(trials), before, after, False, False)
    return replace(run, **changes)


def _latencies(run: Run, node: int, call: int, round_: int | None = None) -> np.ndarray:
    parts = [
        t.samples.latency_ns[t.samples.answered & (run.call_spec[t.samples.rows["call"]] == call)] / 1e6
        for t in run.trials
        if t.trial.phase is Phase.MEASURE and t.trial.node == node and round_ in (None, t.trial.round)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def _quantiles(ms: np.ndarray) -> Quantiles:
    if not len(ms):
        return Quantiles(*[float("nan")] * 6)
    p50, p90, p95, p99 = (float(q) for q in np.percentile(ms, [50, 90, 95, 99]))
    return Quantiles(float(ms.mean()), p50, p90, p95, p99 if len(ms) >= 368 else float("nan"), float(ms.max()))


def make_analysis(run: Run, *notices: Notice, verdicts: tuple[Verdict, ...] = ()) -> Analysis:
    """Truthful figures from the run's rows; `verdicts` in order of the comparisons replace the measured ones."""
    summaries, comparisons = [], []
    seconds = sum(t.samples.wall_ns for t in run.trials if t.trial.phase is Phase.MEASURE and t.trial.node == 0) / 1e9
    for call, spec in enumerate(run.scenario.calls):
        for node, name in enumerate(run.nodes):
            asked = sum(
                int(np.count_nonzero(run.call_spec[t.samples.rows["call"]] == call))
                for t in run.trials
                if t.trial.phase is Phase.MEASURE and t.trial.node == node
            )
            ms = _latencies(run, node, call)
            errors = {"rpc_error[-32602]": asked - len(ms)} if asked > len(ms) else {}
            rate = asked / seconds if seconds else float("nan")
            q = _quantiles(ms)
            summaries.append(Summary(name, spec.label, asked, len(ms), rate, q, q, errors, asked * 14_200))
        for node, name in enumerate(run.nodes[1:], 1):
            comparisons.append(_compare(run, call, node, name))
    for i, verdict in enumerate(verdicts):
        comparisons[i] = replace(comparisons[i], verdict=verdict)
    return Analysis(tuple(summaries), tuple(comparisons), notices)


def _compare(run: Run, call: int, node: int, name: str) -> Comparison:
    label, base = run.scenario.calls[call].label, run.nodes[0]
    rounds = sorted({t.trial.round for t in run.trials if t.trial.round})
    pairs = [(_latencies(run, 0, call, r), _latencies(run, node, call, r)) for r in rounds]
    logs = np.array([np.log(np.median(b) / np.median(a)) for a, b in pairs if len(a) and len(b)])
    if not len(logs):
        return Comparison("p50", label, base, name, None, None, Verdict.INVALID, "nothing was answered")
    centre, half = float(logs.mean()), 2.3 * float(logs.std()) / max(1, len(logs)) ** 0.5
    ratio = Estimate(float(np.exp(centre)), float(np.exp(centre - half)), float(np.exp(centre + half)), 0.95, len(logs))
    verdict = Verdict.SLOWER if ratio.low > 1 else Verdict.FASTER if ratio.high < 1 else Verdict.UNDECIDED
    shown = 0.04 if verdict is Verdict.UNDECIDED else None
    return Comparison("p50", label, base, name, ratio, None, verdict, "10 paired rounds", shown)


PARAMS_REFUSED = Notice(
    "refused_parameters",
    Weight.VOID,
    'pathfinder answered 100 % of it with rpc_error[-32602] "Invalid params" (HTTP 200)',
    "the two nodes did different work",
    "check the parameters: rpcbench methods starknet_getEvents",
    node="pathfinder",
    call="getEvents",
)
CONSTANT_REPLY = Notice(
    "constant_reply",
    Weight.VOID,
    "juno gave one constant reply to 4,812 different requests",
    "a cache may have answered",
    "vary the parameters",
    node="juno",
    call="getEvents",
)
GENERATOR_BUSY = Notice(
    "generator_busy",
    Weight.VOID,
    "the generator used 99 % of its core",
    "it was the bottleneck, not the node",
    "lower the rate or use a larger machine",
)
HEAD_MOVED = Notice(
    "head_moved",
    Weight.WARNING,
    "pathfinder fell 7 blocks behind",
    "it may have been busy syncing",
    "wait and repeat",
    "pathfinder",
)


def make_info() -> RunInfo:
    directory = "results/20261120T131900Z-mixed-3f9c"
    return RunInfo(
        "20261120T131900Z-mixed-3f9c",
        directory,
        "2026-11-20 13:19:00",
        "0.1.0",
        "Linux 6.1, 8 cores",
        "rpcbench compare juno pathfinder",
        {"disk": "nvme"},
    )
