"""Every file that is derived from a run: what it is called, and how to write it. All of it can be made again."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, BinaryIO

from rpcbench.model.run import Run, RunInfo
from rpcbench.model.verdict import Analysis
from rpcbench.report.document import build

if TYPE_CHECKING:
    import pandas as pd

Writer = Callable[[BinaryIO], object]


def render_all(info: RunInfo, run: Run, analysis: Analysis) -> list[tuple[str, Writer]]:
    """Every derived file as (path in the run's directory, function that writes it to a binary file).

    Nothing is made before it is written, and no picture twice.
    """
    from rpcbench.analysis import tables
    from rpcbench.report import figures, html, markdown

    document = build(info, run, analysis)

    @cache
    def png(path: str) -> bytes:
        return figures.draw(path, run, analysis)

    def csv(make: Callable[[], pd.DataFrame]) -> Writer:
        """A table whose every line says whether the nodes were simulated: lines travel without their report."""
        return lambda file: (
            make()
            .assign(simulated=run.simulated)
            .to_csv(file, index=False, float_format=tables.FLOAT_FORMAT, lineterminator="\n")
        )

    paths = [picture.path for picture in document.pictures]
    return [
        ("requests.csv", csv(lambda: tables.requests_table(run))),
        ("summary.csv", csv(lambda: tables.summary_table(analysis))),
        ("compare.csv", csv(lambda: tables.compare_table(analysis))),
        ("timeline.csv", csv(lambda: tables.timeline_table(run))),
        ("report.md", _bytes(lambda: markdown.render(document).encode())),
        *((path, _bytes(partial(png, path))) for path in paths),
        ("report.html", _bytes(lambda: html.render(document, {path: png(path) for path in paths}).encode())),
    ]


def _bytes(make: Callable[[], bytes]) -> Writer:
    return lambda file: file.write(make())
