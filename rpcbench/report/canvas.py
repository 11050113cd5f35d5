"""What all plots share: paper, colours that colour-blind eyes tell apart, latency axes, the mark of a simulated run.

matplotlib is imported when a plot is made, drawn off screen (Agg), and its global state is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from math import isfinite, log10
from typing import TYPE_CHECKING, Any

from rpcbench.model.run import Run
from rpcbench.report.asked import asked
from rpcbench.report.foreign import tame
from rpcbench.report.numbers import duration
from rpcbench.report.sentences import SIMULATED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis
    from matplotlib.figure import Figure

DPI = 150
INK, SOFT, GRID, WASH, ALARM = "#1b2230", "#5b6577", "#e3e6ec", "#f1f3f6", "#c0162c"
_NAME_LIMIT = 28

# Okabe and Ito's palette, the darkest first; marker and dash repeat the distinction where colour is lost.
_HUES = ("#0072b2", "#d55e00", "#009e73", "#a3508a", "#7a6a00", "#56b4e9", "#404040", "#e69f00")
_MARKERS = "osD^vPX*"
_DASHES = ("-", (0, (6, 1.5)), (0, (4, 1, 1, 1)), (0, (1.5, 1)))
_STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.parse_math": False,  # a dollar sign in a node's name is a dollar sign
    "axes.edgecolor": SOFT,
    "axes.labelcolor": SOFT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "grid.color": GRID,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "text.color": INK,
    "legend.frameon": False,
}


@dataclass(frozen=True, slots=True)
class Ink:
    """How one node is drawn, the same in every plot."""

    label: str
    colour: str
    marker: str
    dash: object


def inks(run: Run) -> tuple[Ink, ...]:
    """One ink per node, in the run's order."""
    return tuple(
        Ink(label(name), _HUES[i % len(_HUES)], _MARKERS[i % len(_MARKERS)], _DASHES[i % len(_DASHES)])
        for i, name in enumerate(run.nodes)
    )


def label(name: str) -> str:
    """A name fit for a plot. matplotlib hides legend entries that begin with an underscore, hence the thin space."""
    return f"\u200a{tame(name, _NAME_LIMIT)}" if name.startswith("_") else tame(name, _NAME_LIMIT)


@contextmanager
def sheet(run: Run, title: str, inches: tuple[float, float]) -> Iterator[Figure]:
    """An empty figure with its title, what was asked below it, and the mark of a simulated run."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure(figsize=inches, dpi=DPI, layout="constrained", facecolor="white")
        simulated = f" · {SIMULATED}" if run.simulated else ""
        figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold")
        figure.supxlabel(asked(run.scenario, len(run.nodes)) + simulated, x=0.01, ha="left", fontsize=8, color=SOFT)
        yield figure
        if run.simulated:
            stamp: dict[str, Any] = {"rotation": 20, "fontsize": 52, "fontweight": "bold", "color": SOFT, "alpha": 0.13}
            figure.text(0.5, 0.5, "SIMULATED", ha="center", va="center", zorder=10, **stamp)


def png(figure: Figure) -> bytes:
    """The figure as a PNG file. A glyph the font lacks is drawn as a box, which is no reason to warn anybody."""
    import warnings

    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    buffer = BytesIO()
    with rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        FigureCanvasAgg(figure).print_png(buffer)  # type: ignore[no-untyped-call]
    return buffer.getvalue()


def tint(colour: str, strength: float) -> tuple[float, float, float]:
    """`colour` thinned with white, opaque: what lies behind it must not change it."""
    from matplotlib.colors import to_rgb

    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(colour))
    return red, green, blue


def latency_scale(axis: XAxis | YAxis, values_ms: Iterable[float], room: float = 0.0) -> None:
    """A logarithmic axis of latency that spans `values_ms`, ticks with units, and leaves a share of `room` below."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

    known = [v for v in values_ms if isfinite(v) and v > 0]
    low, high = (min(known) / 1.15, max(known) * 1.15) if known else (1.0, 10.0)
    low /= (high / low) ** room
    axis.axes.set(xscale="log", xlim=(low, high)) if axis.axis_name == "x" else axis.axes.set(
        yscale="log", ylim=(low, high)
    )
    axis.set_major_locator(FixedLocator(_ticks(low, high)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def _ticks(low: float, high: float) -> list[float]:
    """Round values between the two, as dense as labels can be read."""
    decades = log10(high / low)
    dense: tuple[float, ...] = (1, 1.5, 2, 3, 4, 5, 6, 8) if decades < 0.7 else (1, 2, 5)
    steps = dense if decades < 2.2 else (1, 3) if decades < 3.2 else (1,)
    return [step * 10.0**e for e in range(-5, 7) for step in steps if low <= step * 10.0**e <= high]


def _tick(milliseconds: float) -> str:
    """231 µs keeps its digits, 2.00 ms does not need them."""
    number, unit = duration(milliseconds).split()
    return f"{float(number.replace(',', '')):g} {unit}"


def nothing(axes: Axes, why: str, keep_x: bool = False) -> None:
    """An empty plot that says why it is empty."""
    axes.set(yticks=[], ylabel="", **({} if keep_x else {"xticks": []}))
    axes.text(0.5, 0.5, why, ha="center", va="center", color=SOFT, transform=axes.transAxes)
