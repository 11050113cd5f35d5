"""In which order the nodes take their turns. Pure."""

from __future__ import annotations

from rpcbench.model.workload import Phase, Trial


def trial_order(nodes: int, rounds: int, *, warmup: bool) -> tuple[Trial, ...]:
    """Every node once a round, the order reversed each round (A B, B A, A B, …), after a warm-up of each.

    Reversal lets a steady drift of the machine fall on all nodes alike, so that it cancels in paired rounds.
    """
    turns = [(0, node, Phase.WARMUP) for node in range(nodes)] if warmup else []
    for number in range(1, rounds + 1):
        forward = range(nodes)
        turns += [(number, node, Phase.MEASURE) for node in (forward if number % 2 else reversed(forward))]
    return tuple(Trial(index, number, node, phase) for index, (number, node, phase) in enumerate(turns))
