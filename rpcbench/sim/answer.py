"""What a method gives back besides its result: how long that holds true, or a JSON-RPC error."""

from __future__ import annotations

from enum import IntEnum
from typing import Any


class Keep(IntEnum):
    """How long an answer may be given again to the same question."""

    NEVER = 0
    THIS_HEAD = 1
    FOREVER = 2


class Refusal(Exception):  # noqa: N818  (it is an answer, not an error of ours)
    """The node answers with an error object; `data` is left out when None."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def json(self) -> dict[str, Any]:
        """The value of `error`, in the order code, message, data."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        return error if self.data is None else {**error, "data": self.data}


def block_not_found() -> Refusal:
    """Starknet's answer to a block id that names nothing."""
    return Refusal(24, "Block not found")


def contract_not_found() -> Refusal:
    """Starknet's answer to an address where nothing is deployed."""
    return Refusal(20, "Contract not found")
