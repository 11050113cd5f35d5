"""What was asked of a run, in the words of the trade."""

from __future__ import annotations

from rpcbench.model.scenario import Closed, Load, Open, Scenario
from rpcbench.report.foreign import tame
from rpcbench.report.numbers import count, rate, span


def asked(scenario: Scenario, nodes: int) -> str:
    """What was asked for: `mixed · 10 rounds × 3 s × 2 nodes · closed loop, 8 connections · seed 1`."""
    rounds = f"{_counted(scenario.rounds, 'round')} × {trial_words(scenario)} × {_counted(nodes, 'node')}"
    return f"{tame(scenario.name)} · {rounds} · {load_words(scenario.load)} · seed {scenario.seed}"


def load_words(load: Load) -> str:
    """The load in the words of the trade."""
    match load:
        case Closed(concurrency):
            return f"closed loop, {concurrency} connection{'s' * (concurrency != 1)}"
        case Open(rate_per_s, arrival, max_in_flight):
            return f"open loop, {rate(rate_per_s)} per second ({arrival}), at most {max_in_flight} in flight"


def trial_words(scenario: Scenario) -> str:
    """How long one trial lasts."""
    return f"{count(scenario.requests)} requests" if scenario.requests else span(scenario.duration_ns)


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"
