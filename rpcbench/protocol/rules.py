"""What may differ without being a difference: paths that do not count, and numbers that may lie apart."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

Step = str | int
_ANY = None  # the step that fits every member and every item

_STEP = re.compile(
    r"""\.(?P<name>\*|[A-Za-z_]\w*)"""
    r"""|\[(?:(?P<index>\d+)|(?P<any>\*)|(?P<quoted>"(?:[^"\\]|\\.)*")|'(?P<single>[^']*)'|(?P<label>[^\]"']+))\]"""
)
_LONGEST_NUMBER = 66  # characters: 0x and 256 bits; longer hex is data


class Label(str):
    """The step to an item of a set, named after what identifies it: `address=0x12`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A JSON path such as `$.transactions[*].max_fee`; `.*` and `[*]` both fit any member and any item."""

    steps: tuple[Step | None, ...]

    def fits(self, path: Sequence[Step]) -> bool:
        """Whether `path` leads to what this pattern means."""
        return len(path) == len(self.steps) and all(
            wanted is _ANY or wanted == step for wanted, step in zip(self.steps, path, strict=True)
        )


def parse_pattern(text: str) -> PathPattern:
    """Reads a JSON path. Raises ValueError with a sentence's end that says what to write."""
    if not text.startswith("$"):
        raise ValueError("does not begin with $; write a path such as $.transactions[*].max_fee")
    steps: list[Step | None] = []
    at = 1
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None:
            raise ValueError(f"cannot be read from `{text[at : at + 20]}` on; write .name, [3], [*], .* or ['a name']")
        steps.append(_step(match))
        at = match.end()
    return PathPattern(tuple(steps))


def _step(match: re.Match[str]) -> Step | None:
    if match["any"] or match["name"] == "*":
        return _ANY
    if match["index"]:
        return int(match["index"])
    if match["quoted"]:
        try:
            return str(json.loads(match["quoted"]))
        except ValueError:
            raise ValueError(f"holds {match['quoted']}, which is no JSON string; write ['a name']") from None
    return match["name"] or match["label"] or match["single"]


def written(path: Sequence[Step]) -> str:
    """A path as `parse_pattern` reads it: `$.state_diff.storage_diffs[address=0x12]`."""
    return "$" + "".join(_written_step(step) for step in path)


def _written_step(step: Step) -> str:
    if isinstance(step, int | Label):
        return f"[{step}]"
    return f".{step}" if re.fullmatch(r"[A-Za-z_]\w*", step, re.ASCII) else f"[{json.dumps(step)}]"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Numbers at `path` count as equal up to `absolute`, or up to `relative` times the larger of them."""

    path: PathPattern
    relative: float = 0.0
    absolute: float = 0.0

    def covers(self, left: float, right: float) -> bool:
        """Whether the two are near enough."""
        return abs(left - right) <= max(self.absolute, self.relative * max(abs(left), abs(right)))


def number(value: Any) -> float | None:
    """A JSON number, or hex that can be one, as a number that can be calculated with; None for anything else."""
    if isinstance(value, str) and len(value) <= _LONGEST_NUMBER and re.fullmatch(r"0x[0-9a-fA-F]+", value):
        return int(value, 16)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < 2**1000 and math.isfinite(value) else None


@dataclass(frozen=True, slots=True)
class Rules:
    """What counts when two answers to one method are compared. Of several tolerances the first that fits decides."""

    ignored: tuple[PathPattern, ...] = ()
    tolerances: tuple[Tolerance, ...] = ()

    def ignores(self, path: Sequence[Step]) -> bool:
        """Whether what is at `path`, and below, does not count."""
        return any(pattern.fits(path) for pattern in self.ignored)

    def tolerance(self, path: Sequence[Step]) -> Tolerance | None:
        """How far numbers at `path` may lie apart, None where they must be equal."""
        return next((tolerance for tolerance in self.tolerances if tolerance.path.fits(path)), None)


@dataclass(frozen=True, slots=True)
class RuleBook:
    """Rules for methods, by name or pattern (`starknet_trace*`), on top of the ones that always hold."""

    entries: tuple[tuple[str, Rules], ...] = field(default=())

    def rules_for(self, method: str) -> Rules:
        """All that holds for `method`; what the book says goes before what always holds."""
        found = [rules for pattern, rules in (*self.entries, *_ALWAYS) if fnmatchcase(method, pattern)]
        return Rules(
            tuple(pattern for rules in found for pattern in rules.ignored),
            tuple(tolerance for rules in found for tolerance in rules.tolerances),
        )


def _within(relative: float, path: str) -> Rules:
    return Rules(tolerances=(Tolerance(parse_pattern(path), relative),))


# Estimates are searched for or priced by each client in its own way.
_ALWAYS = (
    ("starknet_estimateFee", _within(0.1, "$[*].*")),
    ("starknet_estimateMessageFee", _within(0.1, "$.*")),
    ("starknet_simulateTransactions", _within(0.1, "$[*].fee_estimation.*")),
    ("eth_estimateGas", _within(0.02, "$")),
    ("eth_createAccessList", _within(0.02, "$.gasUsed")),
)
