"""A calibration on one screen: three small tables, and what their figures mean."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from rpcbench.model.ruler import SAFE_SHARE_OF_CEILING, Ceiling, Ruler
from rpcbench.report.numbers import count, duration, percent, rate, significant, size
from rpcbench.report.terminal import show_parts

# Below this part of a core it was not the generator that could do no more.
_GENERATOR_AT_ITS_END = 0.8


def show_ruler(ruler: Ruler, to: Console) -> None:
    """Print all that was measured."""
    show_parts(_parts(ruler), to)


def added(ruler: Ruler) -> str:
    """What the generator adds to a service time, as it is quoted beside results."""
    return duration(ruler.reference.error_p50_us / 1e3)


def _parts(ruler: Ruler) -> Iterator[RenderableType]:
    ceilings = (ruler.small, ruler.large)
    yield _table(
        ("ceiling: as fast as it goes", "requests/s", "CPU each", "of a core"),
        [(f"replies of {size(c.reply_bytes)}", *_ceiling_cells(c)) for c in ceilings],
    )
    safe = " and ".join(rate(SAFE_SHARE_OF_CEILING * c.rate_per_s) for c in ceilings)
    yield _means(f"Ask for no more than {percent(SAFE_SHARE_OF_CEILING)} of it, {safe} per second.")
    if min(c.cpu_share for c in ceilings) < _GENERATOR_AT_ITS_END:
        yield _means("It had part of its core left: the machine was busy, or the null server was the slower one.")
    floor = ruler.floor
    yield _table(
        ("floor: one request at a time", "p50", "p99"),
        [
            ("service time as measured", *_us(floor.service_p50_us, floor.service_p99_us)),
            ("the server's own part", *_us(floor.server_p50_us, floor.server_p99_us)),
        ],
    )
    yield _means("No node can look faster than this from here.")
    yield _table(
        ("open loop, Poisson", "sent late p50", "p99", "added to times p50", "p99"),
        [
            (f"{count(p.rate_per_s)}/s", *_us(p.lag_p50_us, p.lag_p99_us), *_us(p.error_p50_us, p.error_p99_us))
            for p in ruler.paces
        ],
    )
    yield _means(
        f"A node that takes t to answer is measured at about t + {added(ruler)}; both nodes of a comparison alike."
    )


def _ceiling_cells(c: Ceiling) -> tuple[str, ...]:
    return rate(c.rate_per_s), f"{significant(c.cpu_us_per_request)} µs", percent(c.cpu_share)


def _us(*values_us: float) -> tuple[str, ...]:
    return tuple(duration(value / 1e3) for value in values_us)


def _table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> RenderableType:
    table = Table(box=None, padding=(0, 3, 0, 0), pad_edge=False, header_style="bold")
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="right" if i else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def _means(sentence: str) -> Text:
    return Text(f"{sentence}\n", "dim")
