"""Where a node's program is looked for, in which order, and that a wrong one is refused."""

import hashlib
import lzma

import pytest

from tests.real import binaries
from tests.real.binaries import ANVIL, DEVNET, MissingBinaryError, WrongBinaryError, find, unpack

PROGRAM = b"#!/bin/sh\n"
SHA256 = hashlib.sha256(PROGRAM).hexdigest()


@pytest.fixture
def root(tmp_path, monkeypatch):
    """An empty checkout, nothing on PATH, nothing named."""
    for name in ("RPCBENCH_ANVIL", "RPCBENCH_DEVNET", "RPCBENCH_GETH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    return tmp_path / "checkout"


def place(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(PROGRAM)
    path.chmod(0o755)
    return path


def test_environment_then_path_then_nodes_then_node_modules(root, tmp_path, monkeypatch):
    fetched = place(root / "tests/real/node_modules/.bin/anvil")
    assert find(ANVIL, root) == fetched
    beside = place(root / ".nodes/anvil")
    assert find(ANVIL, root) == beside
    on_path = place(tmp_path / "path/anvil")
    assert find(ANVIL, root) == on_path
    named = place(tmp_path / "elsewhere/my-anvil")
    monkeypatch.setenv("RPCBENCH_ANVIL", str(named))
    assert find(ANVIL, root) == named


def test_a_name_that_leads_nowhere_is_not_passed_over(root, tmp_path, monkeypatch):
    place(tmp_path / "path/anvil")
    monkeypatch.setenv("RPCBENCH_ANVIL", "/nowhere/anvil")
    with pytest.raises(WrongBinaryError, match="RPCBENCH_ANVIL is /nowhere/anvil"):
        find(ANVIL, root)


def test_a_missing_one_says_how_to_get_it(root):
    with pytest.raises(MissingBinaryError, match="make real-nodes"):
        find(ANVIL, root)


def test_devnet_is_unpacked_beside_the_checkout(root, tmp_path, monkeypatch):
    monkeypatch.setattr(binaries, "DEVNET_SHA256", SHA256)
    packed = tmp_path / "shared/nodes/starknet-devnet-0.10.1-linux-x86_64.xz"
    packed.parent.mkdir(parents=True)
    packed.write_bytes(lzma.compress(PROGRAM))
    root.mkdir()
    found = find(DEVNET, root)
    assert found == root / ".nodes/starknet-devnet"
    assert found.read_bytes() == PROGRAM
    packed.unlink()
    assert find(DEVNET, root) == found


@pytest.mark.parametrize("content", [lzma.compress(PROGRAM + b"evil"), b"no archive"], ids=["another", "damaged"])
def test_a_packed_program_that_is_not_the_expected_one_is_refused(tmp_path, content):
    packed = tmp_path / "node.xz"
    packed.write_bytes(content)
    with pytest.raises(WrongBinaryError, match=r"another|damaged"):
        unpack(packed, tmp_path / "node", SHA256)
    assert not (tmp_path / "node").exists()
