"""Whoever installs rpcbench gets the scenarios too."""

import shutil
from pathlib import Path
from zipfile import ZipFile

import pytest

from rpcbench.config.scenario_file import scenario_directory

SOURCE = scenario_directory().parent


def test_the_wheel_holds_every_scenario_as_it_is_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    api = pytest.importorskip("poetry.core.masonry.api", reason="poetry-core builds the wheel")
    for part in ("rpcbench", "scenarios"):
        shutil.copytree(SOURCE / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(SOURCE / part, tmp_path / part)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dist").mkdir()
    wheel = api.build_wheel("dist")
    with ZipFile(tmp_path / "dist" / wheel) as packed:
        inside = {n: packed.read(n) for n in packed.namelist() if n.startswith("rpcbench/scenarios/")}
    here = {f"rpcbench/scenarios/{path.name}": path.read_bytes() for path in scenario_directory().glob("*.yaml")}
    assert here
    assert here.items() <= inside.items()
