"""The conductor: the only module that knows every room. Survey, plan, send, record, analyse, report."""

from __future__ import annotations

import os
import platform
import secrets
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rpcbench import __version__
from rpcbench.errors import (
    EXIT_INTERRUPTED,
    EXIT_INVALID,
    EXIT_OK,
    EXIT_THRESHOLD,
    ResultsError,
    RpcbenchError,
    SpecError,
)
from rpcbench.model.route import DIRECT, Route
from rpcbench.model.ruler import Ruler
from rpcbench.model.run import Run, RunInfo, TrialRecord
from rpcbench.model.scenario import Open, Scenario
from rpcbench.model.threshold import Threshold
from rpcbench.model.verdict import Analysis, Notice, Verdict, Weight
from rpcbench.plan.plan import Plan, make_plan, rehearsal_calls
from rpcbench.record.history import add_to_history
from rpcbench.record.manifest import Host, Manifest, NodeEntry, RunStatus, Tool
from rpcbench.record.ruler_file import known_ruler
from rpcbench.record.run_directory import RunDirectory, load_manifest, load_run, write_derived

if TYPE_CHECKING:
    from rpcbench.engine.base import Engine
    from rpcbench.model.finding import Finding
    from rpcbench.report.live import LiveView
    from rpcbench.survey.rehearsal import Rehearsal
    from rpcbench.survey.survey import Survey

# Blocks this near the head may still be missing on a node that is a little behind, or be replaced.
HEAD_MARGIN_BLOCKS = 5
REHEARSALS_PER_CALL = 3
# How many calls all nodes are asked before the run, to see whether they answer alike; `verify` asks more.
AGREEMENT_CALLS = 24
POLITE_AGREEMENT_CALLS = 8


@dataclass(frozen=True, slots=True)
class Request:
    """What the person asked for. `command` is their command line, fit to print."""

    scenario: Scenario
    output: Path
    max_lag: int
    noise: float
    labels: dict[str, str]
    command: str
    route: Route = DIRECT


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything that is settled before the first measured byte.

    `findings` tell how the nodes answered a sample of the calls, none where there is but one node. `ruler` is the
    generator's calibration; `ruler_doubt` says why one that is there does not hold here and now.
    """

    request: Request
    survey: Survey
    rehearsals: tuple[Rehearsal, ...]
    findings: tuple[Finding, ...]
    plan: Plan
    ruler: Ruler | None
    ruler_doubt: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run and what was made of it."""

    info: RunInfo
    run: Run
    analysis: Analysis

    @property
    def exit_code(self) -> int:
        """What the run itself ends with."""
        return EXIT_INTERRUPTED if self.run.interrupted else self.verdict_code

    @property
    def verdict_code(self) -> int:
        """EXIT_INVALID as soon as one call's comparison is void: part of what was asked has no answer.

        That outweighs a missed threshold: what cannot be believed in one place is no ground for blame in another.
        """
        void = any(n.weight is Weight.VOID for n in self.analysis.notices)
        if void or any(c.verdict is Verdict.INVALID for c in self.analysis.comparisons):
            return EXIT_INVALID
        return EXIT_THRESHOLD if any(t.missed for t in self.analysis.thresholds) else EXIT_OK


def prepare(request: Request, survey: Survey) -> Prepared:
    """Judge the survey, lay out the plan, rehearse every kind of call. Raises NodesError, UsageError, SpecError."""
    from rpcbench.survey.rehearsal import rehearse
    from rpcbench.survey.survey import judge

    judge(survey)
    head = max(0, min(fact.head for fact in survey.facts) - HEAD_MARGIN_BLOCKS)
    plan = make_plan(request.scenario, len(survey.nodes), head)
    rehearsals = rehearse(survey.nodes, rehearsal_calls(plan, REHEARSALS_PER_CALL), route=request.route)
    return Prepared(request, survey, rehearsals, _findings(request, survey, plan), plan, *known_ruler())


def _findings(request: Request, survey: Survey, plan: Plan) -> tuple[Finding, ...]:
    """What comes of a sample of the plan's calls when all nodes are asked at fixed blocks; calls of batches are not."""
    from rpcbench.survey.agreement import agree, sample

    if len(survey.nodes) < 2:
        return ()
    size = AGREEMENT_CALLS if all(node.is_local for node in survey.nodes) else POLITE_AGREEMENT_CALLS
    single = [call for call in rehearsal_calls(plan, size) if request.scenario.calls[call.spec].batch == 1]
    return agree(survey.nodes, sample(single, size), survey.chain, plan.head, facts=survey.facts, route=request.route)


