"""The parameter language of a scenario file: values, and mappings that stand for a drawn value. Pure and seeded.

    {uniform: [0, head]}                     a block height from a range, every one equally likely
    {recent: 100}                            one of the newest 100 blocks
    {zipf: {range: [0, head], s: 1.1}}       from a range, the newest most often: the k-th newest in proportion to 1/k^s
    {sequential: [0, head]}                  the next one of a range at every call, over and over
    {at: from+100}                           the height that an expression gives
    {choice: [latest, {recent: 10}]}         one of these values; {value: …, weight: …} for unequal shares
    {literal: {uniform: 1}}                  the mapping itself, nothing drawn

`as: name` beside a number generator names its number for later fields of the same call. A bound is an integer,
`head`, a name, or one of the two ± an integer.

Heights are kept on the chain: every bound is first clamped to [0, head], then the lower one is lowered to the upper.
So the range 0 to 2000 is 0 to 20 on a chain of 20 blocks, and `from+100` past the head is the head. A number that is
no height, such as a page size, is drawn with `choice`, which clamps nothing.

On Ethereum a drawn number is written as a quantity ("0x1b"), on Starknet as an integer.
"""

from __future__ import annotations

import difflib
import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rpcbench.errors import SpecError
from rpcbench.model.scenario import Chain
from rpcbench.plan.distributions import picker, zipf_rank

Path = tuple[str | int, ...]


