"""Where two canonical answers part: a JSON path and both values for each place."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import islice, zip_longest
from typing import Any

from rpcbench.protocol.normalise import Keyed, RpcError
from rpcbench.protocol.rules import Rules, Step, number, written

# Clients print the same float with more or fewer digits.
_FLOAT_TOLERANCE = 1e-9


class Absent(Enum):
    """Stands where one side has no such member or item."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class Items:
    """Stands for a list, where its length is what differs."""

    count: int


@dataclass(frozen=True, slots=True)
class Difference:
    """One place, and what stands there on either side: a JSON value, ABSENT, Items, or a RpcError."""

    path: str
    left: Any
    right: Any


def difference(left: Any, right: Any, rules: Rules | None = None, *, limit: int = 20) -> list[Difference]:
    """The first `limit` places in which two answers differ, both made by `normalise`; empty when they agree.

    Lists of different length count as one place, and the first item in which they part as another.
    """
    return list(islice(_differences(left, right, (), rules or Rules()), limit))


def _differences(left: Any, right: Any, path: tuple[Step, ...], rules: Rules) -> Iterator[Difference]:
    if rules.ignores(path):
        return
    if isinstance(left, dict) and type(left) is type(right):
        for key in sorted(left.keys() | right.keys()):
            yield from _differences(left.get(key, ABSENT), right.get(key, ABSENT), (*path, key), rules)
    elif isinstance(left, list) and isinstance(right, list):
        yield from _in_lists(left, right, path, rules)
    elif not _same(left, right, path, rules):
        yield Difference(written(path), left, right)


def _in_lists(left: list[Any], right: list[Any], path: tuple[Step, ...], rules: Rules) -> Iterator[Difference]:
    pairs = enumerate(zip_longest(left, right, fillvalue=ABSENT))
    found = (one for i, (a, b) in pairs for one in _differences(a, b, (*path, i), rules))
    if len(left) == len(right):
        yield from found
    else:
        # One item too few shifts all that follow: the first place tells, the others only repeat it.
        yield Difference(written(path), Items(len(left)), Items(len(right)))
        yield from islice(found, 1)


def _same(left: Any, right: Any, path: tuple[Step, ...], rules: Rules) -> bool:
    """Whether two values without members are the same; 1 and 1.0 are, 1 and true are not."""
    a, b = number(left), number(right)
    if a is not None and b is not None:
        tolerance = rules.tolerance(path)
        if tolerance is not None and tolerance.covers(a, b):
            return True
        if isinstance(left, float) or isinstance(right, float):
            return type(left) is not str and type(right) is not str and math.isclose(a, b, rel_tol=_FLOAT_TOLERANCE)
    return type(left) is type(right) and bool(left == right)


def shown(value: Any, limit: int = 80) -> str:
    """One side of a Difference in words: JSON, cut where it is long."""
    if value is ABSENT:
        return "absent"
    if isinstance(value, Items):
        return "1 item" if value.count == 1 else f"{value.count} items"
    if isinstance(value, RpcError):
        return f"error {value.code}"
    text = json.dumps(_plain(value), separators=(",", ":"))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _plain(value: Any) -> Any:
    """Sets as the lists that they were."""
    if isinstance(value, Keyed):
        return [_plain(item) for item in value.values()]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
