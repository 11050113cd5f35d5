"""The report before it has a form: made once from a run and its analysis, then only laid out.

Every string in a Document is tame (see `rpcbench.report.foreign`) and not yet escaped for any format. What is said,
and what must not be said of an invalid comparison, is decided here and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rpcbench.analysis.advice import routes
from rpcbench.analysis.measured import measured_trials
from rpcbench.model.run import Run, RunInfo
from rpcbench.model.verdict import Analysis, Notice, Weight
from rpcbench.report import answers, sentences, tables
from rpcbench.report.answers import Answer, tamed
from rpcbench.report.asked import asked, load_words, trial_words
from rpcbench.report.evidence import evidence
from rpcbench.report.foreign import tame
from rpcbench.report.numbers import size, span
from rpcbench.report.tables import Table

DISTRIBUTION, OVER_TIME, ROUND_RATIOS = (
    "plots/latency-distribution.png",
    "plots/latency-over-time.png",
    "plots/round-ratios.png",
)


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG beside the report; `alt` says in words what it shows."""

    path: str
    alt: str


@dataclass(frozen=True, slots=True)
class Document:
    """Everything a report says, in the order in which it says it.

    `void` holds the reasons that void the whole run. `believable` is False when anything at all speaks against it.
    """

    title: str
    asked: str
    simulated: str
    interrupted: str
    void: tuple[Notice, ...]
    answers: tuple[Answer, ...]
    routing: str
    judged: str
    results: Table
    thresholds: Table
    errors: Table
    latencies: Table
    comparisons: Table
    nodes: Table
    notices: tuple[Notice, ...]
    believable: bool
    evidence: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    pictures: tuple[Picture, ...]
    directory: str


def build(info: RunInfo, run: Run, analysis: Analysis) -> Document:
    """Decide what the report says."""
    analysis = answers.consistent(analysis)
    void = answers.void_run(analysis)
    answered = answers.answers(analysis)
    told = {*void, *(n for a in answered for n in a.reasons)}
    others = [n for n in analysis.notices if n not in told]
    doubts = any(n.weight is not Weight.INFO for n in analysis.notices)
    return Document(
        title=f"{tame(run.scenario.name)}: {_listed(run.nodes)}",
        asked=asked(run.scenario, len(run.nodes)),
        simulated=sentences.SIMULATED if run.simulated else "",
        interrupted=_interrupted(run),
        void=tuple(tamed(n) for n in void),
        answers=tuple(replace(a, reasons=tuple(tamed(n, a.call) for n in a.reasons)) for a in answered),
        routing=sentences.routing([(route.call, route.node) for route in routes(analysis)]),
        judged=sentences.judged(analysis.thresholds),
        results=tables.results(run, analysis),
        thresholds=tables.thresholds(analysis.thresholds),
        errors=tables.errors(analysis),
        latencies=tables.latencies(analysis),
        comparisons=tables.comparisons(analysis),
        nodes=tables.nodes(run),
        notices=tuple(tamed(n) for n in sorted(others, key=lambda n: _ORDER[n.weight])),
        believable=analysis.valid and not doubts and not run.interrupted,
        evidence=evidence(run, analysis.noise_floors),
        settings=_settings(info, run),
        pictures=pictures(run, analysis),
        directory=tame(info.directory),
    )


_ORDER = {Weight.VOID: 0, Weight.WARNING: 1, Weight.INFO: 2}


def pictures(run: Run, analysis: Analysis) -> tuple[Picture, ...]:
    """The plots that this run can fill: none without requests, no ratios where nothing is compared."""
    if not any(len(t.samples.rows) for t in run.trials):
        return ()
    nodes = _listed(run.nodes)
    shown = [
        Picture(DISTRIBUTION, f"Share of requests answered within a latency, per call: {nodes}"),
        Picture(OVER_TIME, f"Median to p99 latency over the run, per call: {nodes}"),
    ]
    if any(c.ratio for c in answers.headline(answers.consistent(analysis))):
        alt = f"Median latency against {tame(run.nodes[0])} in every round, per call"
        shown.append(Picture(ROUND_RATIOS, alt))
    return tuple(shown)


def _interrupted(run: Run) -> str:
    if not run.interrupted:
        return ""
    return sentences.interrupted(len(measured_trials(run)), run.scenario.rounds * len(run.nodes))


def _settings(info: RunInfo, run: Run) -> tuple[tuple[str, str], ...]:
    s = run.scenario
    chain_ids = sorted({f.chain_id for f in run.before if f.chain_id})
    pairs = [
        ("command", info.command),
        ("scenario", s.name),
        ("about", s.about),
        ("calls", ", ".join(f"{c.label} ({c.method}, weight {c.weight:g})" for c in s.calls)),
        ("chain", " ".join([str(s.chain), *chain_ids])),
        ("load", load_words(s.load)),
        ("rounds", f"{s.rounds}, {trial_words(s)} per trial"),
        ("warm-up", f"{span(s.warmup_ns)} per node, recorded and left out"),
        ("timeout", span(s.timeout_ns)),
        ("seed", str(s.seed)),
        ("thresholds", ", ".join(s.thresholds)),
        ("received", size(sum(float(t.samples.rows["bytes_in"].sum()) for t in measured_trials(run)))),
        ("started", info.started_utc),
        ("host", info.host),
        ("rpcbench", info.tool_version),
        ("labels", ", ".join(f"{k}={v}" for k, v in info.labels.items())),
        ("run", info.id),
    ]
    return tuple((name, tame(value)) for name, value in pairs if value)


def _listed(names: tuple[str, ...]) -> str:
    *most, last = (tame(n) for n in names)
    return f"{', '.join(most)} and {last}" if most else last
