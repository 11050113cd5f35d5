"""One run on disk: written trial by trial, read back whole. See Manifest for what run.json holds.

run.json  scenario.yaml  calls.jsonl  findings.jsonl  call_spec.npy  samples/000-r00-juno.npy …    the record
requests.csv summary.csv compare.csv timeline.csv report.* plots/                  derived, can be deleted
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from rpcbench.errors import ResultsError, UsageError
from rpcbench.model.facts import HeadReading, NodeFacts
from rpcbench.model.finding import Finding
from rpcbench.model.run import Run, RunInfo, TrialRecord
from rpcbench.model.samples import SAMPLE, Samples, count_failures
from rpcbench.model.verdict import Notice
from rpcbench.model.workload import Call, Trial
from rpcbench.record.files import in_words, write_whole
from rpcbench.record.findings import FINDINGS_FILE, write_findings
from rpcbench.record.manifest import Manifest, RunStatus, TrialEntry

Derived = tuple[str, Callable[[BinaryIO], object]]


class RunDirectory:
    """A run that is being written. Every finished trial is on disk before the next begins."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest

    @classmethod
    def create(
        cls, output: Path, manifest: Manifest, calls: Sequence[Call], findings: Sequence[Finding] = ()
    ) -> RunDirectory:
        """Make `output/<run id>/` with the plan in it, and what the nodes answered to a sample of it.

        Raises UsageError where that cannot be: no load was sent yet.
        """
        path = output / manifest.id
        try:
            (path / "samples").mkdir(parents=True)
            directory = cls(path, manifest)
            write_whole(path / "scenario.yaml", lambda f: f.write(manifest.scenario.text.encode()))
            write_whole(path / "calls.jsonl", lambda f: f.writelines(call.body + b"\n" for call in calls))
            if findings:
                labels = [spec.label for spec in manifest.scenario.calls]
                write_whole(path / FINDINGS_FILE, lambda f: write_findings(findings, labels, f))
            specs = np.array([call.spec for call in calls], dtype=np.int32)
            write_whole(path / "call_spec.npy", lambda f: _save_array(f, specs))
            directory._save()
        except OSError as error:
            raise UsageError(f"cannot make the results directory {path}: {in_words(error)}") from error
        except ResultsError as error:
            raise UsageError(str(error)) from error
        return directory

    def add_trial(self, record: TrialRecord, heads: HeadReading | None = None) -> None:
        """Put one finished trial on disk: its rows first, then the manifest that names them. Raises ResultsError.

        `heads` is where the nodes' heads were after it, if anybody looked.
        """
        trial, samples = record.trial, record.samples
        node = self.manifest.nodes[trial.node].name
        file = f"samples/{trial.index:03d}-r{trial.round:02d}-{re.sub(r'[^A-Za-z0-9._-]', '_', node)}.npy"
        write_whole(self.path / file, lambda f: _save_array(f, samples.rows))
        wall_s = samples.wall_ns / 1e9
        entry = TrialEntry(
            index=trial.index,
            round=trial.round,
            node=node,
            phase=trial.phase,
            file=file,
            requests=len(samples.rows),
            planned=record.planned,
            started_unix_ns=samples.started_unix_ns,
            wall_s=wall_s,
            cpu_s=samples.cpu_ns / 1e9,
            rate_per_s=len(samples.rows) / wall_s if wall_s else 0.0,
            errors=dict(count_failures(samples.rows)),
            connects=samples.connects,
            reconnects=samples.reconnects,
        )
        readings = [*self.manifest.heads, *([heads] if heads else [])]
        self._update(trials=[*self.manifest.trials, entry], heads=readings)

    def finish(
        self,
        status: RunStatus,
        finished_utc: str,
        after: Sequence[NodeFacts] = (),
        notices: Sequence[Notice] = (),
        reason: str = "",
    ) -> None:
        """Say how the run ended. Raises ResultsError."""
        self._update(
            status=status,
            finished_utc=finished_utc,
            after=list(after),
            notices=[*self.manifest.notices, *notices],
            reason=reason,
        )

    def _update(self, **changes: object) -> None:
        self.manifest = self.manifest.model_copy(update=changes)
        self._save()

    def _save(self) -> None:
        text = self.manifest.model_dump_json(indent=1)
        write_whole(self.path / "run.json", lambda f: f.write(text.encode()))


