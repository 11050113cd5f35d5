"""Where the real nodes' binaries are: named by the environment, on PATH, or fetched by `make real-nodes`.

Run as a program, it unpacks starknet-devnet where a packed one lies beside the checkout, and says what there is. It
needs nothing but Python's own library, so that it runs before anything is installed.
"""

import hashlib
import lzma
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class MissingBinaryError(Exception):
    """A node's program is not here; the text says how to get it."""


class WrongBinaryError(Exception):
    """What is here instead of a node's program is something else: no reason to go on without it."""


@dataclass(frozen=True)
class Binary:
    """A node's program: its name on PATH, and how a person gets it. `in_ci` means that CI may not do without."""

    name: str
    variable: str
    remedy: str
    in_ci: bool


ANVIL = Binary(
    "anvil", "RPCBENCH_ANVIL", "`make real-nodes` installs it through npm (Linux x64), foundryup elsewhere", in_ci=True
)
DEVNET = Binary(
    "starknet-devnet",
    "RPCBENCH_DEVNET",
    "`cargo install starknet-devnet --version 0.10.1 --locked` builds it in half an hour",
    in_ci=True,
)
GETH = Binary(
    "geth",
    "RPCBENCH_GETH",
    "`go install github.com/ethereum/go-ethereum/cmd/geth@v1.17.7` builds it in four minutes",
    in_ci=False,
)

PACKED_DEVNET = "starknet-devnet-0.10.1-linux-x86_64.xz"
DEVNET_SHA256 = "44712ae80e8ac9d0754ccafbae4333a07a3b3707bc28e99043f73187ca82d7b7"


def find(binary: Binary, root: Path = ROOT) -> Path:
    """The program's path. Raises MissingBinaryError, or WrongBinaryError for one that cannot be it."""
    named = os.environ.get(binary.variable)
    if named:
        if not os.access(named, os.X_OK):
            raise WrongBinaryError(f"{binary.variable} is {named}, which is no program")
        return Path(named)
    on_path = shutil.which(binary.name)
    if on_path:
        return Path(on_path)
    for folder in (root / ".nodes", root / "tests/real/node_modules/.bin"):
        if os.access(folder / binary.name, os.X_OK):
            return folder / binary.name
    packed = root.parent / "shared/nodes" / PACKED_DEVNET
    if binary is DEVNET and packed.exists():
        return unpack(packed, root / ".nodes" / DEVNET.name, DEVNET_SHA256)
    raise MissingBinaryError(f"{binary.name} is not on PATH and {binary.variable} does not name it: {binary.remedy}")


def unpack(packed: Path, target: Path, sha256: str) -> Path:
    """Unpack an .xz file into the program `target`. Raises WrongBinaryError when it is not the one expected.

    Debian does not install xz itself with python3, hence Python's.
    """
    try:
        program = lzma.decompress(packed.read_bytes())
    except lzma.LZMAError as error:
        raise WrongBinaryError(f"{packed.name} is damaged: {error}") from error
    if hashlib.sha256(program).hexdigest() != sha256:
        raise WrongBinaryError(f"{packed.name} does not hold the expected program: its SHA-256 is another")
    target.parent.mkdir(exist_ok=True)
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    partial.write_bytes(program)
    partial.chmod(0o755)
    partial.replace(target)  # never half a program, even when two processes unpack at once
    return target


def main() -> int:
    """Say what there is; 1 when CI would fail for want of something."""
    wanting = False
    for binary in (ANVIL, DEVNET, GETH):
        try:
            sys.stdout.write(f"{binary.name}: {find(binary)}\n")
        except MissingBinaryError as error:
            sys.stdout.write(f"{binary.name}: none. {error}\n")
            wanting |= binary.in_ci
    return int(wanting and os.environ.get("CI") == "true")


if __name__ == "__main__":
    sys.exit(main())
