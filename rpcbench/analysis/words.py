"""How figures read in the sentences of notices and reasons."""

from __future__ import annotations

from collections.abc import Sequence


def percent(share: float) -> str:
    """A share that reads as 0 % or 100 % only when it is exactly that: 12 %, 4.3 %, 99.6 %, under 0.1 %."""
    hundredths = share * 100
    if 0 < hundredths < 0.05:
        return "under 0.1 %"
    if 99.95 <= hundredths < 100:
        return "over 99.9 %"
    whole = 9.95 <= hundredths < 98.5 or hundredths >= 100
    return f"{hundredths:.0f} %" if whole else f"{hundredths:.1f} %".replace(".0 ", " ")


def listed(parts: Sequence[str]) -> str:
    """Parts as a phrase: a; a and b; a, b and c."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def counted(count: int, noun: str) -> str:
    """A count and its noun: 1 round, 4,812 requests."""
    return f"{count:,} {noun}{'s' * (count != 1)}"