class TemplateError(SpecError):
    """Parameters that cannot be drawn; `path` leads from `params` to the field that is wrong."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(f"params{''.join(f'[{p}]' if isinstance(p, int) else f'.{p}' for p in path)}: {message}")
        self.path = path
        self.message = message


@dataclass(slots=True)
class _Moment:
    """One draw: where its chance comes from, how high the chain is, which draw of its call, what `as` has named."""

    rng: random.Random
    head: int
    index: int
    named: dict[str, int] = field(default_factory=dict)


_Maker = Callable[[_Moment], Any]
_Number = Callable[[_Moment], int]


@dataclass(frozen=True, slots=True)
class Template:
    """Compiled parameters. `make` is None for parameters in which nothing is drawn; those are `value`."""

    value: Any
    make: _Maker | None


def compile_params(params: Any, chain: Chain) -> Template:
    """Parameters as the scenario file gives them, ready to draw from. Raises TemplateError."""
    make = _Compiler(chain).compile(params, ())
    return Template(params, make) if callable(make) else Template(make.value, None)


def draw(template: Template, rng: random.Random, head: int, index: int) -> Any:
    """Concrete parameters of the `index`-th call of its kind, on a chain of blocks 0 to `head`.

    Equal state of `rng` gives equal parameters. `random.Random` and not numpy's Generator: one number at a time it is
    many times as fast. Parts that are not drawn are shared between calls; do not change them.
    """
    return template.value if template.make is None else template.make(_Moment(rng, head, index))


def is_constant(template: Template) -> bool:
    """Whether every draw gives the same parameters."""
    return template.make is None


@dataclass(frozen=True, slots=True)
class _Constant:
    """A value in which nothing is drawn."""

    value: Any


class _Compiler:
    """Turns one call's parameters into closures, in file order, so that `as` precedes its use."""

    def __init__(self, chain: Chain) -> None:
        self._write: Callable[[int], Any] = hex if chain is Chain.ETHEREUM else int
        self._names: set[str] = set()
        self._generators: dict[str, Callable[[Any, Path], _Number]] = {
            "uniform": self._uniform,
            "recent": self._recent,
            "zipf": self._zipf,
            "sequential": self._sequential,
            "at": self._at,
        }

    def compile(self, value: Any, path: Path) -> _Maker | _Constant:
        """Any value of the file."""
        if isinstance(value, dict):
            return self._mapping(value, path)
        if isinstance(value, list):
            makers = [self.compile(item, (*path, i)) for i, item in enumerate(value)]
            if all(isinstance(m, _Constant) for m in makers):
                return _Constant(value)
            parts = [_as_maker(m) for m in makers]
            return lambda moment: [part(moment) for part in parts]
        return _Constant(_json_scalar(value, path))

    def _mapping(self, value: dict[Any, Any], path: Path) -> _Maker | _Constant:
        generator = self._which_generator(value, path)
        if generator is None:
            makers = {_key(k, path): self.compile(v, (*path, k)) for k, v in value.items()}
            if all(isinstance(m, _Constant) for m in makers.values()):
                return _Constant(value)
            parts = [(k, _as_maker(m)) for k, m in makers.items()]
            return lambda moment: {k: part(moment) for k, part in parts}
        inside = (*path, generator)
        if generator == "literal":
            _check_plain(value["literal"], inside)
            return _Constant(value["literal"])
        if generator == "choice":
            return self._choice(value, path)
        return self._drawn(self._generators[generator](value[generator], inside), value, path)

    def _which_generator(self, value: dict[Any, Any], path: Path) -> str | None:
        known = [*self._generators, "choice", "literal"]
        found = [k for k in value if k in known]
        if not found:
            _refuse_misspelt(value, known, path)
            return None
        others = [k for k in value if k != found[0] and not (k == "as" and found[0] != "literal")]
        if others:
            raise TemplateError(
                path,
                f"`{found[0]}` stands for a value, so `{others[0]}` cannot stand beside it"
                + ("" if found[0] == "literal" else "; only `as` can")
                + f". If the node is to get a field named `{found[0]}`, wrap the mapping: {{literal: …}}",
            )
        return str(found[0])

    def _drawn(self, number: _Number, value: dict[Any, Any], path: Path) -> _Maker:
        """The value for a drawn number: written as the chain does it, and named where `as` asks for it."""
        write = self._write
        if "as" not in value:
            return lambda moment: write(number(moment))
        name = self._new_name(value["as"], (*path, "as"))

        def make(moment: _Moment) -> Any:
            drawn = moment.named[name] = number(moment)
            return write(drawn)

        return make

    def _new_name(self, name: Any, path: Path) -> str:
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise TemplateError(path, f"{name!r} is no name; write a word such as `from`")
        if name == "head":
            raise TemplateError(path, "`head` is always the newest block; choose another name")
        if name in self._names:
            raise TemplateError(path, f"`{name}` already names an earlier number of this call; choose another name")
        self._names.add(name)
        return name

    def _uniform(self, value: Any, path: Path) -> _Number:
        low, high = self._range(value, path)

        def number(moment: _Moment) -> int:
            upper = high(moment)
            lower = min(low(moment), upper)
            return lower + int(moment.rng.random() * (upper - lower + 1))

        return number

    def _sequential(self, value: Any, path: Path) -> _Number:
        low, high = self._range(value, path)

        def number(moment: _Moment) -> int:
            upper = high(moment)
            lower = min(low(moment), upper)
            return lower + moment.index % (upper - lower + 1)

        return number

    def _recent(self, value: Any, path: Path) -> _Number:
        if not _is_int(value) or value < 1:
            raise TemplateError(path, f"is {value!r}; write how many of the newest blocks, a whole number above 0")
        count: int = value
        return lambda moment: moment.head - int(moment.rng.random() * min(count, moment.head + 1))

    def _zipf(self, value: Any, path: Path) -> _Number:
        if not isinstance(value, dict) or "range" not in value or not set(value) <= {"range", "s"}:
            raise TemplateError(path, "is not complete; write {range: [0, head], s: 1.1}")
        s = value.get("s", 1.1)
        if not (_is_int(s) or isinstance(s, float)) or not 0 < s <= 10:
            raise TemplateError((*path, "s"), f"is {s!r}; write a number above 0 and up to 10, such as 1.1")
        low, high = self._range(value["range"], (*path, "range"))
        rank = zipf_rank(float(s))

        def number(moment: _Moment) -> int:
            upper = high(moment)
            lower = min(low(moment), upper)
            return upper + 1 - rank(moment.rng, upper - lower + 1)

        return number

    def _at(self, value: Any, path: Path) -> _Number:
        return self._bound(value, path)

    def _range(self, value: Any, path: Path) -> tuple[_Number, _Number]:
        if not isinstance(value, list) or len(value) != 2:
            raise TemplateError(path, "is not a range; write [lowest, highest], such as [0, head]")
        low, high = value
        if _is_int(low) and _is_int(high) and low > high:
            raise TemplateError(path, f"begins at {low} and ends at {high}; write the lower number first")
        return self._bound(low, (*path, 0)), self._bound(high, (*path, 1))

    def _bound(self, value: Any, path: Path) -> _Number:
        """A height: an integer, `head` or a name ± an integer, clamped to the chain."""
        if _is_int(value) and value >= 0:
            fixed: int = value
            return lambda moment: min(fixed, moment.head)
        match = re.fullmatch(r"([A-Za-z_]\w*)\s*(?:([+-])\s*(\d+))?", value) if isinstance(value, str) else None
        if match is None:
            raise TemplateError(path, f"is {value!r}; write a block number, `head`, a name, or `head-10`, `from+100`")
        name, sign, amount = match.groups()
        shift = int(f"{sign}{amount}") if sign else 0
        if name == "head":
            return lambda moment: max(0, min(moment.head + shift, moment.head))
        if name not in self._names:
            known = "".join(f", `{n}`" for n in sorted(self._names))
            raise TemplateError(
                path, f"nothing is named `{name}` yet; known are `head`{known}; write `as: {name}` in an earlier field"
            )
        return lambda moment: max(0, min(moment.named[name] + shift, moment.head))

    def _choice(self, value: dict[Any, Any], path: Path) -> _Maker:
        inside = (*path, "choice")
        items = value["choice"]
        if not isinstance(items, list) or not items:
            raise TemplateError(inside, "is not a list of values; write [10, 100, 1000], say")
        values, weights, paths = _weighted(items, inside)
        pick = picker(weights)
        if all(_is_int(v) for v in values):
            return self._drawn(lambda moment: int(values[pick(moment.rng)]), value, path)
        if "as" in value:
            raise TemplateError((*path, "as"), "only a number can be named, and not all of these values are integers")
        makers = []
        outside = self._names
        for item, where in zip(values, paths, strict=True):
            # A name given inside one alternative means nothing where another was chosen.
            self._names = set(outside)
            makers.append(_as_maker(self.compile(item, where)))
        self._names = outside
        return lambda moment: makers[pick(moment.rng)](moment)


