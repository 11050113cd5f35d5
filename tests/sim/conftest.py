"""Embedded nodes in processes of their own: three that all tests share, and as many as a test asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from tests.sim.client import STILL, Client, running


@pytest.fixture(scope="session")
def juno() -> Iterator[Client]:
    with running(STILL) as client:
        yield client


@pytest.fixture(scope="session")
def pathfinder() -> Iterator[Client]:
    with running(replace(STILL, personality="pathfinder")) as client:
        yield client


@pytest.fixture(scope="session")
def geth() -> Iterator[Client]:
    with running(replace(STILL, personality="geth")) as client:
        yield client


@pytest.fixture(scope="session")
def by_name(juno: Client, pathfinder: Client, geth: Client) -> dict[str, Client]:
    """The three nodes by personality; they are shared, so tests leave them as they found them."""
    return {"juno": juno, "pathfinder": pathfinder, "geth": geth}


@pytest.fixture
def node() -> Iterator[Callable[..., Client]]:
    """Starts nodes of the test's own: `node(personality="geth", workers=1)`."""
    with ExitStack() as stack:
        yield lambda **changes: stack.enter_context(running(replace(STILL, **changes)))
