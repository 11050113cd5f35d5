"""`rpcbench scenarios`: list, show, validate."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(help="What traffic is sent: list, show or validate scenarios.", no_args_is_help=False)

Name = Annotated[str, typer.Argument(metavar="SCENARIO", help="A shipped scenario's name, or a file.")]
Names = Annotated[list[str], typer.Argument(metavar="SCENARIO...", help="Shipped names or files.")]


@app.callback(invoke_without_command=True)
def default(ctx: typer.Context) -> None:
    """Without a verb: list."""
    if ctx.invoked_subcommand is None:
        show_all()


@app.command("list")
def show_all() -> None:
    """Name, chain and purpose of every scenario that ships with rpcbench."""
    from rpcbench.config.scenario_file import load_scenario, shipped_scenarios

    loaded = [load_scenario(name) for name in shipped_scenarios()]
    width = max(len(scenario.name) for scenario in loaded)
    for scenario in loaded:
        typer.echo(f"{scenario.name:<{width}}  {scenario.chain:<8}  {scenario.about}")


@app.command("show")
def show(name: Name) -> None:
    """Print a scenario's file, to read or to start your own from."""
    from rpcbench.config.scenario_file import load_scenario

    typer.echo(load_scenario(name, validate=False, allow_writes=True).text, nl=False)


@app.command("validate")
def validate(names: Names) -> None:
    """Check scenarios against the file format and the chain's method catalogue. Nothing is sent."""
    from rpcbench.config.scenario_file import WRITES, load_scenario
    from rpcbench.protocol.catalogue import writes

    for name in names:
        scenario = load_scenario(name, allow_writes=True)
        kinds = f"{len(scenario.calls)} call{'s' if len(scenario.calls) != 1 else ''}"
        typer.echo(f"{name}: valid, {kinds} on {scenario.chain}")
        for call in scenario.calls:
            if writes(call.method):
                typer.echo(f"  {call.label} ({call.method}) {WRITES}: a run needs --allow-writes")
