"""Reads a YAML file and remembers on which line each value stands, so that an error can name it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rpcbench.errors import SpecError

FieldPath = tuple[str | int, ...]
Fault = tuple[FieldPath, str]  # where, and a sentence about it


@dataclass(frozen=True, slots=True)
class YamlFile:
    """A file's text, its data, and the line of every value; `name` is how messages call it."""

    name: str
    text: str
    data: Any
    lines: dict[FieldPath, int]

    def line(self, path: FieldPath) -> int:
        """The line of a value, or of the nearest one around it: a missing field has no line of its own."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def error(self, faults: Iterable[Fault]) -> SpecError:
        """All faults in the order of their lines: file, line, field, and what would be right."""
        ordered = sorted(faults, key=lambda fault: self.line(fault[0]))
        return SpecError("\n".join(self._sentence(path, message) for path, message in ordered))

    def _sentence(self, path: FieldPath, message: str) -> str:
        field = f"field `{field_name(path)}`: " if path else ""
        return f"{self.name}:{self.line(path)}: {field}{message}"


def field_name(path: FieldPath) -> str:
    """`calls[0].params.filter` for ("calls", 0, "params", "filter")."""
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path).removeprefix(".")


def read_yaml(path: Path) -> YamlFile:
    """A file whose top is a mapping. Raises SpecError with file and line for anything else."""
    name = str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise SpecError(f"{name} is not text in UTF-8; save it as such") from None
    except OSError as error:
        raise SpecError(f"cannot read {name}: {error.strerror or 'unknown reason'}") from error
    lines: dict[FieldPath, int] = {}
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        data = None if node is None else _Reader(name, loader, lines).read(node, (), ())
    except yaml.MarkedYAMLError as error:
        raise SpecError(_not_yaml(name, error)) from None
    except (yaml.YAMLError, RecursionError):
        raise SpecError(f"{name} is not valid YAML: it holds a control character or is nested too deeply") from None
    if not isinstance(data, dict):
        fault = "is empty" if data is None else "is no mapping"
        raise SpecError(f"{name}:1: {fault}; write lines of the form `field: value`")
    return YamlFile(name, text, data, lines)


class _Reader:
    """Turns YAML nodes into plain data, noting lines, and refuses what YAML allows but a person never means."""

    def __init__(self, name: str, loader: yaml.SafeLoader, lines: dict[FieldPath, int]) -> None:
        self._name = name
        self._loader = loader
        self._lines = lines

    def read(self, node: yaml.Node, path: FieldPath, around: tuple[yaml.Node, ...]) -> Any:
        """The data of `node`; `around` are the nodes that contain it."""
        self._lines.setdefault(path, node.start_mark.line + 1)
        if node in around:
            raise SpecError(f"{self._name}:{self._lines[path]}: the alias leads back into itself; write the value out")
        inside = (*around, node)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, inside)
        if isinstance(node, yaml.SequenceNode):
            return [self.read(item, (*path, i), inside) for i, item in enumerate(node.value)]
        try:
            return self._loader.construct_object(node)
        except ValueError:
            where = f"{self._name}:{self._lines[path]}: field `{field_name(path)}`"
            raise SpecError(f"{where}: looks like a date or a number and is none; put it in quotes") from None

    def _mapping(self, node: yaml.MappingNode, path: FieldPath, inside: tuple[yaml.Node, ...]) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = self._key(key_node, line)
            here = (*path, key)
            if key in data:
                raise SpecError(
                    f"{self._name}:{line}: field `{field_name(here)}`: is already on line {self._lines[here]}; "
                    "keep one of the two"
                )
            self._lines[here] = line
            data[key] = self.read(value_node, here, inside)
        return data

    def _key(self, node: yaml.Node, line: int) -> str:
        """A key is what stands there, also where YAML would read it as a number or as true."""
        if not isinstance(node, yaml.ScalarNode):
            raise SpecError(f"{self._name}:{line}: a field's name must be a word, not a list or a mapping")
        return str(node.value)


def _not_yaml(name: str, error: yaml.MarkedYAMLError) -> str:
    """The sentence for the parser's complaint. Longer quotations are left out: they may show a secret."""
    problem = error.problem or "it cannot be read"
    # What was never closed is noticed at the end of the file; the person wants to know where it was opened.
    unclosed = "end of stream" in problem and error.context_mark
    mark = unclosed or error.problem_mark or error.context_mark
    where = f":{mark.line + 1}" if mark else ""
    problem = re.sub(r"'([^']*)'", lambda m: m[0] if len(m[1]) <= 3 else "…", problem)
    return f"{name}{where}: is not valid YAML: {problem}; mind indentation, colons and closing brackets"
