"""Scenario files: finding them, reading them, and saying all that is wrong with one at once."""

from __future__ import annotations

import difflib
import random
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rpcbench.config.thresholds import parse_threshold
from rpcbench.errors import SpecError
from rpcbench.model.scenario import Arrival, CallSpec, Chain, Closed, Load, Open, Scenario
from rpcbench.plan.parameters import Template, TemplateError, compile_params, draw, is_constant
from rpcbench.protocol.catalogue import check_call, methods, writes
from rpcbench.protocol.kinds import Problem

if TYPE_CHECKING:
    from rpcbench.config.schema import CallFields, LoadFields, ScenarioFields
    from rpcbench.config.yaml_file import Fault, FieldPath

_SUFFIXES = (".yaml", ".yml")
# Enough draws for every alternative of an ordinary `choice` to come up, on a chain of ordinary height.
_EXAMPLES = 50
_EXAMPLE_HEAD = 1_000_000
WRITES = "can change the chain, the node or its accounts"


def scenario_directory() -> Path:
    """Where the scenarios that ship with rpcbench are: inside the installed package, or in the source tree."""
    package = Path(__file__).parents[1]
    installed = package / "scenarios"
    return installed if installed.is_dir() else package.parent / "scenarios"


def shipped_scenarios() -> list[str]:
    """The names of the scenarios that ship with rpcbench, in alphabetical order."""
    return sorted((path.stem for path in scenario_directory().glob("*.yaml")), key=str.lower)


def load_scenario(
    name_or_path: str, *, validate: bool = True, allow_writes: bool = False, nodes: Collection[str] | None = None
) -> Scenario:
    """A shipped scenario by its bare name, or a file by its path. Raises SpecError with every fault, one a line.

    Without `validate`, calls that the method catalogue refuses are let through; the file must be sound all the same.
    Calls that write are let through with `allow_writes` alone. Thresholds may name `nodes`; None lets them name any.
    """
    from rpcbench.config.schema import ScenarioFields, check
    from rpcbench.config.yaml_file import read_yaml

    path = _find(name_or_path)
    file = read_yaml(path)
    fields, faults = check(ScenarioFields, file.data)
    faults += _call_faults(file.data, validate=validate, allow_writes=allow_writes)
    if fields is not None:
        faults += [*_choice_faults(fields), *_label_faults(fields), *_threshold_faults(fields, nodes)]
    if fields is None or faults:
        raise file.error(faults)
    return _scenario(fields, path.stem, file.text)


def _find(name_or_path: str) -> Path:
    """The file that a name or path means."""
    is_path = "/" in name_or_path or "\\" in name_or_path or name_or_path.endswith(_SUFFIXES)
    if not is_path:
        shipped = shipped_scenarios()
        if name_or_path in shipped:
            return scenario_directory() / f"{name_or_path}.yaml"
        raise SpecError(f"there is no scenario `{name_or_path}`; {_hint(name_or_path, shipped)}")
    path = Path(name_or_path)
    if not path.exists():
        raise SpecError(f"there is no file {name_or_path}; {_hint(path.stem, shipped_scenarios())}")
    return path


def _hint(name: str, shipped: list[str]) -> str:
    bare = {s.lower(): s for s in shipped}
    near = [bare[n] for n in difflib.get_close_matches(name.lower(), bare, n=3, cutoff=0.5)] or shipped
    return f"shipped are {', '.join(near)}; your own is given as a path, such as ./mine.yaml"


def _call_faults(data: dict[str, Any], *, validate: bool, allow_writes: bool) -> Iterator[Fault]:
    """Calls that write, and calls whose parameters cannot be drawn or do not fit the method.

    Works on the file's raw data, so that these faults are listed together with those of the schema.
    """
    calls = data.get("calls")
    if data.get("chain") not in list(Chain) or not isinstance(calls, list):
        return
    chain = Chain(data["chain"])
    for i, call in enumerate(calls):
        if isinstance(call, dict) and isinstance(call.get("method"), str):
            if not allow_writes and writes(call["method"]):
                yield ("calls", i, "method"), f"`{call['method']}` {WRITES}; --allow-writes sends it all the same"
            for path, message in _faults_of(chain, call["method"], call.get("params"), validate=validate):
                yield ("calls", i, *path), message


