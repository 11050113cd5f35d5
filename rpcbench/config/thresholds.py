"""Thresholds as people write them: `p99<200ms`, `getEvents.errors<1%`, `warn: p50(pathfinder)/p50(juno)<=1.1`.

    [warn:] [call.]metric[(node)]              < | <= | > | >=   value
    [warn:] [call.]metric(node)/metric(base)   < | <= | > | >=   ratio

A metric is one that reports show: the percentiles of latency p50, p90, p95 and p99, its mean, the rate of answers per
second, or errors, the share of requests that failed. Times have a unit, shares a percent sign, rates may end in /s,
ratios have none.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import NoReturn

from rpcbench.config.durations import parse_duration_ns
from rpcbench.errors import SpecError
from rpcbench.model.threshold import Threshold, Unit
from rpcbench.protocol.kinds import nearest

_EXAMPLE = "getEvents.p99<200ms"
_METRICS = ("p50", "p90", "p95", "p99", "mean", "rate", "errors")
PAIRED = ("p50", "p90", "p99", "mean", "rate")  # those that have a ratio between nodes
_RELATIONS = ("<", "<=", ">", ">=")
_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
# As little as possible is the call, so that p99.9 is refused as one word.
_TERM = re.compile(
    r"\s*(?:(?P<call>[^()]+?)\.)??(?P<metric>p[0-9.]+|[^().\s]+)\s*(?P<brackets>\(\s*(?P<node>[^()\s]+)\s*\))?\s*"
)


def parse_threshold(text: str, calls: Collection[str] | None = None, nodes: Collection[str] | None = None) -> Threshold:
    """Read one threshold. Raises SpecError with a sentence about the place that is wrong.

    `calls` are the labels and `nodes` the names that it may speak of; None lets any through.
    """
    found = re.search(r"[<>=!≤≥]+", text)
    if found is None:
        raise SpecError(f"there is no <, <=, > or >=; write a threshold such as {_EXAMPLE}")
    relation = _Piece(found[0], found.start())
    if relation.text not in _RELATIONS:
        relation.wrong(f"is none of {', '.join(_RELATIONS)}; write one of these")
    begin, warn = _prefix(text[: relation.at])
    upper, lower = _figure(_Piece(text[begin : relation.at], begin))
    _check_names([upper, lower] if lower else [upper], calls, nodes)
    unit = Unit.RATIO if lower else _UNIT.get(upper.metric.text, Unit.MS)
    return Threshold(
        text=text.strip(),
        metric=upper.metric.text,
        relation=relation.text,
        limit=_limit(unit, _Piece(text[found.end() :], found.end())),
        unit=unit,
        call=upper.call.text if upper.call else None,
        node=upper.node.text if upper.node else None,
        base=lower.node.text if lower and lower.node else None,
        warn=warn,
    )


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a threshold, and where it begins: from 0 here, from 1 in sentences."""

    text: str
    at: int

    def wrong(self, message: str) -> NoReturn:
        """Raises SpecError about this piece."""
        bare = self.text.strip()
        start = self.at + len(self.text) - len(self.text.lstrip()) + 1
        raise SpecError(f"`{bare if len(bare) <= 40 else bare[:39] + '…'}` (character {start}) {message}")


@dataclass(frozen=True, slots=True)
class _Term:
    """`[call.]metric[(node)]`"""

    whole: _Piece
    call: _Piece | None
    metric: _Piece
    node: _Piece | None


def _prefix(left: str) -> tuple[int, bool]:
    """Where the metric begins, and whether `warn:` stands before it."""
    word, colon, _ = left.partition(":")
    # A colon in brackets belongs to a node that is called host:port.
    if not colon or "(" in word:
        return 0, False
    if word.strip() != "warn":
        _Piece(word, 0).wrong(f"may not stand before a threshold; write warn: or nothing, as in {_EXAMPLE}")
    return len(word) + 1, True


