"""What files must look like, as pydantic models, and a sentence for everything that does not.

Every field's type carries the words for what would be right, so that an error never says only what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WrapValidator

from rpcbench.config.durations import parse_duration_ns
from rpcbench.config.yaml_file import Fault, FieldPath
from rpcbench.errors import SpecError
from rpcbench.protocol.kinds import nearest

_Checked = TypeVar("_Checked", bound="Fields")


class Fields(BaseModel):
    """A mapping of a file: nothing unknown, nothing converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _right(words: str) -> WrapValidator:
    """Replaces pydantic's complaint about one value by ours: what it is, and what to write."""

    def check(value: Any, inner: Callable[[Any], Any]) -> Any:
        try:
            return inner(value)
        except ValidationError:
            raise ValueError(f"is {_shown(value)}; write {words}") from None

    return WrapValidator(check)


def _shown(value: Any) -> str:
    text = "true" if value is True else "false" if value is False else "empty" if value is None else repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _duration(least_ns: int) -> BeforeValidator:
    def check(value: Any) -> int:
        try:
            return parse_duration_ns(str(value), least_ns=least_ns)
        except SpecError as error:
            raise ValueError(str(error)) from None

    return BeforeValidator(check)


def _warning(value: Any) -> Any:
    """Without quotes YAML reads `- warn: p99<1s` as a mapping; it is as clear."""
    if isinstance(value, dict) and list(value) == ["warn"] and isinstance(value["warn"], str):
        return f"warn: {value['warn']}"
    return value


_WORD = r"^[A-Za-z0-9][A-Za-z0-9_-]*$"
Text = Annotated[str, Field(min_length=1), _right("some text, in quotes where it looks like a number")]
Word = Annotated[str, Field(pattern=_WORD), _right("a word of letters, digits, `_` and `-`")]
Count = Annotated[int, Field(gt=0), _right("a whole number above 0")]
BatchSize = Annotated[int, Field(ge=1, le=1000), _right("a whole number from 1 to 1000, which is what geth takes")]
Natural = Annotated[int, Field(ge=0), _right("a whole number from 0 on")]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False), _right("a number above 0")]
ChainWord = Annotated[Literal["starknet", "ethereum"], _right("starknet or ethereum")]
ArrivalWord = Annotated[Literal["poisson", "constant"], _right("poisson or constant")]
ThresholdText = Annotated[Text, BeforeValidator(_warning)]
Duration = Annotated[int, _duration(least_ns=1)]
DurationOrNone = Annotated[int, _duration(least_ns=0)]


class CallFields(Fields):
    """One entry of `calls`."""

    method: Text
    params: Any = None
    weight: Positive = 1
    batch: BatchSize = 1
    label: Word | None = None


class ClosedFields(Fields):
    """`load: {closed: …}`"""

    concurrency: Count | None = None


class OpenFields(Fields):
    """`load: {open: …}`"""

    rate: Positive
    arrival: ArrivalWord | None = None
    max_in_flight: Count | None = None


class LoadFields(Fields):
    """One of the two."""

    closed: ClosedFields | None = None
    open: OpenFields | None = None


class ScenarioFields(Fields):
    """A scenario file. None where it is silent: the model's own defaults hold then."""

    name: Word | None = None
    about: Text | None = None
    chain: ChainWord
    calls: list[CallFields] = Field(min_length=1)
    load: LoadFields | None = None
    rounds: Count | None = None
    duration: Duration | None = None
    requests: Count | None = None
    warmup: DurationOrNone | None = None
    timeout: Duration | None = None
    seed: Natural | None = None
    thresholds: list[ThresholdText] = []


class NodeFields(Fields):
    """One entry of a nodes file, when it is more than a URL."""

    url: str
    ws_url: str | None = None
    headers: dict[str, str] = {}
    tags: list[str] = []


def check(model: type[_Checked], data: Any, at: FieldPath = ()) -> tuple[_Checked | None, list[Fault]]:
    """`data`, which stands `at` a place of its file, as a `model`; or None, and every fault.

    Only values of types with `_right` are repeated in a sentence; those of a nodes file are not, as they may be secret.
    """
    try:
        return model.model_validate(data), []
    except ValidationError as error:
        return None, [
            ((*at, *one["loc"]), _sentence(model, one["type"], one["loc"], one.get("ctx", {})))
            for one in error.errors(include_url=False)
        ]


def _sentence(model: type[Fields], kind: str, loc: FieldPath, context: dict[str, Any]) -> str:
    """Our words for one of pydantic's complaints."""
    if kind == "value_error":
        return str(context["error"])
    if kind == "extra_forbidden":
        known = list(_model_at(model, loc[:-1]).model_fields)
        near = nearest(str(loc[-1]), known)
        return "is not known here; " + (f"did you mean `{near}`?" if near else f"the fields are {', '.join(known)}")
    return {
        "missing": "is missing; it must be given",
        "too_short": "is empty; write at least one",
        "list_type": "is no list; write - before each entry",
        "string_type": "is not text; put it in quotes",
    }.get(kind, "is no mapping; write `field: value` below it")


def _model_at(model: type[Fields], loc: FieldPath) -> type[Fields]:
    """The model of the mapping at `loc`."""
    for part in loc:
        if isinstance(part, str):
            model = _model_in(model.model_fields[part].annotation) or model
    return model


def _model_in(annotation: Any) -> type[Fields] | None:
    """The model inside `list[Model]` or `Model | None`."""
    if isinstance(annotation, type) and issubclass(annotation, Fields):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _model_in(inner))), None)
