"""Kinds of parameter: what a value must look like, and the sentence that says what would be right.

A kind is a function from a concrete JSON value and its path to the problems found in it. The kinds that both chains
share are here; their own stand beside their tables in `starknet_methods` and `ethereum_methods`.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a call. `path` leads from its `params` to the value; `()` means all of them."""

    path: Path
    message: str


Kind = Callable[[Any, Path], Iterator[Problem]]


@dataclass(frozen=True, slots=True)
class Param:
    """One named parameter, or one field of an object."""

    name: str
    kind: Kind
    required: bool


def parse_params(text: str, kinds: Mapping[str, Kind]) -> tuple[Param, ...]:
    """Reads a table's short form: `block_id:block index:index flags?:strings`, where ? marks what may be left out."""
    params = []
    for word in text.split():
        name, _, kind = word.partition(":")
        params.append(Param(name.removesuffix("?"), kinds[kind], not name.endswith("?")))
    return tuple(params)


def shown(value: Any) -> str:
    """A value as it stands in a message: JSON, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name that `word` was probably meant to be; case and underscores do not count."""
    bare = {name.replace("_", "").lower(): name for name in known}
    found = difflib.get_close_matches(word.replace("_", "").lower(), bare, n=1, cutoff=0.6)
    return bare[found[0]] if found else None


def is_integer(value: Any) -> bool:
    """True for a JSON integer; Python counts true and false among them."""
    return isinstance(value, int) and not isinstance(value, bool)


def check_fields(value: Mapping[str, Any], fields: tuple[Param, ...], path: Path, what: str) -> Iterator[Problem]:
    """An object's fields: none unknown, none missing, each of its kind. `what` names the object in messages."""
    names = [f.name for f in fields]
    for key in value:
        if key not in names:
            near = nearest(key, [n for n in names if n not in value])
            hint = f"did you mean `{near}`?" if near else f"{what} takes {listing(names) if names else 'no parameters'}"
            yield Problem((*path, key), f"unknown field `{key}`; {hint}")
    for field in fields:
        if field.name in value:
            yield from field.kind(value[field.name], (*path, field.name))
        elif field.required:
            yield Problem(path, f"`{field.name}` is missing; {what} must have it")


def listing(names: Iterable[str]) -> str:
    """`a`, `b`, `c`"""
    return ", ".join(f"`{name}`" for name in names)


def struct(what: str, text: str, kinds: Mapping[str, Kind]) -> Kind:
    """An object with exactly these fields, written as `parse_params` reads them."""
    fields = parse_params(text, kinds)

    def kind(value: Any, path: Path) -> Iterator[Problem]:
        if isinstance(value, Mapping):
            yield from check_fields(value, fields, path, what)
        else:
            yield Problem(path, f"is {shown(value)}; {what} is a mapping with {listing(f.name for f in fields)}")

    return kind


def list_of(kind: Kind, what: str, most: int | None = None) -> Kind:
    """A list whose every item is of `kind`; `what` says so in words."""

    def check(value: Any, path: Path) -> Iterator[Problem]:
        if not isinstance(value, list):
            yield Problem(path, f"is {shown(value)}; write a list of {what}")
            return
        if most is not None and len(value) > most:
            yield Problem(path, f"has {len(value)} items; nodes take {most} at most")
        for i, item in enumerate(value):
            yield from kind(item, (*path, i))

    return check


def one_of(*words: str) -> Kind:
    """One word of a fixed set."""

    def check(value: Any, path: Path) -> Iterator[Problem]:
        if value not in words:
            yield Problem(path, f"is {shown(value)}; write one of {', '.join(words)}")

    return check


def integer(low: int, high: int | None, right: str) -> Kind:
    """A JSON integer from `low` to `high`; `right` says it in words."""

    def check(value: Any, path: Path) -> Iterator[Problem]:
        if not is_integer(value) or value < low or (high is not None and value > high):
            yield Problem(path, f"is {shown(value)}; write {right}")

    return check


def boolean(value: Any, path: Path) -> Iterator[Problem]:
    """true or false."""
    if not isinstance(value, bool):
        yield Problem(path, f"is {shown(value)}; write true or false")


def text(value: Any, path: Path) -> Iterator[Problem]:
    """Any string."""
    if not isinstance(value, str):
        yield Problem(path, f"is {shown(value)}; write text in quotes")


def mapping(value: Any, path: Path) -> Iterator[Problem]:
    """An object whose fields are the node's business."""
    if not isinstance(value, Mapping):
        yield Problem(path, f"is {shown(value)}; write a mapping")


def anything(_value: Any, _path: Path) -> Iterator[Problem]:
    """What cannot be judged from here."""
    return iter(())


def hex_string(digits: str, right: str) -> Kind:
    """A 0x… string whose digits fit the pattern; `right` says what to write."""
    pattern = re.compile(f"0x(?:{digits})")

    def check(value: Any, path: Path) -> Iterator[Problem]:
        if is_integer(value) and value >= 0:
            yield Problem(path, f'is a number; write "{value:#x}", with the quotes: YAML reads a bare 0x… as a number')
        elif not isinstance(value, str) or not pattern.fullmatch(value):
            yield Problem(path, f"is {shown(value)}; write {right}")

    return check