def execute(prepared: Prepared, engine: Engine, view: LiveView) -> RunDirectory:
    """Send the plan trial by trial, each recorded before the next begins; Ctrl-C keeps what is finished.

    Raises ResultsError or EngineError after marking the run as failed; finished trials stay readable.
    """
    from rpcbench.survey.survey import ask_again
    from rpcbench.survey.watch import HeadWatch, judge_heads

    plan, survey = prepared.plan, prepared.survey
    max_lag, route = prepared.request.max_lag, prepared.request.route
    manifest = _manifest(prepared, engine.name)
    directory = RunDirectory.create(prepared.request.output, manifest, plan.calls, prepared.findings)
    try:
        with view, HeadWatch(survey.nodes, survey.chain, route=route) as watch:
            view.start(len(plan.trials), plan.sending_s)
            for trial in plan.trials:
                node = survey.nodes[trial.node]
                view.trial(trial.round, plan.scenario.rounds, node.name, trial.phase)
                samples = engine.run(plan.workload(trial, node), view.progress)
                directory.add_trial(TrialRecord(trial, samples, plan.planned(trial)), watch.look())
                view.trial_done(samples)
        after, notices = ask_again(survey, max_lag=max_lag, route=route)
        during = judge_heads(directory.manifest.heads, after, max_lag)
        directory.finish(RunStatus.DONE, _now_utc(), after, [*during, *notices])
    except KeyboardInterrupt:
        directory.finish(RunStatus.INTERRUPTED, _now_utc(), reason="interrupted by the user")
    except RpcbenchError as error:
        _mark_failed(directory, str(error))
        raise
    return directory


def rebuild(path: Path) -> Outcome:
    """Analyse a recorded run again and write everything that follows from it. Raises ResultsError."""
    from rpcbench.analysis.analyse import analyse
    from rpcbench.report.files import render_all

    info, run, noticed = load_run(path)
    analysis = analyse(run, noise=load_manifest(path).noise, noticed=noticed, thresholds=_thresholds(path, run))
    write_derived(path, render_all(info, run, analysis))
    return Outcome(info, run, analysis)


def _thresholds(path: Path, run: Run) -> list[Threshold]:
    """What the run was to be held against. They were read before it began, so that only a changed file is refused."""
    from rpcbench.config.thresholds import parse_threshold

    labels = [call.label for call in run.scenario.calls]
    try:
        return [parse_threshold(text, labels, run.nodes) for text in run.scenario.thresholds]
    except SpecError as error:
        raise ResultsError(f"cannot read {path / 'run.json'}: scenario.thresholds: {error}") from error


def compare(prepared: Prepared, engine: Engine, view: LiveView) -> Outcome:
    """The main job, from a plan to an answer that is on disk."""
    try:
        directory = execute(prepared, engine, view)
    finally:
        engine.close()
    outcome = rebuild(directory.path)
    add_to_history(prepared.request.output, load_manifest(directory.path), outcome.analysis)
    return outcome


@dataclass(frozen=True, slots=True)
class ExpectedLoad:
    """What a run will ask of the nodes, all together."""

    requests: int
    bytes_in: int
    total_s: float


def expected_load(prepared: Prepared) -> ExpectedLoad:
    """What the whole run will send and receive, from the plan and the rehearsal's sizes and latencies.

    In a closed loop by time the number of requests is the nodes' own doing: the figure assumes that they answer
    under load as fast as they did in the rehearsal, which makes it an upper bound for most.
    """
    plan, scenario = prepared.plan, prepared.request.scenario
    total_weight = sum(call.weight for call in scenario.calls)
    requests, received_bytes, seconds = 0, 0.0, 0.0
    for name in (node.name for node in prepared.survey.nodes):
        mine = {r.spec: r for r in prepared.rehearsals if r.node == name}
        share = {spec: scenario.calls[spec].weight / total_weight for spec in mine}
        latency_s = sum(share[spec] * r.latency_ms for spec, r in mine.items()) / 1e3
        reply_bytes = sum(share[spec] * r.bytes_in for spec, r in mine.items())
        load = plan.workload(plan.trials[0], prepared.survey.nodes[0])
        rate_per_s = load.concurrency / latency_s if latency_s else 0.0
        warmup, measured = plan.requests_per_trial(rate_per_s)
        sent = (warmup if scenario.warmup_ns else 0) + measured * scenario.rounds
        requests += sent
        received_bytes += sent * reply_bytes
        seconds += sent / rate_per_s if rate_per_s else 0.0
    total_s = plan.sending_s if plan.sending_s is not None else seconds
    return ExpectedLoad(requests, round(received_bytes), total_s)


