"""`rpcbench calibrate`: how fast and how exact the load generator is on this machine."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer


def calibrate(
    quick: Annotated[bool, typer.Option("--quick", help="In about 5 seconds instead of 20, and rougher.")] = False,
) -> None:
    """Measure how fast and how exact the load generator is on this machine.

    It is set against a server on 127.0.0.1 that does nothing but answer and note the time. The result is kept, and
    every later run states it beside its figures. Do this while the machine is as quiet as it will be during a run.
    """
    from rpcbench.record.ruler_file import keep_ruler
    from rpcbench.report.ruler_view import show_ruler
    from rpcbench.report.terminal import console
    from rpcbench.sim.calibration import QUICK, THOROUGH
    from rpcbench.sim.calibration import calibrate as measure

    _warn_if_busy()
    ruler = measure(QUICK if quick else THOROUGH, _say)
    show_ruler(ruler, console(sys.stdout))
    typer.echo(f" kept in {keep_ruler(ruler)}: runs on this machine state it from now on")


def _warn_if_busy() -> None:
    load, cpus = os.getloadavg()[0], os.cpu_count() or 1
    if load > cpus / 2:
        _say(f"this machine is busy with other work (load {load:.1f} on {cpus} CPUs), which will show in the figures")


def _say(text: str) -> None:
    typer.echo(f" {text}", err=True)
