"""Real nodes, started once for all tests that want them. A node that is not here is skipped, but not in CI."""

import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.real import nodes
from tests.real.binaries import ANVIL, DEVNET, GETH, Binary, MissingBinaryError, find
from tests.real.nodes import Pair, log_tail

LOGS = pytest.StashKey[Path]()


def program(binary: Binary) -> Path:
    """The node's program, or the end of the test."""
    try:
        return find(binary)
    except MissingBinaryError as error:
        if os.environ.get("CI") == "true" and binary.in_ci:
            pytest.fail(f"CI must have it: {error}", pytrace=False)
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """Where nodes write; pytest keeps the last three sessions' directories."""
    pytestconfig.stash[LOGS] = tmp_path_factory.mktemp("nodes")
    return pytestconfig.stash[LOGS]


@pytest.fixture(scope="session")
def anvil(logs: Path) -> Iterator[Pair]:
    with nodes.anvil_pair(program(ANVIL), logs) as pair:
        yield pair


@pytest.fixture(scope="session")
def geth(logs: Path) -> Iterator[Pair]:
    with nodes.geth_pair(program(GETH), logs) as pair:
        yield pair


@pytest.fixture(scope="session")
def devnet(logs: Path) -> Iterator[Pair]:
    with nodes.devnet_pair(program(DEVNET), logs) as pair:
        yield pair


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home and working directory with nothing in it."""
    return tmp_path_factory.mktemp("home")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What the nodes said last goes into the report of a test that failed."""
    report = yield
    folder = item.config.stash.get(LOGS, None)
    if report.failed and folder is not None:
        report.sections += [(f"end of {log}", log_tail(log)) for log in sorted(folder.glob("*.log"))]
    return report
