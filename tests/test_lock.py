"""The exports that pip installs are the lock that poetry wrote."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def locked(groups):
    packages = tomllib.loads((ROOT / "poetry.lock").read_text())["package"]
    return {(p["name"], p["version"]): {f["hash"] for f in p["files"]} for p in packages if groups & set(p["groups"])}


def exported(name):
    text = (ROOT / name).read_text().replace("\\\n", " ")
    found = {}
    for line in filter(None, (line.strip() for line in text.splitlines())):
        package, version = re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==(\S+)", line).groups()
        found[package, version.rstrip(";")] = set(re.findall(r"--hash=(sha256:[0-9a-f]+)", line))
    return found


@pytest.mark.parametrize(
    ("name", "groups"),
    [("requirements.txt", {"main", "build"}), ("requirements-dev.txt", {"main", "build", "dev"})],
)
def test_exports_equal_the_lock(name, groups):
    assert exported(name) == locked(groups), "run `make lock`"


def test_no_file_of_the_set_up_names_a_registry():
    for name in ("poetry.lock", "requirements.txt", "requirements-dev.txt", "pyproject.toml"):
        text = (ROOT / name).read_text()
        assert "index-url" not in text
        assert "[package.source]" not in text
