"""`rpcbench compare` and `rpcbench run`: the main job, on several nodes or on one."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from rpcbench.cli import options as opt
from rpcbench.cli import transport as way
from rpcbench.errors import UsageError
from rpcbench.model.node import Node
from rpcbench.model.scenario import Chain, Closed, Load, Scenario

if TYPE_CHECKING:
    from rpcbench.run import Outcome, Prepared, Request
    from rpcbench.survey.survey import Survey

DEFAULT_SCENARIO = {Chain.STARKNET: "mixed", Chain.ETHEREUM: "eth-mixed"}

COMPARE_HELP = """Compare nodes: the same traffic to each, round by round, and an answer with an interval.

The others are compared against the first. Nothing is sent but the calls that the scenario names, and none that write
unless --allow-writes says so."""
RUN_HELP = "Measure one node: its latency, rate and errors per method."


def measure(
    ctx: typer.Context,
    node_names: opt.NodeNames,
    scenario: opt.ScenarioName = None,
    duration: opt.Duration = None,
    requests: opt.Requests = None,
    concurrency: opt.Concurrency = None,
    rate: opt.Rate = None,
    arrival: opt.ArrivalOption = None,
    max_in_flight: opt.MaxInFlight = None,
    rounds: opt.Rounds = None,
    warmup: opt.Warmup = None,
    timeout: opt.Timeout = None,
    seed: opt.Seed = None,
    noise: opt.Noise = "1%",
    threshold: opt.Thresholds = [],  # noqa: B006  typer makes a new list for every call
    validate: opt.Validate = True,
    allow_writes: opt.AllowWrites = False,
    dry_run: opt.DryRun = False,
    nodes_file: opt.NodesFile = None,
    header: opt.Header = [],  # noqa: B006
    max_lag: opt.MaxLag = 5,
    ca_file: opt.CaFile = None,
    insecure: way.Insecure = False,
    cert: way.CertFile = None,
    key: way.KeyFile = None,
    proxy: way.Proxy = None,
    engine: way.EngineOption = None,
    http2: way.Http2 = False,
    transport: way.TransportOption = way.Transport.HTTP,
    compression: way.CompressionOption = way.Compression.NONE,
    label: opt.Labels = [],  # noqa: B006
    output: opt.Output = Path("results"),
    quiet: opt.Quiet = False,
) -> None:
    """Both verbs: they differ in how many nodes they take."""
    from rpcbench.config.nodes_file import resolve_nodes
    from rpcbench.config.scenario_file import load_scenario
    from rpcbench.run import Request
    from rpcbench.survey.survey import ask, judge

    _check_count(ctx.info_name or "", len(node_names))
    nodes = resolve_nodes(node_names, nodes_file, extra_headers=opt.parse_headers(header))
    names = [node.name for node in nodes]
    chosen = load_scenario(scenario, validate=validate, allow_writes=allow_writes, nodes=names) if scenario else None
    changes = opt.Changes(duration, requests, rounds, warmup, timeout, seed, tuple(threshold))
    # Everything that can be wrong with the command line is found before the first node hears of us.
    load = opt.LoadChoice(concurrency, rate, arrival, max_in_flight)
    opt.change_scenario(chosen or load_scenario("mixed"), load, changes)
    route = way.route(ca_file, insecure, cert, key, proxy)
    sending = way.EngineChoice(engine, http2, transport, compression)
    sending.check(route)
    labels, noise_share = opt.parse_labels(label), opt.parse_noise(noise)
    if threshold:
        # Without a scenario the nodes' chain decides which one it is, and with it which calls there are.
        possible = [chosen] if chosen else [load_scenario(name) for name in DEFAULT_SCENARIO.values()]
        opt.check_thresholds(threshold, possible, nodes)

    survey = ask(nodes, chosen.chain if chosen else None, max_lag=max_lag, route=route)
    judge(survey)
    chosen = chosen or load_scenario(DEFAULT_SCENARIO[survey.chain])
    opt.check_thresholds(threshold, [chosen], nodes)
    changed, remarks = _be_polite(opt.change_scenario(chosen, load, changes), load, nodes)
    request = Request(
        scenario=changed,
        output=output,
        max_lag=max_lag,
        noise=noise_share,
        labels=labels,
        command=_printable_command(ctx, nodes),
        route=route,
    )
    remarks += _writing(changed)
    carry_out(request, survey, dry_run=dry_run, quiet=quiet, remarks=remarks, sending=sending)


def carry_out(
    request: Request,
    survey: Survey,
    *,
    dry_run: bool,
    quiet: bool,
    remarks: Sequence[str] = (),
    sending: way.EngineChoice | None = None,
) -> None:
    """Show the plan, run it, print the answer. Raises typer.Exit with the outcome's code."""
    from rpcbench import run
    from rpcbench.report.live import live_view

    prepared = run.prepare(request, survey)
    _show_plan(prepared, remarks, to=sys.stdout if dry_run else sys.stderr)
    if dry_run:
        return
    engine = (sending or way.EngineChoice()).make(request.route)
    outcome = run.compare(prepared, engine, live_view(quiet))
    show_answer(outcome)
    raise typer.Exit(outcome.exit_code)


