"""`rpcbench simulate`: an embedded node in the foreground, to try rpcbench or another client against."""

from __future__ import annotations

import time
from typing import Annotated

import typer


def simulate(
    personality: Annotated[
        str, typer.Argument(help="Which node to imitate: juno, pathfinder or geth.", show_default=True)
    ] = "juno",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 chooses a free one.")] = 0,
    delay_ms: Annotated[float, typer.Option(min=0, help="Hold every reply this much longer, in milliseconds.")] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="Same seed and epoch, same chain.")] = 1,
    epoch: Annotated[
        int | None, typer.Option(min=0, help="Unix time of the first new block; nodes that share it share a chain.")
    ] = None,
) -> None:
    """Run an embedded node on 127.0.0.1 until Ctrl-C. Its chain is synthetic and its speed is made up."""
    from rpcbench.errors import UsageError
    from rpcbench.sim.node import PERSONALITIES, SimSpec, serve_forever

    if personality not in PERSONALITIES:
        raise UsageError(f"there is no embedded {personality!r}; choose one of {', '.join(PERSONALITIES)}")
    epoch_s = int(time.time()) if epoch is None else epoch
    spec = SimSpec(personality=personality, port=port, delay_ms=delay_ms, seed=seed, epoch_unix_s=epoch_s)

    def announce(url: str) -> None:
        typer.echo(f"simulated {personality} on {url}  (seed {seed}, epoch {epoch_s}; Ctrl-C stops it)")

    serve_forever(spec, announce)