def early_warnings(prepared: Prepared) -> list[Notice]:
    """What speaks against the run already, told before a minute is spent on it."""
    return [*_refused(prepared), *_lasting_doubts(prepared), *_generator_doubts(prepared)]


def _lasting_doubts(prepared: Prepared) -> list[Notice]:
    """What the rehearsal and the sample of calls hold against the run for good: kept with it, and judged with it."""
    from rpcbench.analysis.agreement_checks import disagreements
    from rpcbench.survey.judging import cached

    survey, labels = prepared.survey, [call.label for call in prepared.request.scenario.calls]
    told = {notice.node for notice in survey.notices if notice.kind == "cache_headers"}
    headers = {r.node: r.cache_headers for r in prepared.rehearsals if r.cache_headers and r.node not in told}
    between = [cached(node, headers[node.name]) for node in survey.nodes if node.name in headers]
    return [*between, *disagreements(prepared.findings, [node.name for node in survey.nodes], labels)]


def _refused(prepared: Prepared) -> list[Notice]:
    """Calls that a node refused in the rehearsal."""
    from rpcbench.model.samples import Status

    labels = [call.label for call in prepared.request.scenario.calls]
    return [
        Notice(
            kind="refused_in_rehearsal",
            weight=Weight.WARNING,
            saw=f"{r.node} answered {labels[r.spec]} with {Status(r.status).label}[{r.code}] {r.message}".rstrip(),
            why="replies that fail say nothing about how fast the node does this work",
            advice="check that the node serves this method and has the blocks that are asked for",
            node=r.node,
            call=labels[r.spec],
        )
        for r in prepared.rehearsals
        if r.status > Status.REVERTED
    ]


def _generator_doubts(prepared: Prepared) -> list[Notice]:
    """A rate that is too much for this generator, or a calibration that says nothing of it any more."""
    from rpcbench.analysis.load_checks import asks_too_much, calibration_stale

    if prepared.ruler_doubt:
        return [calibration_stale(prepared.ruler_doubt)]
    load, expected = prepared.request.scenario.load, expected_load(prepared)
    if prepared.ruler is None or not isinstance(load, Open) or not expected.requests:
        return []
    notice = asks_too_much(load, prepared.ruler.ceiling_per_s(expected.bytes_in / expected.requests))
    return [notice] if notice else []


def _manifest(prepared: Prepared, engine_name: str) -> Manifest:
    from rpcbench.analysis.agreement_checks import tally
    from rpcbench.survey.survey import simulated

    request, survey = prepared.request, prepared.survey
    started = datetime.now(UTC)
    return Manifest(
        id=f"{started:%Y%m%dT%H%M%SZ}-{request.scenario.name}-{secrets.token_hex(2)}",
        status=RunStatus.RUNNING,
        started_utc=started.isoformat(timespec="seconds"),
        command=request.command,
        labels=request.labels,
        noise=request.noise,
        simulated=simulated(survey.facts),
        tool=Tool(version=__version__, engine=engine_name, python=platform.python_version()),
        host=Host(system=f"{platform.system()} {platform.machine()}", cpus=os.cpu_count() or 1, memory_mb=_memory_mb()),
        scenario=request.scenario,
        head=prepared.plan.head,
        fingerprint=prepared.plan.fingerprint,
        nodes=[
            NodeEntry(name=n.name, place=n.place, header_names=[key for key, _ in n.headers], tags=list(n.tags))
            for n in survey.nodes
        ],
        before=list(survey.facts),
        after=[],
        trials=[],
        notices=[*survey.notices, *_lasting_doubts(prepared)],
        ruler=prepared.ruler if prepared.ruler and prepared.ruler.engine == engine_name else None,
        agreement=tally(prepared.findings) if prepared.findings else None,
    )


def _mark_failed(directory: RunDirectory, reason: str) -> None:
    """Best effort: the disk that is full may refuse this too, and the first reason is the one to tell."""
    try:
        directory.finish(RunStatus.FAILED, _now_utc(), reason=reason)
    except RpcbenchError:
        return


def _now_utc() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _memory_mb() -> int | None:
    if sys.platform == "win32":
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
