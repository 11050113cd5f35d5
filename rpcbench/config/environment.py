"""`${NAME}` in a file's strings stands for an environment variable, so that secrets need not be written down."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rpcbench.config.yaml_file import Fault, FieldPath

_REFERENCE = re.compile(r"\$\$\{|\$\{(?P<name>[^}]*)(?P<end>\})?")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class UnsetVariableError(ValueError):
    """A reference that cannot be followed; `str(error)` is a sentence."""


def substitute(text: str, environ: Mapping[str, str]) -> str:
    """`text` with every `${NAME}` replaced; `$${` is written for a literal `${`. Raises UnsetVariableError."""

    def replacement(match: re.Match[str]) -> str:
        if match[0] == "$${":
            return "${"
        name = match["name"]
        if match["end"] is None or not _NAME.fullmatch(name):
            raise UnsetVariableError("holds ${ without the name of a variable; write ${NAME}, or $${ for the text ${")
        if not environ.get(name):
            raise UnsetVariableError(f"the environment variable {name} is not set; export {name}=… before you start")
        return environ[name]

    return _REFERENCE.sub(replacement, text)


def substitute_all(value: Any, environ: Mapping[str, str], at: FieldPath, faults: list[Fault]) -> Any:
    """`value` with references replaced in every string of it; what cannot be is added to `faults`."""
    if isinstance(value, dict):
        return {key: substitute_all(item, environ, (*at, key), faults) for key, item in value.items()}
    if isinstance(value, list):
        return [substitute_all(item, environ, (*at, i), faults) for i, item in enumerate(value)]
    if not isinstance(value, str):
        return value
    try:
        return substitute(value, environ)
    except UnsetVariableError as error:
        faults.append((at, str(error)))
        return value


def variables(value: Any) -> Iterator[str]:
    """The names of all variables that strings in `value` refer to."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from variables(item)
    elif isinstance(value, str):
        yield from (match["name"] for match in _REFERENCE.finditer(value) if match["end"])