def show_answer(outcome: Outcome) -> None:
    """The report, on stdout."""
    from rpcbench.report import terminal
    from rpcbench.report.document import build

    terminal.show(build(outcome.info, outcome.run, outcome.analysis), terminal.console(sys.stdout))


def _show_plan(prepared: Prepared, remarks: Sequence[str], to: TextIO) -> None:
    """What will be sent to whom, and every doubt there is beforehand."""
    from rpcbench.report import terminal
    from rpcbench.report.plan_view import plan_header
    from rpcbench.report.survey_view import node_lines
    from rpcbench.run import early_warnings, expected_load

    load, survey = expected_load(prepared), prepared.survey
    header = plan_header(
        prepared.request.scenario,
        len(survey.nodes),
        requests=load.requests,
        bytes_in=load.bytes_in,
        total_s=load.total_s,
    )
    console = terminal.console(to)
    for line in [header, *node_lines(survey.facts, console.width - 2), *remarks]:
        console.print(f" {line}")
    for notice in [*survey.notices, *early_warnings(prepared)]:
        console.print(terminal.notice_line(notice))


def _check_count(verb: str, count: int) -> None:
    if verb == "run" and count != 1:
        raise UsageError("run measures one node; to set nodes against each other use `rpcbench compare`")
    if verb == "compare" and count < 2:
        raise UsageError("compare takes two nodes or more; for one node's own figures use `rpcbench run NODE`")


def _be_polite(scenario: Scenario, load: opt.LoadChoice, nodes: Sequence[Node]) -> tuple[Scenario, list[str]]:
    """Fewer clients toward hosts that are not this machine, unless the person said how many."""
    remote = [node.name for node in nodes if not node.is_local]
    current: Load = scenario.load
    if not remote or load.given or not isinstance(current, Closed) or current.concurrency <= opt.POLITE_CONCURRENCY:
        return scenario, []
    polite = replace(scenario, load=Closed(opt.POLITE_CONCURRENCY))
    return polite, [
        f"{', '.join(remote)} not on this machine: {opt.POLITE_CONCURRENCY} connections instead of "
        f"{current.concurrency}; -c or -r asks for more"
    ]


def _writing(scenario: Scenario) -> list[str]:
    """What is about to be written, for whoever allowed it."""
    from rpcbench.config.scenario_file import WRITES
    from rpcbench.protocol.catalogue import writes

    return [f"warning: {call.label} {WRITES}" for call in scenario.calls if writes(call.method)]


def _printable_command(ctx: typer.Context, nodes: Sequence[Node]) -> str:
    """The command line without secrets: nodes by name and public place, headers by name only."""
    words = ["rpcbench", ctx.info_name or ""]
    words += [node.name if node.name in node.place else f"{node.name}={node.place}" for node in nodes]
    for parameter in ctx.command.params:
        name = parameter.name or ""
        if name == "node_names" or str(ctx.get_parameter_source(name)) != "ParameterSource.COMMANDLINE":
            continue
        value = ctx.params[name]
        flag = parameter.opts[0]
        if name == "header":
            words += [word for key, _ in opt.parse_headers(value) for word in (flag, f"{key}: …")]
        elif name == "proxy":
            words += [flag, "…"]
        elif isinstance(value, bool):
            words.append(flag if value else (parameter.secondary_opts or [flag])[0])
        else:
            words += [word for one in (value if isinstance(value, list) else [value]) for word in (flag, str(one))]
    return shlex.join(words)
