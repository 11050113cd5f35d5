"""The calibration in the user's cache: found again where it holds, and nowhere else."""

from __future__ import annotations

import json
import math
import platform
from dataclasses import replace
from pathlib import Path

import pytest

from rpcbench.errors import ResultsError
from rpcbench.model.ruler import Ceiling, Floor, Pace, Ruler
from rpcbench.record import ruler_file
from rpcbench.record.ruler_file import keep_ruler, known_ruler
from rpcbench.record.run_directory import RunDirectory, load_run
from tests.record.test_run_directory import CALLS, manifest

RULER = Ruler(
    "2026-01-02T03:04:05+00:00",
    "asyncio",
    Ceiling(130, 90_000.5, 8.1, 0.93),
    Ceiling(190_000, 14_000.0, 47.0, 0.66),
    Floor(14.0, 21.0, 2.0, 4.0),
    (Pace(100, 70.0, 300.0, 40.0, 90.0), Pace(1_000, 60.0, 250.0, 21.0, 80.0)),
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "rpcbench" / "ruler.json"


def test_what_is_kept_is_found_again(cache: Path) -> None:
    assert keep_ruler(RULER) == cache
    assert known_ruler() == (RULER, "")


def test_a_figure_that_is_missing_stays_missing() -> None:
    keep_ruler(replace(RULER, paces=(Pace(1_000, 60.0, math.nan, 21.0, math.nan),)))
    found, _ = known_ruler()
    assert found is not None
    assert found.reference.lag_p50_us == 60.0
    assert math.isnan(found.reference.error_p99_us)


def test_a_later_one_replaces_it() -> None:
    keep_ruler(RULER)
    later = replace(RULER, measured_utc="2026-02-02T03:04:05+00:00")
    keep_ruler(later)
    assert known_ruler() == (later, "")


def test_none_was_made() -> None:
    assert known_ruler() == (None, "")


def test_without_an_own_cache_directory_it_is_under_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert keep_ruler(RULER) == tmp_path / "me" / ".cache" / "rpcbench" / "ruler.json"
    assert known_ruler() == (RULER, "")


def test_without_any_home_there_is_none_and_keeping_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    assert known_ruler() == (None, "")
    with pytest.raises(ResultsError, match="set XDG_CACHE_HOME"):
        keep_ruler(RULER)


@pytest.mark.parametrize(
    ("owner", "name", "value", "says"),
    [
        (platform, "node", lambda: "elsewhere", "made with host "),
        (platform, "machine", lambda: "pdp11", "made with host "),
        (ruler_file.os, "cpu_count", lambda: 999, "made with host "),
        (platform, "python_version", lambda: "3.99.1", f"made with python {platform.python_version()}"),
        (ruler_file, "__version__", "99.0", f"made with rpcbench {ruler_file.__version__}"),
    ],
)
def test_on_another_machine_or_version_it_is_stale(monkeypatch: pytest.MonkeyPatch, owner, name, value, says) -> None:
    keep_ruler(RULER)
    monkeypatch.setattr(owner, name, value)
    found, doubt = known_ruler()
    assert found is None
    assert doubt.startswith("the calibration of 2026-01-02 was made with ")
    assert says in doubt


@pytest.mark.parametrize(
    "damage",
    [
        lambda kept: "{",
        lambda kept: "",
        lambda kept: json.dumps(kept | {"version": 2}),
        lambda kept: json.dumps(kept | {"more": 1}),
        lambda kept: json.dumps(kept | {"ruler": kept["ruler"] | {"paces": []}}),
        lambda kept: json.dumps(
            kept | {"ruler": kept["ruler"] | {"small": kept["ruler"]["small"] | {"rate_per_s": 0}}}
        ),
    ],
)
def test_a_damaged_one_is_told_and_left_out(cache: Path, damage) -> None:
    keep_ruler(RULER)
    cache.write_text(damage(json.loads(cache.read_text())))
    assert known_ruler() == (None, f"the calibration in {cache} cannot be read")


def test_a_cache_that_cannot_be_written_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file is in the way")
    with pytest.raises(ResultsError, match=r"cannot keep the calibration in .*ruler\.json; set XDG_CACHE_HOME"):
        keep_ruler(RULER)
    assert known_ruler()[0] is None


def test_a_run_remembers_the_calibration_it_was_made_with(tmp_path: Path) -> None:
    directory = RunDirectory.create(tmp_path, manifest().model_copy(update={"ruler": RULER}), CALLS)
    assert load_run(directory.path)[1].ruler == RULER


def test_a_run_from_before_there_were_calibrations_can_be_read(tmp_path: Path) -> None:
    directory = RunDirectory.create(tmp_path, manifest(), CALLS)
    file = directory.path / "run.json"
    older = json.loads(file.read_text())
    assert older.pop("ruler") is None
    file.write_text(json.dumps(older))
    assert load_run(directory.path)[1].ruler is None
