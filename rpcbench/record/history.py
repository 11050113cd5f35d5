"""results/history.jsonl: one line a run, only ever added to."""

from __future__ import annotations

import json
import math
from pathlib import Path

from rpcbench.model.verdict import Analysis
from rpcbench.record.files import append_line
from rpcbench.record.manifest import Manifest


def add_to_history(output: Path, manifest: Manifest, analysis: Analysis) -> None:
    """Note the run and its primary figures. Raises ResultsError."""
    line = {
        "id": manifest.id,
        "started_utc": manifest.started_utc,
        "status": manifest.status,
        "scenario": manifest.scenario.name,
        "seed": manifest.scenario.seed,
        "fingerprint": manifest.fingerprint,
        "labels": manifest.labels,
        "simulated": manifest.simulated,
        "nodes": [node.name for node in manifest.nodes],
        "valid": analysis.valid,
        "compare": [
            {
                "metric": c.metric,
                "call": c.call,
                "base": c.base,
                "other": c.other,
                "ratio": c.ratio.value if c.ratio else None,
                "low": c.ratio.low if c.ratio else None,
                "high": c.ratio.high if c.ratio else None,
                "verdict": c.verdict,
            }
            for c in analysis.comparisons
            if c.metric == "p50"
        ],
        "thresholds": [
            {
                "threshold": t.text,
                "call": t.call,
                "node": t.node,
                "value": _number(t.value),
                "low": _number(t.low),
                "high": _number(t.high),
                "unit": t.unit,
                "outcome": t.outcome,
                "warn": t.warn,
            }
            for t in analysis.thresholds
        ],
    }
    append_line(output / "history.jsonl", json.dumps(line, separators=(",", ":")))


def _number(value: float) -> float | None:
    """JSON knows no NaN."""
    return value if math.isfinite(value) else None
