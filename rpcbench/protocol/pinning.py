"""Calls that ask at a moving block (`latest`), made to ask at a fixed one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rpcbench.model.scenario import Chain
from rpcbench.protocol.catalogue import check_call, methods

# Blocks that every node moves on in its own time, and that a height can stand for.
_MOVING = frozenset({"latest", "l1_accepted", "safe", "finalized"})
# Blocks that no other node has to have in the same state.
_UNFIXABLE = frozenset({"pending", "pre_confirmed"})
# Served at the head only (by Juno), so it must be asked there.
_AT_HEAD_ONLY = frozenset({"starknet_getStorageProof"})
_BLOCK_PARAMS = frozenset({"block_id", "block", "newest"})


@dataclass(frozen=True, slots=True)
class Pinned:
    """A call's parameters with moving blocks fixed. `moving` tells that some could not be."""

    params: Any
    moving: bool


def pin(chain: Chain, method: str, params: Any, height: int) -> Pinned:
    """`params` with every block tag, written or implied, replaced by `height`; calls that are not valid stay as is."""
    if method in _AT_HEAD_ONLY or check_call(chain, method, params):
        return Pinned(params, _holds(params, _MOVING | _UNFIXABLE))
    names = [param.name for param in methods(chain)[method].params]
    block = hex(height) if chain is Chain.ETHEREUM else {"block_number": height}

    def fixed(name: str, value: Any) -> Any:
        if name in _BLOCK_PARAMS:
            return _block(value, block)
        return _FILTERS[chain](method, value, block) if name == "filter" else value

    if isinstance(params, Mapping):
        pinned: Any = {name: fixed(name, value) for name, value in params.items()}
    else:
        values = list(params or [])
        if len(values) < len(names) and names[len(values)] == "block":
            values.append("latest")  # what a node takes where the last parameter is left out
        pinned = [fixed(name, value) for name, value in zip(names, values, strict=False)]
    return Pinned(pinned, _holds(pinned, _UNFIXABLE))


def _block(value: Any, block: Any) -> Any:
    return block if isinstance(value, str) and value in _MOVING else value


def _event_filter(_method: str, value: Any, block: Any) -> Any:
    """Without `to_block` a Starknet filter reaches to the head, without `from_block` it begins at the first block."""
    return _range(value, {"to_block": "latest"}, ("from_block", "to_block"), block)


def _log_filter(method: str, value: Any, block: Any) -> Any:
    """Without a range, logs are those of the latest block, and traces reach up to it."""
    if "blockHash" in value:
        return value
    implied = {"fromBlock": "latest", "toBlock": "latest"} if method == "eth_getLogs" else {"toBlock": "latest"}
    return _range(value, implied, ("fromBlock", "toBlock"), block)


def _range(value: Any, implied: Mapping[str, str], ends: tuple[str, str], block: Any) -> Any:
    whole = {**implied, **value}
    return {key: _block(item, block) if key in ends else item for key, item in whole.items()}


_FILTERS: dict[Chain, Callable[[str, Any, Any], Any]] = {Chain.STARKNET: _event_filter, Chain.ETHEREUM: _log_filter}


def _holds(value: Any, tags: frozenset[str]) -> bool:
    """Whether one of `tags` stands anywhere in `value`."""
    if isinstance(value, Mapping):
        return any(_holds(item, tags) for item in value.values())
    if isinstance(value, list | tuple):
        return any(_holds(item, tags) for item in value)
    return isinstance(value, str) and value in tags
