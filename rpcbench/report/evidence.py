"""What a reader may want to know before believing a run: facts read off the run itself, in a few words each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from rpcbench.analysis.measured import measured_trials
from rpcbench.analysis.ruler import ceiling_share
from rpcbench.model.facts import NodeFacts
from rpcbench.model.run import Run, TrialRecord
from rpcbench.model.scenario import Open
from rpcbench.model.verdict import NoiseFloor
from rpcbench.report.foreign import tame
from rpcbench.report.numbers import band, count, duration, percent


def evidence(run: Run, floors: Sequence[NoiseFloor] = ()) -> tuple[str, ...]:
    """Short facts about how the run went: rounds, load, failures, noise, heads, generator."""
    trials = measured_trials(run)
    if not trials:
        return ()
    facts = [_rounds(trials, len(run.nodes)), _requests(trials), _sent(run, trials), _noise(floors), *_chain(run)]
    return tuple(f for f in [*facts, *_generator(run, trials)] if f)


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


def _noise(floors: Sequence[NoiseFloor]) -> str:
    """The floor of the noisiest call, which is named where there are others."""
    if not floors:
        return ""
    noisiest = max(floors, key=lambda floor: floor.share)
    of_call = f" ({tame(noisiest.call)})" if len(floors) > 1 else ""
    return f"noise floor of this run ±{band(noisiest.share)}{of_call}"


def _chain(run: Run) -> list[str]:
    if len(run.before) < 2:
        return []
    apart = max(*(_apart(facts) for facts in (run.before, run.after) if facts), *(r.apart for r in run.heads), 0)
    heads = "heads level" if apart == 0 else f"heads at most {count(apart)} apart"
    agreed = {(f.common_height, f.common_hash) for f in run.before}
    height, block_hash = next(iter(agreed))
    if len(agreed) > 1 or height is None or block_hash is None:
        return [heads, *_agreement(run)]
    return [heads, f"same block {count(height)}", *_agreement(run)]


def _agreement(run: Run) -> list[str]:
    """How a sample of the calls was answered before the run."""
    if run.agreement is None:
        return []
    asked, compared, equal = run.agreement.asked, run.agreement.compared, run.agreement.equal
    if not compared:
        return [f"none of {count(asked)} sampled replies could be compared"]
    return [f"{count(equal)} of {count(compared)} sampled replies agree"]


def _apart(facts: Sequence[NodeFacts]) -> int:
    heads = [f.head for f in facts]
    return max(heads) - min(heads)


def _generator(run: Run, trials: Sequence[TrialRecord]) -> list[str]:
    wall = sum(t.samples.wall_ns for t in trials)
    lost = sum(t.samples.reconnects for t in trials)
    busy = f"generator busy {percent(sum(t.samples.cpu_ns for t in trials) / wall)} of a core" if wall else ""
    return [busy, _ruled(run, trials), f"{count(lost)} connections lost and reopened" if lost else "no connection lost"]


def _ruled(run: Run, trials: Sequence[TrialRecord]) -> str:
    """What the generator itself adds here, and how near it came to its end at the node that was sent most."""
    if run.ruler is None:
        return "generator not calibrated: run `rpcbench calibrate` once"
    nodes = range(len(run.nodes))
    share = max(ceiling_share(run.ruler, [t.samples for t in trials if t.trial.node == node]) for node in nodes)
    added = duration(run.ruler.reference.error_p50_us / 1e3)
    return f"generator adds {added}, at {percent(share)} of its ceiling"
