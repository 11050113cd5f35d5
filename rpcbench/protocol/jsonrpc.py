"""The JSON-RPC 2.0 envelope of a request."""

from __future__ import annotations

from typing import Any

import msgspec

_encoder = msgspec.json.Encoder()


def encode(call_id: int, method: str, params: Any) -> bytes:
    """The request's body: compact JSON, members always in the same order.

    The id is always written and always an integer: it is the one form that every node accepts and echoes unchanged.
    """
    return _encoder.encode({"jsonrpc": "2.0", "id": call_id, "method": method, "params": params})
