"""findings.jsonl: how the nodes answered a sample of the calls before the run, a line for each call."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, BinaryIO

from rpcbench.model.finding import Finding

FINDINGS_FILE = "findings.jsonl"


def finding_as_data(finding: Finding, labels: Sequence[str]) -> dict[str, Any]:
    """A finding as plain data, nothing left out; `labels` names the scenario's calls in their order."""
    return {
        **asdict(finding),
        "label": labels[finding.spec],
        "majority": finding.majority,
        "apart": dict(finding.apart),
        "curls": dict(finding.curls),
    }


def write_findings(findings: Iterable[Finding], labels: Sequence[str], file: BinaryIO) -> None:
    """One JSON object a line."""
    for finding in findings:
        file.write(json.dumps(finding_as_data(finding, labels), separators=(",", ":")).encode() + b"\n")
