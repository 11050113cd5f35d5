"""Figures as people read them: three significant digits, a unit, and a dash where nothing was measured."""

from __future__ import annotations

from math import ceil, floor, isfinite, log10

from rpcbench.model.verdict import Estimate

DASH = "–"


def significant(value: float, digits: int = 3) -> str:
    """`value` with that many significant digits and grouped thousands: 0.0421, 2.31, 12.4, 12,061."""
    if not isfinite(value):
        return DASH
    if value == 0:
        return "0"
    magnitude = floor(log10(abs(value)))
    rounded = round(value, digits - 1 - magnitude)
    # Rounding may carry into the next decade: 9.999 has two decimals, 10.00 only one.
    decimals = max(0, digits - 1 - floor(log10(abs(rounded))))
    return f"{rounded:,.{decimals}f}"


def duration(milliseconds: float) -> str:
    """A latency in the unit that suits it: 231 µs, 2.31 ms, 1.20 s."""
    if not isfinite(milliseconds):
        return DASH
    if abs(milliseconds) < 0.9995:
        return f"{significant(milliseconds * 1e3)} µs"
    if abs(milliseconds) < 999.5:
        return f"{significant(milliseconds)} ms"
    return f"{significant(milliseconds / 1e3)} s"


def count(n: int) -> str:
    """A whole number with grouped thousands."""
    return f"{n:,}"


def rate(per_second: float) -> str:
    """Requests per second: whole from 100 on, three digits below."""
    if not isfinite(per_second):
        return DASH
    return f"{per_second:,.0f}" if per_second >= 99.95 else significant(per_second)


def percent(fraction: float) -> str:
    """A share: 4 %, 0.1 %; never 0 % or 100 % for what is not quite none or all."""
    if not isfinite(fraction):
        return DASH
    hundredths = fraction * 100
    if 0 < hundredths < 0.01:
        return "< 0.01 %"
    if 99.95 <= hundredths < 100:
        return "> 99.9 %"
    return f"{hundredths:.0f} %" if hundredths >= 9.95 or hundredths == 0 else f"{_short(hundredths)} %"


def band(fraction: float) -> str:
    """The half-width of a band around no change, rounded up so that the claim stays true: 1 %, 0.4 %."""
    hundredths = fraction * 100
    decimals = 0 if hundredths >= 2 else 1
    step = 10**decimals
    return f"{ceil(round(hundredths * step, 6)) / step:.{decimals}f}".removesuffix(".0") + " %"


def size(n_bytes: float) -> str:
    """Bytes in decimal units: 812 B, 14.2 kB, 0.4 GB."""
    if not isfinite(n_bytes):
        return DASH
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if (n_bytes >= 0.1 * step and step > 1e3) or n_bytes >= step:
            return f"{_short(n_bytes / step)} {unit}" if n_bytes < 10 * step else f"{n_bytes / step:,.0f} {unit}"
    return f"{n_bytes:.0f} B"


def clock(seconds: float) -> str:
    """A span as minutes and seconds, with hours where needed: 1:04, 2:03:09."""
    whole = max(0, round(seconds)) if isfinite(seconds) else 0
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def span(nanoseconds: int) -> str:
    """A duration as it is typed: 500ms reads as 500 ms, 3s as 3 s, 90s as 1:30 min."""
    if nanoseconds < 1_000_000_000:
        return f"{nanoseconds / 1e6:g} ms"
    if nanoseconds < 60_000_000_000:
        return f"{nanoseconds / 1e9:g} s"
    return f"{clock(nanoseconds / 1e9)} min"


def ratio(value: float, decimals: int = 2) -> str:
    """A ratio with fixed decimals; large ones lose what they do not need."""
    if not isfinite(value):
        return DASH
    return f"{value:,.{decimals if value < 10 else 1 if value < 100 else 0}f}"


def ratio_decimals(estimate: Estimate) -> int:
    """As few decimals (2 to 4) as keep the bounds apart, and off 1.00 where both lie on one side of it."""
    low, high = estimate.low, estimate.high
    for decimals in (2, 3):
        rounded = {round(bound, decimals) for bound in (low, high) if isfinite(bound)}
        if len(rounded) > 1 and not (1 in rounded and (low > 1 or high < 1)):
            return decimals
    return 4


def interval(estimate: Estimate) -> str:
    """The bounds of an estimate of a ratio: [1.31, 1.42]."""
    decimals = ratio_decimals(estimate)
    return f"[{ratio(estimate.low, decimals)}, {ratio(estimate.high, decimals)}]"


def inverse(estimate: Estimate) -> Estimate:
    """The same ratio told from the other side, its bounds swapped."""
    return Estimate(1 / estimate.value, 1 / estimate.high, 1 / estimate.low, estimate.level, estimate.n)


def _short(value: float) -> str:
    """One or two significant digits below ten, without a trailing zero: 4, 0.4, 1.5, 0.04."""
    text = significant(value, 2)
    return text.rstrip("0").rstrip(".") if "." in text else text