def load_manifest(path: Path) -> Manifest:
    """The manifest of a run directory. Raises ResultsError with the path and what is wrong with it."""
    file = path / "run.json"
    try:
        return Manifest.model_validate_json(file.read_bytes())
    except FileNotFoundError as error:
        raise ResultsError(f"{path} is not a run directory: it has no run.json") from error
    except OSError as error:
        raise ResultsError(f"cannot read {file}: {in_words(error)}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ResultsError(
            f"cannot read {file}: {where}: {first['msg']}; it may come from another version of rpcbench"
        ) from error


def load_run(path: Path) -> tuple[RunInfo, Run, tuple[Notice, ...]]:
    """A whole run, whether or not it was finished, and the notices its surveys left. Raises ResultsError.

    Rows that were damaged on disk are refused rather than skipped: a missing round would change the figures.
    """
    manifest = load_manifest(path)
    names = [node.name for node in manifest.nodes]
    run = Run(
        scenario=manifest.scenario,
        nodes=tuple(names),
        call_spec=_load_array(path / "call_spec.npy", np.dtype(np.int32)),
        trials=tuple(_load_trial(path, entry, names) for entry in manifest.trials),
        before=tuple(manifest.before),
        after=tuple(manifest.after),
        interrupted=manifest.status is not RunStatus.DONE,
        simulated=manifest.simulated,
        ruler=manifest.ruler,
        heads=tuple(manifest.heads),
        agreement=manifest.agreement,
    )
    memory = f", {manifest.host.memory_mb / 1024:.0f} GB" if manifest.host.memory_mb else ""
    info = RunInfo(
        id=manifest.id,
        directory=str(path),
        started_utc=manifest.started_utc,
        tool_version=manifest.tool.version,
        host=f"{manifest.host.system}, {manifest.host.cpus} CPUs{memory}, Python {manifest.tool.python}",
        command=manifest.command,
        labels=manifest.labels,
    )
    return info, run, tuple(manifest.notices)


def write_derived(path: Path, files: Iterable[Derived]) -> None:
    """(Re)make everything that follows from the record: names relative to `path`, and who fills them."""
    for name, write in files:
        target = path / name
        try:
            target.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise ResultsError(f"cannot write {target}: {in_words(error)}") from error
        write_whole(target, write)


def _load_trial(path: Path, entry: TrialEntry, names: Sequence[str]) -> TrialRecord:
    rows = _load_array(path / entry.file, SAMPLE)
    if len(rows) != entry.requests:
        raise ResultsError(f"{path / entry.file} holds {len(rows)} rows where run.json says {entry.requests}")
    samples = Samples(
        rows=rows,
        started_unix_ns=entry.started_unix_ns,
        wall_ns=round(entry.wall_s * 1e9),
        cpu_ns=round(entry.cpu_s * 1e9),
        connects=entry.connects,
        reconnects=entry.reconnects,
    )
    return TrialRecord(Trial(entry.index, entry.round, names.index(entry.node), entry.phase), samples, entry.planned)


def _save_array(file: BinaryIO, array: NDArray[Any]) -> None:
    """What numpy.save writes, but through `file.write`: numpy's own way loses the reason when the disk is full."""
    header = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_2_0(file, header)
    file.write(np.ascontiguousarray(array).data)


def _load_array(path: Path, dtype: np.dtype[Any]) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ResultsError(f"cannot read {path}: it is missing or damaged") from error
    if array.dtype != dtype:
        raise ResultsError(f"cannot read {path}: its rows have another layout; it comes from another version")
    return array
