"""The options that several commands share, and how they change a scenario."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from rpcbench.errors import SpecError, UsageError
from rpcbench.model.node import Node
from rpcbench.model.scenario import Arrival, Closed, Load, Open, Scenario

LOAD_PANEL = "Load"
NODE_PANEL = "Nodes"
OUTPUT_PANEL = "Output"

NodeNames = Annotated[
    list[str],
    typer.Argument(
        metavar="NODE...", show_default=False, help="A name from nodes.yaml, a well-known name, name=url, or a URL."
    ),
]
NodesFile = Annotated[
    Path | None,
    typer.Option(
        "--nodes",
        exists=True,
        dir_okay=False,
        rich_help_panel=NODE_PANEL,
        help="Read node names from this file.",
        show_default=False,
    ),
]
Header = Annotated[
    list[str],
    typer.Option(
        "--header", "-H", rich_help_panel=NODE_PANEL, help="'Name: value', sent to every node; repeat for more."
    ),
]
MaxLag = Annotated[
    int, typer.Option("--max-lag", min=0, rich_help_panel=NODE_PANEL, help="Blocks by which heads may differ.")
]
CaFile = Annotated[
    Path | None,
    typer.Option(
        "--ca-file",
        exists=True,
        dir_okay=False,
        rich_help_panel=NODE_PANEL,
        help="Trust the certificates in this PEM file instead of the system's.",
        show_default=False,
    ),
]
ScenarioName = Annotated[
    str | None,
    typer.Option(
        "--scenario",
        "-s",
        rich_help_panel=LOAD_PANEL,
        show_default="mixed or eth-mixed, after the nodes' chain",
        help="A scenario's name or file; see `rpcbench scenarios`.",
    ),
]
Validate = Annotated[
    bool,
    typer.Option(
        "--validate/--no-validate",
        rich_help_panel=LOAD_PANEL,
        help="Refuse calls whose parameters do not fit the specification.",
    ),
]
AllowWrites = Annotated[
    bool,
    typer.Option(
        "--allow-writes",
        rich_help_panel=LOAD_PANEL,
        help="Send calls that can change the chain, the node or its accounts: thousands of times, to every node. "
        "Only for nodes that may be thrown away.",
    ),
]
Duration = Annotated[
    str | None,
    typer.Option(
        "--duration",
        "-d",
        rich_help_panel=LOAD_PANEL,
        show_default="the scenario's, 3s",
        help="Measured time of one trial: one node in one round.",
    ),
]
Requests = Annotated[
    int | None,
    typer.Option(
        "--requests",
        "-n",
        rich_help_panel=LOAD_PANEL,
        help="Requests of one trial, instead of a duration.",
        show_default=False,
    ),
]
Concurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
        "-c",
        rich_help_panel=LOAD_PANEL,
        show_default="the scenario's, 8",
        help="Closed loop: this many clients, each waiting for its reply.",
    ),
]
Rate = Annotated[
    float | None,
    typer.Option(
        "--rate",
        "-r",
        rich_help_panel=LOAD_PANEL,
        show_default=False,
        help="Open loop: requests per second in total, answered or not.",
    ),
]
ArrivalOption = Annotated[
    Arrival | None,
    typer.Option(
        "--arrival", rich_help_panel=LOAD_PANEL, show_default="poisson", help="How open-loop requests are spaced."
    ),
]
MaxInFlight = Annotated[
    int | None,
    typer.Option(
        "--max-in-flight",
        rich_help_panel=LOAD_PANEL,
        show_default="512",
        help="Open loop: beyond this many unanswered requests the next ones wait; the wait counts.",
    ),
]
Rounds = Annotated[
    int | None,
    typer.Option("--rounds", rich_help_panel=LOAD_PANEL, show_default="the scenario's, 10", help="Paired rounds."),
]
Warmup = Annotated[
    str | None,
    typer.Option(
        "--warmup",
        rich_help_panel=LOAD_PANEL,
        show_default="the scenario's, 1s",
        help="Load before the first round; recorded, not counted. 0 for none.",
    ),
]
Timeout = Annotated[
    str | None,
    typer.Option("--timeout", rich_help_panel=LOAD_PANEL, show_default="the scenario's, 10s", help="Per request."),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed",
        rich_help_panel=LOAD_PANEL,
        show_default="the scenario's, 1",
        help="Same seed, same calls in the same order at the same times.",
    ),
]
Noise = Annotated[
    str,
    typer.Option("--noise", rich_help_panel=LOAD_PANEL, help="Differences within this band count as the same."),
]
Thresholds = Annotated[
    list[str],
    typer.Option(
        "--threshold",
        rich_help_panel=LOAD_PANEL,
        metavar="LIMIT",
        help="Exit with 3 when this is missed: 'getEvents.p99<200ms', 'errors<0.1%', 'rate>=100', 'mean(juno)<5ms', "
        "'p99(b)/p99(a)<=1.05'; 'warn: …' only shows it. Repeatable.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", rich_help_panel=LOAD_PANEL, help="Show the plan and stop before the load.")
]
Labels = Annotated[
    list[str],
    typer.Option("--label", rich_help_panel=OUTPUT_PANEL, metavar="KEY=VALUE", help="Kept with the run; repeatable."),
]
Output = Annotated[
    Path, typer.Option("--output", "-o", rich_help_panel=OUTPUT_PANEL, help="Directory that run directories go into.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", rich_help_panel=OUTPUT_PANEL, help="No progress on stderr.")]

# A public endpoint is somebody else's machine: unless told otherwise, two clients are company enough.
POLITE_CONCURRENCY = 2


def parse_headers(headers: list[str]) -> tuple[tuple[str, str], ...]:
    """`Name: value` pairs. Raises UsageError without repeating a value, which may be a secret."""
    pairs = []
    for text in headers:
        name, colon, value = text.partition(":")
        if not colon or not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name.strip()):
            raise UsageError("a header is written 'Name: value', for example -H 'Authorization: Bearer …'")
        if not value.strip().isprintable():
            raise UsageError(f"the value of header {name.strip()} holds a line break or control character")
        pairs.append((name.strip(), value.strip()))
    return tuple(pairs)


def parse_labels(labels: list[str]) -> dict[str, str]:
    """`key=value` pairs. Raises UsageError."""
    pairs = {}
    for text in labels:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"a label is written key=value, not {text!r}")
        pairs[key.strip()] = value.strip()
    return pairs


def check_thresholds(texts: Sequence[str], scenarios: Iterable[Scenario], nodes: Sequence[Node]) -> None:
    """Raises SpecError unless each can be read and speaks of these nodes and of calls of these scenarios."""
    from rpcbench.config.thresholds import parse_threshold

    labels = list(dict.fromkeys(call.label for scenario in scenarios for call in scenario.calls))
    for text in texts:
        try:
            parse_threshold(text, labels, [node.name for node in nodes])
        except SpecError as error:
            raise SpecError(f"--threshold '{text}': {error}") from None


def parse_noise(text: str) -> float:
    """`1%` or `0.01` as a fraction. Raises UsageError."""
    try:
        noise = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        noise = -1.0
    if not 0 <= noise < 0.5:
        raise UsageError(f"--noise is a share such as 1% or 0.01, at least 0 and below 50%, not {text!r}")
    return noise


@dataclass(frozen=True, slots=True)
class LoadChoice:
    """What the command line says about the load; None where it is silent."""

    concurrency: int | None
    rate_per_s: float | None
    arrival: Arrival | None
    max_in_flight: int | None

    @property
    def given(self) -> bool:
        """Whether the person said how hard to press."""
        return self.concurrency is not None or self.rate_per_s is not None

    def apply(self, load: Load) -> Load:
        """The scenario's `load` as changed by this choice. Raises UsageError for what does not go together."""
        positive("--concurrency", self.concurrency)
        positive("--rate", self.rate_per_s)
        positive("--max-in-flight", self.max_in_flight)
        if self.concurrency is not None and self.rate_per_s is not None:
            raise UsageError("--concurrency is a closed loop and --rate an open one; choose one of them")
        if self.concurrency is not None:
            load = Closed(self.concurrency)
        elif self.rate_per_s is not None:
            load = replace(load, rate_per_s=self.rate_per_s) if isinstance(load, Open) else Open(self.rate_per_s)
        if self.arrival is None and self.max_in_flight is None:
            return load
        if isinstance(load, Closed):
            raise UsageError("--arrival and --max-in-flight belong to an open loop; give it a rate with -r")
        return replace(
            load, arrival=self.arrival or load.arrival, max_in_flight=self.max_in_flight or load.max_in_flight
        )


