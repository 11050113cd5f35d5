"""`rpcbench verify`: do these nodes answer alike? A sample of a scenario's calls, asked quietly."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rpcbench.cli import options as opt
from rpcbench.cli import transport as way
from rpcbench.cli.compare import DEFAULT_SCENARIO
from rpcbench.errors import EXIT_INVALID, EXIT_OK, EXIT_THRESHOLD, UsageError
from rpcbench.model.finding import Finding, Outcome
from rpcbench.model.scenario import Closed, Scenario

if TYPE_CHECKING:
    from rpcbench.model.workload import Call
    from rpcbench.survey.survey import Survey

AGREEMENT_PANEL = "Agreement"
# Kinds of call are drawn in equal shares, so that a rare one is looked at as often as any other. Among so many draws
# per call that is wanted there are enough distinct ones, unless the chain is short.
_DRAWS_PER_CALL = 20

SampleSize = Annotated[
    int,
    typer.Option(
        "--sample", "-n", min=1, max=10_000, rich_help_panel=AGREEMENT_PANEL, help="How many distinct calls to compare."
    ),
]
RulesFile = Annotated[
    Path | None,
    typer.Option(
        "--rules",
        rich_help_panel=AGREEMENT_PANEL,
        help="YAML with differences that do not count: paths to ignore, tolerances for numbers.",
        show_default=False,
    ),
]
FailOnDiff = Annotated[
    bool,
    typer.Option(
        "--fail-on-diff",
        rich_help_panel=AGREEMENT_PANEL,
        help="Exit with 3 when answers differ; not for methods, history or spec members that one node lacks.",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", rich_help_panel=opt.OUTPUT_PANEL, help="Print everything as JSON, for machines.")
]


def verify(
    node_names: opt.NodeNames,
    scenario: opt.ScenarioName = None,
    sample_size: SampleSize = 100,
    seed: opt.Seed = None,
    rules: RulesFile = None,
    fail_on_diff: FailOnDiff = False,
    validate: opt.Validate = True,
    nodes_file: opt.NodesFile = None,
    header: opt.Header = [],  # noqa: B006  typer makes a new list for every call
    max_lag: opt.MaxLag = 5,
    ca_file: opt.CaFile = None,
    insecure: way.Insecure = False,
    cert: way.CertFile = None,
    key: way.KeyFile = None,
    proxy: way.Proxy = None,
    as_json: AsJson = False,
) -> None:
    """Ask all nodes the same questions at fixed blocks, and show where their answers differ."""
    from rpcbench.config.nodes_file import resolve_nodes
    from rpcbench.config.rules_file import load_rules
    from rpcbench.config.scenario_file import load_scenario
    from rpcbench.survey.agreement import agree
    from rpcbench.survey.survey import ask, judge

    if len(node_names) < 2:
        raise UsageError("verify takes two nodes or more: it holds their answers against each other")
    nodes = resolve_nodes(node_names, nodes_file, extra_headers=opt.parse_headers(header))
    book = load_rules(rules) if rules else None
    chosen = load_scenario(scenario, validate=validate) if scenario else None
    if seed is not None and seed < 0:
        raise UsageError("--seed must be 0 or more")
    route = way.route(ca_file, insecure, cert, key, proxy)

    survey = ask(nodes, chosen.chain if chosen else None, max_lag=max_lag, route=route)
    judge(survey)
    chosen = chosen or load_scenario(DEFAULT_SCENARIO[survey.chain])
    head, calls = _sampled(chosen if seed is None else replace(chosen, seed=seed), survey, sample_size)
    findings = agree(
        survey.nodes,
        calls,
        survey.chain,
        head,
        rules=book,
        facts=survey.facts,
        timeout_s=chosen.timeout_ns / 1e9,
        route=route,
        on_call=_progress,
    )
    labels = [call.label for call in chosen.calls]
    (_print_json if as_json else _print)(survey, head, findings, labels)
    raise typer.Exit(_exit_code(findings, fail_on_diff=fail_on_diff))


def _sampled(scenario: Scenario, survey: Survey, size: int) -> tuple[int, tuple[Call, ...]]:
    """The height that calls keep below, and the calls that are to be compared."""
    from rpcbench.plan.plan import make_plan
    from rpcbench.run import HEAD_MARGIN_BLOCKS
    from rpcbench.survey.agreement import sample

    evenly = replace(
        scenario,
        calls=tuple(replace(call, weight=1.0, batch=1) for call in scenario.calls),
        load=Closed(),
        rounds=1,
        warmup_ns=0,
        requests=size * _DRAWS_PER_CALL,
    )
    head = max(0, min(fact.head for fact in survey.facts) - HEAD_MARGIN_BLOCKS)
    return head, sample(make_plan(evenly, len(survey.nodes), head).calls, size)


def _progress(done: int, of: int) -> None:
    """How far it is, on one line of a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r {done} of {of} calls\x1b[K" if done < of else "\r\x1b[K")
        sys.stderr.flush()


def _print(survey: Survey, head: int, findings: Sequence[Finding], labels: Sequence[str]) -> None:
    from rpcbench.report import terminal
    from rpcbench.report.agreement_view import show_agreement
    from rpcbench.report.survey_view import node_lines

    console = terminal.console(sys.stdout)
    header = f"{len(findings):,} distinct calls to {len(survey.nodes)} nodes, at blocks up to {head:,}"
    terminal.show_parts([*node_lines(survey.facts), header, ""], console)
    show_agreement(findings, labels, console)


def _print_json(survey: Survey, head: int, findings: Sequence[Finding], labels: Sequence[str]) -> None:
    from rpcbench.report.agreement_view import as_data

    nodes = [
        {"name": f.node, "place": f.place, "client_version": f.client_version, "spec_version": f.spec_version}
        for f in survey.facts
    ]
    typer.echo(json.dumps({"chain": survey.chain, "head": head, "nodes": nodes, **as_data(findings, labels)}, indent=2))


def _exit_code(findings: Sequence[Finding], *, fail_on_diff: bool) -> int:
    """A check in which nothing could be compared has not been passed."""
    outcomes = {finding.outcome for finding in findings}
    if Outcome.DIFFERENT in outcomes:
        return EXIT_THRESHOLD if fail_on_diff else EXIT_OK
    return EXIT_OK if Outcome.EQUAL in outcomes else EXIT_INVALID