def _weighted(items: list[Any], path: Path) -> tuple[list[Any], list[float], list[Path]]:
    """Values, weights and paths of a choice: every item is bare, or every item is {value, weight}."""
    pairs = [isinstance(item, dict) and set(item) == {"value", "weight"} for item in items]
    if not any(pairs):
        return items, [1.0] * len(items), [(*path, i) for i in range(len(items))]
    if not all(pairs):
        odd = pairs.index(False)
        raise TemplateError((*path, odd), "has no weight as the others have; write {value: …, weight: 1}")
    for i, item in enumerate(items):
        weight = item["weight"]
        if not (_is_int(weight) or isinstance(weight, float)) or not 0 < weight < math.inf:
            raise TemplateError((*path, i, "weight"), f"is {weight!r}; write a number above 0")
    values = [item["value"] for item in items]
    return values, [float(item["weight"]) for item in items], [(*path, i, "value") for i in range(len(items))]


def _as_maker(compiled: _Maker | _Constant) -> _Maker:
    if not isinstance(compiled, _Constant):
        return compiled
    value = compiled.value
    return lambda _moment: value


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _key(key: Any, path: Path) -> str:
    if not isinstance(key, str):
        raise TemplateError(path, f"the field name {key!r} is not text; put it in quotes")
    return key


def _json_scalar(value: Any, path: Path) -> Any:
    """`value` itself where JSON has such a thing; YAML has more."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise TemplateError(path, f"is {value!s}, which JSON cannot express; put it in quotes if text is meant")


def _check_plain(value: Any, path: Path) -> None:
    """Raises TemplateError where a literal holds what JSON cannot express."""
    if isinstance(value, dict):
        for key, item in value.items():
            _check_plain(item, (*path, _key(key, path)))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            _check_plain(item, (*path, i))
    else:
        _json_scalar(value, path)


def _refuse_misspelt(value: dict[Any, Any], known: list[str], path: Path) -> None:
    """A mapping of one unknown key, `as` aside, that is nearly a generator's name is taken for a slip."""
    keys = [k for k in value if k != "as"]
    if len(keys) != 1 or not isinstance(keys[0], str):
        return
    near = difflib.get_close_matches(keys[0].lower(), known, n=1, cutoff=0.8)
    if near or "as" in value:
        hint = f"; did you mean `{near[0]}`?" if near else f"; write one of {', '.join(known)}"
        raise TemplateError(path, f"`{keys[0]}` is no generator{hint}")
