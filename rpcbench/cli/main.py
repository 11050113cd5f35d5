"""The entry point: hands the command line to typer and turns every outcome into an exit code and a sentence."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from typer.exceptions import TyperException

from rpcbench import __version__
from rpcbench.cli import calibrate, check, compare, demo, nodes, report, scenarios, simulate, verify
from rpcbench.errors import EXIT_INTERNAL, EXIT_INTERRUPTED, RpcbenchError

app = typer.Typer(
    name="rpcbench",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Which of these Starknet or Ethereum JSON-RPC nodes serves my traffic better, by how much, "
    "and can I trust that number?",
    epilog="Exit codes: 0 done · 1 internal error · 2 wrong usage · 3 threshold missed · "
    "4 measurement invalid or nodes not comparable · 130 interrupted, results kept.",
)
app.command("compare", help=compare.COMPARE_HELP)(compare.measure)
app.command("run", help=compare.RUN_HELP)(compare.measure)
app.command("check")(check.check)
app.command("verify")(verify.verify)
app.command("demo")(demo.demo)
app.command("report")(report.report)
app.command("calibrate")(calibrate.calibrate)
app.add_typer(scenarios.app, name="scenarios")
app.command("nodes")(nodes.nodes)
app.command("simulate")(simulate.simulate)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rpcbench {__version__}")
        raise typer.Exit


@app.callback()
def options(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Before any command; without one, say which there are."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def main() -> NoReturn:
    """Run the command line and exit; never shows a traceback unless RPCBENCH_DEBUG is set."""
    # A scheduler that stops us with SIGTERM gets the same tidy end as a person with Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        code = app(standalone_mode=False)
    except RpcbenchError as error:
        _tell(str(error))
        code = error.exit_code
    except typer.Abort:
        _tell("interrupted")
        code = EXIT_INTERRUPTED
    except TyperException as error:
        _tell(f"{error.format_message()} (--help shows what there is)")
        code = error.exit_code
    except BrokenPipeError:
        # Whoever read our output has left, for example `| head`; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_INTERNAL
    except Exception as error:  # the last line of defence: a traceback may hold a secret
        if os.environ.get("RPCBENCH_DEBUG"):
            traceback.print_exc()
        frame = traceback.extract_tb(error.__traceback__)[-1]
        _tell(
            f"internal error: {type(error).__name__} in {Path(frame.filename).name}:{frame.lineno}; "
            "this is a bug. RPCBENCH_DEBUG=1 shows a traceback, which may hold secrets"
        )
        code = EXIT_INTERNAL
    sys.exit(code if isinstance(code, int) else 0)


def _tell(sentence: str) -> None:
    typer.secho("rpcbench: ", fg="red", nl=False, err=True)
    typer.echo(sentence, err=True)