def _figure(left: _Piece) -> tuple[_Term, _Term | None]:
    """What is before the relation: one term, or a fraction of two."""
    above, slash, below = left.text.partition("/")
    upper = _term(_Piece(above, left.at))
    if not slash:
        return upper, None
    lower = _term(_Piece(below, left.at + len(above) + 1))
    if upper.metric.text not in PAIRED:
        upper.metric.wrong(f"has no ratio between nodes; write one of {', '.join(PAIRED)}")
    other_call = lower.call and (not upper.call or lower.call.text != upper.call.text)
    if lower.metric.text != upper.metric.text or other_call:
        lower.whole.wrong("is another figure than before the `/`; write the same on both sides")
    for term in (upper, lower):
        if term.node is None:
            term.whole.wrong(f"does not say on which node; write {term.metric.text}(node)")
    if upper.node and lower.node and upper.node.text == lower.node.text:
        lower.node.wrong("stands on both sides of the `/`; name two nodes")
    return upper, lower


def _term(whole: _Piece) -> _Term:
    if not whole.text.strip():
        raise SpecError(f"there is no metric at character {whole.at + 1}; write one of {', '.join(_METRICS)}")
    found = _TERM.fullmatch(whole.text)
    if found is None:
        whole.wrong(f"is not of the form call.metric(node); write it as in {_EXAMPLE} or p99(juno)<200ms")
    pieces = {
        name: _Piece(found[name], whole.at + found.start(name)) for name in ("call", "metric", "node") if found[name]
    }
    metric = pieces["metric"]
    if metric.text not in _METRICS:
        meant = f"p{found['node']}"
        told = f"write {meant}, without brackets" if meant in _METRICS else f"write one of {', '.join(_METRICS)}"
        # The p(95) of other tools is not p on a node of that name.
        in_brackets = metric.text == "p" and found["brackets"]
        (_Piece(f"p{found['brackets']}", metric.at) if in_brackets else metric).wrong(f"is no metric; {told}")
    return _Term(whole, pieces.get("call"), metric, pieces.get("node"))


def _check_names(terms: list[_Term], calls: Collection[str] | None, nodes: Collection[str] | None) -> None:
    """Raises SpecError for a call or a node that there is not."""
    for term in terms:
        for piece, known, what in ((term.call, calls, "call of this scenario"), (term.node, nodes, "node of this run")):
            if piece and known is not None and piece.text not in known:
                near = nearest(piece.text, known)
                piece.wrong(f"is no {what}; " + (f"did you mean {near}?" if near else f"write {' or '.join(known)}"))


_UNIT = {"errors": Unit.SHARE, "rate": Unit.PER_S}
_SUFFIX = {Unit.SHARE: r"\s*%", Unit.PER_S: r"(?:\s*/\s*s)?", Unit.RATIO: ""}
_WHAT = {Unit.MS: "a time", Unit.SHARE: "a share of requests", Unit.PER_S: "a rate", Unit.RATIO: "a ratio"}
_LACKS = {Unit.MS: "has no unit", Unit.SHARE: "has no percent sign"}
_RIGHT = {
    Unit.MS: "a time above zero with its unit, such as 200ms or 1.5s",
    Unit.SHARE: "a share above 0% and below 100%, such as 0.1%",
    Unit.PER_S: "answers per second, above 0, such as 100",
    Unit.RATIO: "a number above 0 without a unit, such as 1.05",
}


def _limit(unit: Unit, right: _Piece) -> float:
    """What stands behind the relation, in `unit`. No sample can show that a share is 0 or a time none."""
    value = right.text.strip()
    if not value:
        raise SpecError(f"there is no value at character {right.at + 1}; write {_RIGHT[unit]}")
    found = _milliseconds(value) if unit is Unit.MS else _number(value, _SUFFIX[unit])
    if unit is Unit.SHARE and found is not None:
        found = round(found / 100, 12) if found < 100 else None
    if not found:
        bare = unit in _LACKS and re.fullmatch(_NUMBER, value)
        right.wrong(f"{_LACKS[unit] if bare else f'is no limit for {_WHAT[unit]}'}; write {_RIGHT[unit]}")
    return found


def _milliseconds(value: str) -> float | None:
    """A time that has a unit; None for anything else."""
    if re.fullmatch(_NUMBER, value):
        return None
    together = re.sub(r"(?<=[0-9])\s+(?=[a-z])", "", re.sub("[µμ]", "u", value))
    try:
        return parse_duration_ns(together) / 1e6
    except SpecError:
        return None


def _number(value: str, suffix: str) -> float | None:
    match = re.fullmatch(f"({_NUMBER}){suffix}", value)
    return float(match[1]) if match else None
