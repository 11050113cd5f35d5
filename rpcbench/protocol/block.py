"""A block as far as rpcbench needs to know it, on either chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

BlockChoice = int | Literal["latest"]


@dataclass(frozen=True, slots=True)
class Block:
    """Height, hash in minimal lower case (comparable between nodes), and when it was made in Unix seconds."""

    number: int
    hash: str
    timestamp_s: int


def member(reply: Any, key: str) -> Any:
    """`reply[key]` of a foreign reply. Raises ValueError where there is no such thing."""
    if not isinstance(reply, Mapping) or key not in reply:
        raise ValueError(f"the reply has no `{key}`")
    return reply[key]


def parse_hash(value: Any) -> str:
    """A hash without leading zeros, which nodes write differently. Raises ValueError."""
    return hex(parse_hex(value))


def parse_hex(value: Any) -> int:
    """A 0x… string as a number. Raises ValueError."""
    if not isinstance(value, str) or not value.lower().startswith("0x"):
        raise ValueError("a hex string was expected and something else came")
    try:
        return int(value, 16)
    except ValueError:
        raise ValueError("a hex string was expected and something else came") from None
