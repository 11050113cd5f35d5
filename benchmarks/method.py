"""How often the method is right: the functions that decide, run on simulated nodes whose truth is known.

`python benchmarks/method.py` prints Markdown tables, the same ones every time; `--save` also puts them into
docs/method.md. About three minutes on one core; `--quick` takes seconds and is too small to judge by.

Every trial answers 2,000 requests with lognormal latencies (sigma 0.5). The machine's speed differs between trials, and
both nodes feel it alike. Two models of that:

- walk: the logarithm of the speed does a random walk, one normal step before each trial. The steps of a round add up
  to a standard deviation of `drift`.
- own: every trial has a speed of its own, with a standard deviation of `drift`. Neighbours in time have nothing in
  common, so that pairing gains nothing: as hard as it gets.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import mannwhitneyu

from rpcbench.analysis.comparison import compare
from rpcbench.analysis.decision import Rule, judge, pair
from rpcbench.analysis.inference import rounds_to_decide, t_interval
from rpcbench.analysis.measured import measure
from rpcbench.analysis.noise_floor import noise_floors
from rpcbench.analysis.percentile_intervals import order_statistics, percentile_intervals
from rpcbench.analysis.quantiles import quantile
from rpcbench.model.run import Run, TrialRecord
from rpcbench.model.samples import SAMPLE, Samples
from rpcbench.model.scenario import CallSpec, Chain, Closed, Scenario
from rpcbench.model.verdict import Estimate, Verdict
from rpcbench.model.workload import Trial
from rpcbench.plan.rounds import trial_order

SEED = 20
ROUNDS, REQUESTS, SIGMA = 10, 2_000, 0.5
NOISE, LEVEL = 0.01, 0.95
EFFECT = 0.05
REACH = 20
NODES = ("one", "other")
DOCUMENT = Path(__file__).parents[1] / "docs" / "method.md"
BEGIN, END = "<!-- begin: python benchmarks/method.py --save -->", "<!-- end -->"

Floats = NDArray[np.float64]
Log = NDArray[np.float64]  # log-latencies, one line per trial in the order in which they ran


@dataclass(frozen=True, slots=True)
class Machine:
    """How the machine's speed differs between trials. See the module."""

    drift: float
    walks: bool = True

    @property
    def title(self) -> str:
        if not self.drift:
            return "steady"
        return f"{'walk' if self.walks else 'own'}, {self.drift:.0%}".replace("%", " %")

    def logs(self, rng: np.random.Generator, trials: int) -> Log:
        """Log-latencies of a node that is as fast as the machine lets it be."""
        own = rng.normal(0, self.drift / math.sqrt(len(NODES)) if self.walks else self.drift, trials)
        speeds = np.cumsum(own) if self.walks else own
        return speeds[:, None] + rng.normal(0, SIGMA, (trials, REQUESTS))


