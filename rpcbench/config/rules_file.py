"""A rules file: which differences between answers do not count, method by method.

    starknet_getBlockWithTxs:
      ignore: $.l1_gas_price
    starknet_trace*:
      ignore: [$.fee, "$.calls[*].gas"]
    eth_feeHistory:
      tolerance: {path: "$.gasUsedRatio[*]", relative: 0.001}
    "*":
      ignore: $.status

A method is a name or a pattern. `ignore` and `tolerance` take one entry or a list of them. A path leads from the
result; `[*]` and `.*` stand for every item and every member. Numbers may differ by `relative` times the larger of the
two, or by `absolute`; hex counts as a number.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from rpcbench.config.schema import Fields, Text, check
from rpcbench.config.yaml_file import Fault, FieldPath, read_yaml
from rpcbench.model.scenario import Chain
from rpcbench.protocol.catalogue import methods
from rpcbench.protocol.kinds import is_integer, nearest
from rpcbench.protocol.rules import PathPattern, RuleBook, Rules, Tolerance, parse_pattern


def _amount(value: Any) -> float:
    if not (is_integer(value) or isinstance(value, float)) or not 0 <= value < float("inf"):
        raise ValueError("is no number from 0 on; write one, such as 0.1 for 10 %")
    return float(value)


Amount = Annotated[float, BeforeValidator(_amount)]


class MethodFields(Fields):
    """What a file says about one method; each field is one entry or a list of them."""

    ignore: Any = None
    tolerance: Any = None


class ToleranceFields(Fields):
    """One entry of `tolerance`."""

    path: Text
    relative: Amount | None = None
    absolute: Amount | None = None


def load_rules(path: Path) -> RuleBook:
    """The rules in a file, those of the first entry going first. Raises SpecError with every fault, one a line."""
    file = read_yaml(path)
    faults: list[Fault] = []
    entries = []
    for method, raw in file.data.items():
        if problem := _unknown(method):
            faults.append(((method,), problem))
        entries.append((method, _rules(method, raw, faults)))
    if faults:
        raise file.error(faults)
    return RuleBook(tuple(entries))


def _unknown(pattern: str) -> str | None:
    """What is wrong with the name or pattern of a method."""
    known = [name for chain in Chain for name in methods(chain)]
    if any(fnmatchcase(name, pattern) for name in known):
        return None
    near = nearest(pattern, known)
    return "fits no method that is known here; " + (f"did you mean `{near}`?" if near else 'write "*" for all of them')


def _rules(method: str, raw: Any, faults: list[Fault]) -> Rules:
    """What one entry says; what is wrong with it is added to `faults`."""
    fields, found = check(MethodFields, raw, (method,))
    faults += found
    if fields is None:
        return Rules()
    if fields.ignore is None and fields.tolerance is None:
        faults.append(((method,), "says nothing; write `ignore: $.path` or `tolerance: {path: $.path, relative: 0.1}`"))
    ignored = (_pattern(value, at, faults) for at, value in _each(fields.ignore, (method, "ignore")))
    tolerances = (_tolerance(value, at, faults) for at, value in _each(fields.tolerance, (method, "tolerance")))
    return Rules(tuple(p for p in ignored if p is not None), tuple(t for t in tolerances if t is not None))


def _each(value: Any, at: FieldPath) -> Iterator[tuple[FieldPath, Any]]:
    """A field's entries and where they stand; one that stands alone is the only one."""
    if isinstance(value, list):
        yield from (((*at, i), item) for i, item in enumerate(value))
    elif value is not None:
        yield at, value


def _pattern(value: Any, at: FieldPath, faults: list[Fault]) -> PathPattern | None:
    if not isinstance(value, str):
        faults.append((at, "is no path; write one such as $.transactions[*].max_fee"))
        return None
    try:
        return parse_pattern(value)
    except ValueError as error:
        faults.append((at, str(error)))
        return None


def _tolerance(value: Any, at: FieldPath, faults: list[Fault]) -> Tolerance | None:
    fields, found = check(ToleranceFields, value, at)
    faults += found
    if fields is None:
        return None
    pattern = _pattern(fields.path, (*at, "path"), faults)
    if fields.relative is None and fields.absolute is None:
        faults.append((at, "says not how far; write `relative: 0.1`, or `absolute: 5`"))
    return None if pattern is None else Tolerance(pattern, fields.relative or 0.0, fields.absolute or 0.0)
