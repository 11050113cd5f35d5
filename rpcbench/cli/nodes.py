"""`rpcbench nodes`: what names mean."""

from __future__ import annotations

import typer

from rpcbench.cli import options as opt


def nodes(nodes_file: opt.NodesFile = None) -> None:
    """List the node names that can be used here, and where each leads. Secrets are not shown."""
    from rpcbench.config.nodes_file import known_nodes

    known = known_nodes(nodes_file)
    width = max(len(node.name) for node in known)
    for node in known:
        typer.echo(f"{node.name:<{width}}  {node.place}  ({node.source})")