@dataclass(frozen=True, slots=True)
class Changes:
    """What the command line says about length, repetition, seed and thresholds; None or empty where it is silent."""

    duration: str | None = None
    requests: int | None = None
    rounds: int | None = None
    warmup: str | None = None
    timeout: str | None = None
    seed: int | None = None
    thresholds: tuple[str, ...] = ()


def change_scenario(scenario: Scenario, load: LoadChoice, changes: Changes) -> Scenario:
    """The scenario with whatever the command line says otherwise, and its thresholds beside its own.

    Raises UsageError.
    """
    from rpcbench.config.durations import parse_duration_ns

    positive("--requests", changes.requests)
    positive("--rounds", changes.rounds)
    if changes.seed is not None and changes.seed < 0:
        raise UsageError("--seed must be 0 or more")
    if changes.duration is not None and changes.requests is not None:
        raise UsageError("--duration and --requests both say how long a trial is; choose one of them")
    changed = replace(scenario, load=load.apply(scenario.load))
    if changes.duration is not None:
        changed = replace(changed, duration_ns=parse_duration_ns(changes.duration), requests=None)
    if changes.requests is not None:
        changed = replace(changed, requests=changes.requests)
    if changes.rounds is not None:
        changed = replace(changed, rounds=changes.rounds)
    if changes.warmup is not None:
        off = changes.warmup in {"0", "0s"}
        changed = replace(changed, warmup_ns=0 if off else parse_duration_ns(changes.warmup))
    if changes.timeout is not None:
        changed = replace(changed, timeout_ns=parse_duration_ns(changes.timeout))
    if changes.seed is not None:
        changed = replace(changed, seed=changes.seed)
    return replace(changed, thresholds=tuple(dict.fromkeys([*scenario.thresholds, *changes.thresholds])))


def positive(option: str, value: float | None) -> None:
    """Raises UsageError unless `value` is absent or a finite number above zero."""
    if value is not None and not 0 < value < float("inf"):
        raise UsageError(f"{option} must be above zero, not {value:g}")
