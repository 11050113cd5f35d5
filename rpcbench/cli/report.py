"""`rpcbench report`: everything that follows from a recorded run, made again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rpcbench.cli.compare import show_answer


def report(
    path: Annotated[Path, typer.Argument(metavar="RUN", help="A run directory, for example results/2026…-mixed-1a2b.")],
) -> None:
    """Rebuild a run's tables, plots and reports from its record, and print the answer."""
    from rpcbench.run import rebuild

    outcome = rebuild(path.parent if path.name == "run.json" else path)
    show_answer(outcome)
    # An interrupted run that can be reported is a success of this command; an invalid one stays invalid.
    raise typer.Exit(outcome.verdict_code)
