"""`rpcbench demo`: the main job against two embedded nodes; nothing else is needed."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from rpcbench.cli import options as opt
from rpcbench.cli.compare import carry_out

# Long enough for an answer, short enough to watch: ten rounds of two seconds on each node, and both nodes
# share this machine's cores with the generator, so that few clients already load them.
DEMO_CHANGES = opt.Changes(duration="2s")
DEMO_NODES = ("juno", "pathfinder")
DEMO_LOAD = opt.LoadChoice(concurrency=4, rate_per_s=None, arrival=None, max_in_flight=None)


def demo(
    scenario: opt.ScenarioName = "mixed",
    seed: opt.Seed = None,
    output: opt.Output = Path("results"),
    quiet: opt.Quiet = False,
) -> None:
    """Compare two embedded nodes that imitate Juno and Pathfinder on a synthetic chain.

    Shows how rpcbench works; the figures say nothing about the real clients.
    """
    from rpcbench.config.scenario_file import load_scenario
    from rpcbench.model.node import Node
    from rpcbench.run import Request
    from rpcbench.sim.node import EmbeddedNode, SimSpec
    from rpcbench.survey.survey import ask

    loaded = load_scenario(scenario or "mixed", nodes=DEMO_NODES)
    chosen = opt.change_scenario(loaded, DEMO_LOAD, replace(DEMO_CHANGES, seed=seed))
    epoch_s = int(time.time())
    with ExitStack() as stack:
        nodes = []
        for personality in DEMO_NODES:
            started = stack.enter_context(EmbeddedNode(SimSpec(personality=personality, epoch_unix_s=epoch_s)))
            nodes.append(Node(name=personality, url=started.url))
        request = Request(
            scenario=chosen,
            output=output,
            max_lag=5,
            noise=0.01,
            labels={},
            command="rpcbench demo",
        )
        carry_out(request, ask(nodes, chosen.chain), dry_run=False, quiet=quiet)