MACHINES = (Machine(0), Machine(0.01), Machine(0.03), Machine(0.03, walks=False))
ALTERNATING = trial_order(len(NODES), ROUNDS, warmup=False)
ONE_AFTER_THE_OTHER = [Trial(i, i % ROUNDS + 1, i // ROUNDS, ALTERNATING[0].phase) for i in range(len(ALTERNATING))]


def make_run(logs: Log, trials: Sequence[Trial], effect: float) -> Run:
    """A run of those trials, in which the second node takes 1 + `effect` times as long."""
    records = []
    for trial, line in zip(trials, logs, strict=True):
        rows = np.zeros(len(line), dtype=SAMPLE)
        rows["done_ns"] = np.round(np.exp(line) * (1 + effect * trial.node) * 10e6)
        records.append(TrialRecord(trial, Samples(rows, 0, 1_000_000_000, 0, 1, 0), None))
    scenario = Scenario("simulated", "", Chain.ETHEREUM, (CallSpec("call", [], 1.0, "call"),), Closed(), ROUNDS)
    return Run(scenario, NODES, np.zeros(1, dtype=np.int32), tuple(records), (), (), False, True)


@dataclass(frozen=True, slots=True)
class Finding:
    """What was made of one simulated run: by rpcbench, by each of its two tests alone, and by what others do."""

    verdict: Verdict
    ratio: Estimate
    tail: Estimate
    rank_p: float
    floor: float
    pooled: dict[str, bool]

    @property
    def names_a_winner(self) -> bool:
        return self.verdict in (Verdict.FASTER, Verdict.SLOWER)


def find(machine: Machine, effect: float, rng: np.random.Generator, *, pooled: bool) -> Finding:
    """Simulate one run and judge it; `pooled` asks for what others would have said, too."""
    logs = machine.logs(rng, len(ALTERNATING))
    measured = measure(make_run(logs, ALTERNATING, effect))
    by_metric = {c.metric: c for c in compare(measured, (), noise=NOISE, level=LEVEL)}
    medians = [np.array([quantile(c.latency_ms, 0.5) for c in measured.cells[node, "call"]]) for node in NODES]
    ratio, tail = by_metric["p50"].ratio, by_metric["p99"].ratio
    (floor,) = noise_floors(measured, LEVEL)
    assert ratio is not None
    assert tail is not None
    return Finding(
        verdict=by_metric["p50"].verdict,
        ratio=ratio,
        tail=tail,
        rank_p=pair(medians[0], medians[1], LEVEL).p,
        floor=floor.share,
        pooled=_pooled(logs, rng) if pooled else {},
    )


def _pooled(logs: Log, rng: np.random.Generator) -> dict[str, bool]:
    """Whether tests on all requests of two equal nodes see a difference."""
    told = {}
    for order, trials in (("one after the other", ONE_AFTER_THE_OTHER), ("alternating", ALTERNATING)):
        nodes = np.array([trial.node for trial in trials])
        one, other = (np.sort(logs[nodes == node].ravel()) for node in (0, 1))
        told[f"Mann-Whitney test, {order}"] = mannwhitneyu(one, other).pvalue < 1 - LEVEL
        told[f"bootstrap of the p50, {order}"] = _bootstrap_sees(one, other, rng)
    return told


def _bootstrap_sees(one: Floats, other: Floats, rng: np.random.Generator) -> bool:
    """Whether the percentile interval of the difference of medians leaves 0 out.

    The median of n values drawn again is one of them, and which is known without drawing: at n times the middle one of
    n uniform numbers, which is beta distributed.
    """

    def medians(ascending: Floats) -> Floats:
        n = len(ascending)
        middle = rng.beta(n // 2 + 1, n - n // 2, 1_000)
        drawn: Floats = ascending[np.minimum((middle * n).astype(int), n - 1)]
        return drawn

    low, high = np.quantile(medians(other) - medians(one), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return not low <= 0 <= high


def each(count: int, *key: int) -> Iterator[np.random.Generator]:
    """`count` generators of their own."""
    return (np.random.default_rng([SEED, *key, i]) for i in range(count))


def share(hits: Sequence[bool]) -> str:
    return f"{100 * sum(hits) / len(hits):.1f} %"


def table(title: str, heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table under a line that says what it shows."""
    rows = [(title, *heads), (":--", *("--:" for _ in heads)), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def equal_nodes(count: int) -> str:
    """False winners between two equal nodes."""
    found = [
        [find(m, 0.0, rng, pooled=k < count // 2) for k, rng in enumerate(each(count, 1, i))]
        for i, m in enumerate(MACHINES)
    ]
    lines = [
        ("**rpcbench names a winner**", *(f"**{share([f.names_a_winner for f in fs])}**" for fs in found)),
        ("its signed-rank test alone, p < 5 %", *(share([f.rank_p < 1 - LEVEL for f in fs]) for fs in found)),
        ("its interval alone leaves 1 out", *(share([not covers(f.ratio, 0) for f in fs]) for fs in found)),
    ]
    for name in found[0][0].pooled:
        seen = (share([f.pooled[name] for f in fs if f.pooled]) for fs in found)
        lines.append((f"all requests pooled: {name}", *seen))
    lines.append(("noise floor, middle of all runs", *(f"±{np.median([f.floor for f in fs]):.1%}" for fs in found)))
    return table("two equal nodes", [m.title for m in MACHINES], lines)


def unequal_nodes(count: int) -> str:
    """What is said of a node that takes 5 % longer."""
    found = [[find(m, EFFECT, rng, pooled=False) for rng in each(count, 2, i)] for i, m in enumerate(MACHINES)]
    verdicts = [Counter(f.verdict for f in fs) for fs in found]
    lines = [
        ("**found: slower**", *(f"**{v[Verdict.SLOWER] / count:.1%}**" for v in verdicts)),
        ("undecided", *(f"{v[Verdict.UNDECIDED] / count:.1%}" for v in verdicts)),
        ("wrong: same or faster", *(f"{(v[Verdict.SAME] + v[Verdict.FASTER]) / count:.1%}" for v in verdicts)),
        ("interval of the p50 holds the truth", *(share([covers(f.ratio, EFFECT) for f in fs]) for fs in found)),
        ("interval of the p99 holds the truth", *(share([covers(f.tail, EFFECT) for f in fs]) for fs in found)),
    ]
    return table("one node takes 5 % longer", [m.title for m in MACHINES], lines)


def covers(ratio: Estimate, effect: float) -> bool:
    return ratio.low <= 1 + effect <= ratio.high


def promised_rounds(count: int) -> str:
    """Whether the rounds that an undecided comparison asks for decide it, if mean and spread are what they seemed."""
    rule = Rule(NOISE, LEVEL, tests=1)
    lines: list[tuple[str, ...]] = []
    for effect, spread in ((0.03, 0.04), (0.05, 0.06), (0.0, 0.03)):
        seen = t_interval(_standard(ROUNDS) * spread + math.log1p(effect), LEVEL)
        more = rounds_to_decide(seen, rule.band, alpha=rule.alpha, tests=1, at_most=1_000)
        assert more is not None
        decided = []
        for rng in each(count, 3, len(lines)):
            later = np.exp(rng.normal(math.log1p(effect), spread, ROUNDS + more))
            paired = pair(np.ones_like(later), later, LEVEL)
            decided.append(judge(paired, paired.p, rule).verdict is not Verdict.UNDECIDED)
        lines.append((f"{effect:.0%} with rounds that scatter by {spread:.0%}", f"{more}", share(decided)))
    return table("true difference", ["more rounds asked for", "decided after them"], lines)


def _neighbourly(rng: np.random.Generator, n: int) -> Floats:
    """Normal values with standard deviation SIGMA that share ever less with the next REACH ones."""
    sums = np.cumsum(rng.normal(0, SIGMA / math.sqrt(REACH), n + REACH))
    values: Floats = sums[REACH:] - sums[:-REACH]
    return values


def _standard(n: int) -> Floats:
    """`n` values with mean 0 and standard deviation 1."""
    values = np.arange(n) - (n - 1) / 2
    standard: Floats = values / values.std(ddof=1)
    return standard


def percentiles(count: int) -> str:
    """Whether the interval of one node's percentile holds the truth. Logarithms do, as only their order counts."""
    cases: dict[str, Callable[[np.random.Generator], list[Log]]] = {
        "one run, requests independent": lambda rng: [rng.normal(0, SIGMA, 20_000)],
        f"one run, correlated over {REACH} requests": lambda rng: [_neighbourly(rng, 20_000)],
        "ten rounds, each with a speed of its own, 3 %": lambda rng: list(Machine(0.03, walks=False).logs(rng, ROUNDS)),
    }
    shown, lines = {"p50": 0.5, "p99": 0.99}, []
    for case, (title, draw) in enumerate(cases.items()):
        spread = math.hypot(SIGMA, 0.03) if case == 2 else SIGMA
        truth = {name: float(ndtri(q)) * spread for name, q in shown.items()}
        kept: dict[str, list[bool]] = {f"{method} {name}": [] for name in shown for method in ("ours", "plain")}
        for rng in each(count, 4, case):
            rounds = draw(rng)
            ours, ascending = percentile_intervals(rounds, LEVEL), np.sort(np.concatenate(rounds))
            for name, q in shown.items():
                low, high = order_statistics(len(ascending), q, LEVEL)
                kept[f"ours {name}"].append(ours[name].low <= truth[name] <= ours[name].high)
                kept[f"plain {name}"].append(ascending[low - 1] <= truth[name] <= ascending[high - 1])
        lines.append((title, *(share(hits) for hits in kept.values())))
    heads = [text for name in shown for text in (f"{name}, rpcbench", f"{name}, order statistics alone")]
    return table("95 % interval of one node's percentile holds the truth", heads, lines)


def tables(*, quick: bool) -> str:
    """All tables, with a line on what was simulated."""
    runs, small = (20, 20) if quick else (2_000, 400)
    parts = [equal_nodes(runs), unequal_nodes(runs // 2), promised_rounds(runs), percentiles(small)]
    said = f"{ROUNDS} rounds of {REQUESTS:,} requests on each node, noise band ±{NOISE:.0%}, seed {SEED}. Simulated "
    said += f"runs per column or line: {runs:,} in the first table, half of them for pooled requests, {runs // 2:,} in "
    said += f"the second, {runs:,} in the third, {small:,} in the last."
    return "\n\n".join([said, *parts]).replace("%", " %").replace("  %", " %")


def save(text: str) -> None:
    """Put the tables between the markers of the document."""
    document = DOCUMENT.read_text()
    before, _, rest = document.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"{DOCUMENT} has no place for the tables: {BEGIN} … {END}")
    DOCUMENT.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="How often the method is right.")
    parser.add_argument("--quick", action="store_true", help="a few runs, to see that it works")
    parser.add_argument("--save", action="store_true", help="put the tables into docs/method.md")
    asked = parser.parse_args()
    if asked.quick and asked.save:
        parser.error("--quick is too small to be saved")
    text = tables(quick=asked.quick)
    print(text)
    if asked.save:
        save(text)


if __name__ == "__main__":
    main()
