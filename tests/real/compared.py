"""One `rpcbench compare` of two real nodes behind proxies, run as a person runs it, and what both sides say of it."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rpcbench import __version__
from tests.real.nodes import Pair
from tests.real.slow_proxy import SlowProxy, Told

RPCBENCH = str(Path(sys.executable).with_name("rpcbench"))
LOAD_AGENT, QUIET_AGENT = f"rpcbench/{__version__}", "rpcbench"
NODES = ("base", "other")


@dataclass(frozen=True)
class Said:
    """What the command said, and its exit code."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Compared:
    """What came of a comparison; `told` is what the proxies saw, by node."""

    said: Said
    directory: Path
    told: dict[str, list[Told]]

    @property
    def trials(self) -> list[dict[str, Any]]:
        """As run.json lists them."""
        trials: list[dict[str, Any]] = json.loads((self.directory / "run.json").read_text())["trials"]
        return trials

    def table(self, name: str) -> pd.DataFrame:
        """One of the run's CSV files, read the way a notebook reads it."""
        return pd.read_csv(self.directory / f"{name}.csv")

    @property
    def medians(self) -> pd.DataFrame:
        """The comparisons of p50, by call."""
        table = self.table("compare")
        return table[table.metric == "p50"].set_index("call")

    def rows(self, node: str) -> Any:
        """All raw rows of a node, trial after trial."""
        return np.concatenate([np.load(self.directory / t["file"]) for t in self.trials if t["node"] == node])

    def load(self, node: str) -> list[Told]:
        """What the proxy saw of the load, warm-up included, without the quiet questions around it."""
        return [told for told in self.told[node] if told.agent == LOAD_AGENT]

    def rounds(self, node: str) -> list[list[Told]]:
        """The load by measured round. Trials follow one another, so their counts divide what the proxy saw."""
        load, rounds, start = self.load(node), {}, 0
        for trial in self.trials:
            if trial["node"] == node:
                rounds[trial["round"]] = load[start : start + trial["requests"]]
                start += trial["requests"]
        return [rounds[number] for number in sorted(rounds) if number > 0]


def rpcbench(*words: object, home: Path) -> Said:
    """Run the command in an empty home and return what it said."""
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "NO_COLOR": "1", "COLUMNS": "120"}
    done = subprocess.run(
        [RPCBENCH, *map(str, words)], cwd=home, env=environment, capture_output=True, text=True, timeout=110,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    return Said(done.returncode, done.stdout, done.stderr)


def compare(pair: Pair, holds_ms: Sequence[float], *words: object, home: Path) -> Compared:
    """Compare the pair, its nodes' replies held for so long each."""
    with SlowProxy(pair.base.port, holds_ms[0]) as base, SlowProxy(pair.other.port, holds_ms[1]) as other:
        said = rpcbench("compare", f"base={base.url}", f"other={other.url}", *words, "-o", home / "results", home=home)
        told = {"base": base.tell(), "other": other.tell()}
    runs = sorted(home.glob("results/*/run.json"))
    assert len(runs) == 1, f"{len(runs)} runs were recorded; exit code {said.code}\n{said.out}\n{said.err}"
    return Compared(said, runs[0].parent, told)
