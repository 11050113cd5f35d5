"""The program behind the tables of docs/method.md, and what those tables must show."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = "python benchmarks/method.py --save"


def shares(text, row):
    """The percentages of one row, in the order of the columns."""
    (line,) = [line for line in text.splitlines() if line.startswith("|") and row in line]
    return [float(found) for found in re.findall(r"(\d+\.\d) %", line)]


@pytest.fixture(scope="module")
def printed() -> str:
    command = [sys.executable, "benchmarks/method.py", "--quick"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def document() -> str:
    return (ROOT / "docs" / "method.md").read_text()


def test_the_program_prints_every_table_of_the_document(printed, document) -> None:
    def first_cells(text):
        return [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("|")]

    _, _, rest = document.partition(f"<!-- begin: {COMMAND} -->")
    kept, _, _ = rest.partition("<!-- end -->")
    assert len(first_cells(printed)) > 20
    assert first_cells(printed) == first_cells(kept)


def test_the_tables_name_their_command(document) -> None:
    assert f"`{COMMAND}`" in document
    assert document.count(f"<!-- begin: {COMMAND} -->") == 1


def test_equal_nodes_seldom_have_a_winner(document) -> None:
    assert max(shares(document, "rpcbench names a winner")) <= 6


def test_pooled_tests_would_have_named_one_in_most_runs(document) -> None:
    assert shares(document, "Mann-Whitney test, one after the other")[2] > 50


def test_a_difference_of_five_percent_is_found_on_a_machine_that_drifts(document) -> None:
    assert min(shares(document, "found: slower")[:3]) >= 90
    assert max(shares(document, "wrong: same or faster")) <= 0.5


@pytest.mark.parametrize("metric", ["p50", "p99"])
def test_intervals_hold_the_truth_as_often_as_they_say(document, metric) -> None:
    held = shares(document, f"interval of the {metric} holds the truth")
    assert len(held) == 4
    assert all(93 <= share <= 97 for share in held)
