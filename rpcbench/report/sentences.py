"""The answer in words: one sentence per comparison, and what must be said of the whole run.

A sentence takes the side on which its ratio is above one, so that "1.36 times as long" and "1.36 times as fast" both
read as they are meant; its interval is turned round with it. An invalid comparison names no winner, in any words.
"""

from __future__ import annotations

from collections.abc import Sequence

from rpcbench.analysis.decision import MORE_ROUNDS_AT_MOST
from rpcbench.model.verdict import Comparison, Estimate, Judgement, Summary, ThresholdResult, Verdict
from rpcbench.report.foreign import tame
from rpcbench.report.numbers import band, count, duration, interval, inverse, rate, ratio, ratio_decimals

NO_WINNER = "this run names no winner"
SIMULATED = "simulated nodes: figures show how rpcbench works, not how these clients perform"

# What a metric is called at the end of a sentence.
_MEASURE = {
    "p50": "at the median",
    "p90": "at the 90th percentile",
    "p95": "at the 95th percentile",
    "p99": "at the 99th percentile",
    "mean": "on average",
}
_RATE = "rate"


def measure(metric: str) -> str:
    """What `metric` looks at, in words."""
    return _MEASURE.get(metric, f"by {metric.replace('_', ' ')}")


def sentence(comparison: Comparison) -> str:
    """What the run says of one node against the base on one call."""
    call, base, other = tame(comparison.call), tame(comparison.base), tame(comparison.other)
    match comparison.verdict:
        case Verdict.INVALID:
            return f"{call} is not compared between {other} and {base}"
        case Verdict.UNDECIDED:
            return f"{call}: {_undecided(comparison, base, other)}"
        case Verdict.SAME:
            return f"{call}: no difference between {other} and {base}{_beyond(comparison.ratio)}"
        case Verdict.SLOWER | Verdict.FASTER:
            return _difference(comparison, call, base, other)
        case Verdict.FEWER | Verdict.MORE:
            return f"{other} fails {comparison.verdict} {call} requests than {base}"


def _difference(comparison: Comparison, call: str, base: str, other: str) -> str:
    at, found = measure(comparison.metric), comparison.ratio
    if found is None:
        return f"{other} is {comparison.verdict} than {base} for {call} {at}"
    if comparison.metric == _RATE:
        return f"{other} serves {_times(found)} as many {call} per second as {base} {interval(found)}"
    if comparison.verdict is Verdict.SLOWER:
        return f"{other} takes {_times(found)} as long as {base} for {call} {at} {interval(found)}"
    turned = inverse(found)
    return f"{other} answers {call} {_times(turned)} as fast as {base} {at} {interval(turned)}"


def alone(summary: Summary) -> str:
    """What the run says of one node on one call when there is no other node to compare with."""
    node, call = tame(summary.node), tame(summary.call)
    if not summary.answered:
        return f"{node} answered no {call} request"
    latency = summary.latency_ms
    median = f"{node} answers {call} in {duration(latency.p50)} at the median"
    if known := summary.latency_intervals_ms.get("p50"):
        median += f" [{duration(known.low)}, {duration(known.high)}]"
    return f"{median}, {duration(latency.p99)} at p99, {rate(summary.rate_per_s)} per second"


def doubted(summary: Summary) -> str:
    """What is left to say where a notice voids the figures of one node alone."""
    return f"the figures of {tame(summary.call)} on {tame(summary.node)} are void"


def routing(routes: Sequence[tuple[str, str]]) -> str:
    """Which node to send which call to, where that is more than one node; `routes` are (call, node)."""
    nodes = dict.fromkeys(node for _, node in routes)
    if len(nodes) < 2:
        return ""
    best = (f"{', '.join(tame(call) for call, n in routes if n == node)} to {tame(node)}" for node in nodes)
    return f"by call, send {'; '.join(best)}"


def judged(results: Sequence[ThresholdResult]) -> str:
    """How the thresholds came out; a missed one that was only to warn is counted as what it is."""
    warned = sum(t.warn and t.outcome is Judgement.FAIL for t in results)
    counted = {
        "failed": sum(t.missed for t in results),
        "missed with a warning": warned,
        "inconclusive": sum(t.outcome is Judgement.INCONCLUSIVE for t in results),
        "passed": sum(t.outcome is Judgement.PASS for t in results),
    }
    told = ", ".join(f"{n} {word}" for word, n in counted.items() if n)
    return f"thresholds: {told}" if told else ""


def interrupted(finished: int, planned: int) -> str:
    """What an interrupted run rests on."""
    if not finished:
        return "interrupted before the first trial was finished"
    return f"interrupted: {finished} of {planned} trials were finished, and the figures rest on those alone"


def _times(estimate: Estimate) -> str:
    return f"{ratio(estimate.value, ratio_decimals(estimate))} times"


def _beyond(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    return f" beyond ±{band(max(abs(estimate.low - 1), abs(estimate.high - 1)))}"


def _undecided(comparison: Comparison, base: str, other: str) -> str:
    """Why there is no verdict: too small to be shown, or the reason that the analysis gives."""
    pair, found, why = f"between {other} and {base}", comparison.ratio, tame(comparison.reason)
    if comparison.detectable is None:
        return f"no verdict {pair}: {why}" if why else f"no verdict {pair}"
    would = f"this run would have seen {band(comparison.detectable)}"
    if (more := comparison.more_rounds) is not None:
        would += f", and about {count(more)} more round{'s' * (more != 1)} would decide"
    else:
        would += f", and {MORE_ROUNDS_AT_MOST} more rounds would hardly decide"
    if found and not found.low <= 1 <= found.high:
        return f"the difference {pair} may be no more than noise; {would}"
    return f"no difference shown {pair}; {would}"
