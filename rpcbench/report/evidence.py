"""What a reader may want to know before believing a run: facts read off the run itself, in a few words each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from rpcbench.analysis.measured import measured_trials
from rpcbench.model.facts import NodeFacts
from rpcbench.model.run import Run, TrialRecord
from rpcbench.model.scenario import Open
from rpcbench.report.numbers import count, percent


def evidence(run: Run) -> tuple[str, ...]:
    """Short facts about how the run went: rounds, load, failures, heads, generator."""
    trials = measured_trials(run)
    if not trials:
        return ()
    facts = [_rounds(trials, len(run.nodes)), _requests(trials), _sent(run, trials), *_chain(run)]
    return tuple(f for f in [*facts, *_generator(trials)] if f)


def _rounds(trials: Sequence[TrialRecord], nodes: int) -> str:
    rounds = len({t.trial.round for t in trials})
    text = f"{rounds} round{'s' * (rounds != 1)}"
    return f"{text} in alternating order" if nodes > 1 and rounds > 1 and _alternates(trials) else text


def _alternates(trials: Sequence[TrialRecord]) -> bool:
    """Whether the node that began a round changed from each round to the next."""
    first: dict[int, int] = {}
    for t in sorted(trials, key=lambda t: t.trial.index):
        first.setdefault(t.trial.round, t.trial.node)
    return all(a != b for a, b in pairwise(first.values()))


def _requests(trials: Sequence[TrialRecord]) -> str:
    total = sum(len(t.samples.rows) for t in trials)
    failed = total - sum(int(np.count_nonzero(t.samples.answered)) for t in trials)
    return f"{count(total)} requests, {f'{count(failed)} failed' if failed else 'none failed'}"


def _sent(run: Run, trials: Sequence[TrialRecord]) -> str:
    if not isinstance(run.scenario.load, Open) or any(t.planned is None for t in trials):
        return ""
    planned = sum(t.planned or 0 for t in trials)
    sent = sum(int(np.count_nonzero(t.samples.rows["sent_ns"])) for t in trials)
    return f"{'all' if sent == planned else f'{count(sent)} of'} {count(planned)} planned requests sent"


def _chain(run: Run) -> list[str]:
    if len(run.before) < 2:
        return []
    apart = max(_apart(facts) for facts in (run.before, run.after) if facts)
    heads = "heads level" if apart == 0 else f"heads at most {count(apart)} apart"
    agreed = {(f.common_height, f.common_hash) for f in run.before}
    height, block_hash = next(iter(agreed))
    if len(agreed) > 1 or height is None or block_hash is None:
        return [heads]
    return [heads, f"same block {count(height)}"]


def _apart(facts: Sequence[NodeFacts]) -> int:
    heads = [f.head for f in facts]
    return max(heads) - min(heads)


def _generator(trials: Sequence[TrialRecord]) -> list[str]:
    wall = sum(t.samples.wall_ns for t in trials)
    lost = sum(t.samples.reconnects for t in trials)
    busy = f"generator busy {percent(sum(t.samples.cpu_ns for t in trials) / wall)} of a core" if wall else ""
    return [busy, f"{count(lost)} connections lost and reopened" if lost else "no connection lost"]
