"""Lengths of time as fingers write them: `500ms`, `3s`, `1m30s`, `2` (seconds)."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import pairwise

from rpcbench.errors import SpecError

_UNITS_NS = {
    "h": 3_600_000_000_000,
    "m": 60_000_000_000,
    "s": 1_000_000_000,
    "ms": 1_000_000,
    "us": 1_000,
    "ns": 1,
}
_PART = r"(\d+(?:\.\d+)?)(h|ms|m|s|us|ns)"
_LONGEST_NS = 7 * 24 * _UNITS_NS["h"]


def parse_duration_ns(text: str, *, least_ns: int = 1) -> int:
    """Nanoseconds, at least `least_ns`. Raises SpecError with a sentence that says what would be right."""
    bare = text.strip().removeprefix("+")
    if bare.startswith("-"):
        raise SpecError(f"the duration {text!r} is negative; write one above zero, such as 3s")
    total = _total_ns(bare)
    if total is None:
        raise SpecError(f"{text!r} is no duration; write 500ms, 3s or 1m30s (a bare number means seconds)")
    if total < least_ns:
        raise SpecError(f"the duration {text!r} is zero; write one above zero, such as 3s")
    if total > _LONGEST_NS:
        raise SpecError(f"the duration {text!r} is longer than a week; write a shorter one")
    return total


def _total_ns(text: str) -> int | None:
    """The sum of the parts, each unit once and the larger first; None where that is not what `text` is."""
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return int(Decimal(text) * _UNITS_NS["s"])
    if not re.fullmatch(f"({_PART})+", text):
        return None
    parts = re.findall(_PART, text)
    sizes = [_UNITS_NS[unit] for _, unit in parts]
    if any(later >= earlier for earlier, later in pairwise(sizes)):
        return None
    return int(sum(Decimal(number) * size for (number, _), size in zip(parts, sizes, strict=True)))


def format_duration(duration_ns: int) -> str:
    """The shortest way to write it that `parse_duration_ns` reads back exactly: `1m30s`, `1.5s`, `500ms`, `0s`."""
    text, rest = "", duration_ns
    for unit in ("h", "m"):
        whole, rest = divmod(rest, _UNITS_NS[unit])
        text += f"{whole}{unit}" if whole else ""
    if rest or not text:
        small = next((u for u in ("s", "ms", "us", "ns") if rest >= _UNITS_NS[u]), "s")
        text += f"{(Decimal(rest) / _UNITS_NS[small]).normalize():f}{small}"
    return text