def _faults_of(chain: Chain, method: str, params: Any, *, validate: bool) -> Iterator[Fault]:
    """One call's faults, with paths from the call on."""
    known = method in methods(chain)
    if validate and not known:
        yield ("method",), check_call(chain, method, [])[0].message
    try:
        template = compile_params([] if params is None else params, chain)
    except TemplateError as error:
        yield ("params", *error.path), error.message
        return
    if validate and known:
        yield from _misfits(chain, method, template)


def _misfits(chain: Chain, method: str, template: Template) -> Iterator[Fault]:
    """What the catalogue says about examples drawn from `template`, once for each place."""
    rng = random.Random(0)
    examples = 1 if is_constant(template) else _EXAMPLES
    problems: list[Problem] = []
    times: Counter[FieldPath] = Counter()
    for index in range(examples):
        found = check_call(chain, method, draw(template, rng, _EXAMPLE_HEAD, index))
        problems += [problem for problem in found if problem.path not in times]
        times.update({problem.path for problem in found})
    for problem in problems:
        aside = "" if times[problem.path] == examples else " (in an example that was drawn)"
        yield ("params", *problem.path), problem.message + aside


def _choice_faults(fields: ScenarioFields) -> Iterator[Fault]:
    """Fields of which only one may be given."""
    if fields.load and (fields.load.closed is None) == (fields.load.open is None):
        yield ("load",), "needs one of two; write {closed: {concurrency: 8}} or {open: {rate: 500}}"
    if fields.duration is not None and fields.requests is not None:
        yield ("requests",), "`duration` is given too; keep the one that is to end a trial"


def _label_faults(fields: ScenarioFields) -> Iterator[Fault]:
    """Calls that would share a line in every table."""
    first: dict[str, int] = {}
    for i, call in enumerate(fields.calls):
        label = _label(call)
        if label in first:
            taken = f"`{label}` already stands for calls[{first[label]}]"
            yield ("calls", i, "label"), f"{taken}; write `label:` with another word here"
        first.setdefault(label, i)


def _threshold_faults(fields: ScenarioFields, nodes: Collection[str] | None) -> Iterator[Fault]:
    """Thresholds that cannot be read, or speak of what there is not."""
    labels = [_label(call) for call in fields.calls]
    for i, text in enumerate(fields.thresholds):
        try:
            parse_threshold(text, labels, nodes)
        except SpecError as error:
            yield ("thresholds", i), str(error)


def _label(call: CallFields) -> str:
    """What stands for the call in tables; a batch's size is part of it unless the person chose the word."""
    if call.label is not None:
        return call.label
    method = call.method.removeprefix("starknet_").removeprefix("eth_")
    return method if call.batch == 1 else f"{method} ×{call.batch}"


def _scenario(fields: ScenarioFields, stem: str, text: str) -> Scenario:
    """The model's Scenario."""
    return Scenario(
        name=fields.name or stem,
        about=(fields.about or "").strip(),
        chain=Chain(fields.chain),
        calls=tuple(_call_spec(call) for call in fields.calls),
        thresholds=tuple(fields.thresholds),
        text=text,
        **_given(
            load=fields.load and _load(fields.load),
            rounds=fields.rounds,
            duration_ns=fields.duration,
            requests=fields.requests,
            warmup_ns=fields.warmup,
            timeout_ns=fields.timeout,
            seed=fields.seed,
        ),
    )


def _call_spec(call: CallFields) -> CallSpec:
    params = [] if call.params is None else call.params
    return CallSpec(call.method, params, float(call.weight), _label(call), call.batch)


def _load(load: LoadFields) -> Load:
    if load.open is None:
        return Closed(**_given(concurrency=load.closed and load.closed.concurrency))
    arrival = load.open.arrival and Arrival(load.open.arrival)
    return Open(float(load.open.rate), **_given(arrival=arrival, max_in_flight=load.open.max_in_flight))


def _given(**settings: Any) -> dict[str, Any]:
    """The settings that the file holds."""
    return {name: value for name, value in settings.items() if value is not None}
