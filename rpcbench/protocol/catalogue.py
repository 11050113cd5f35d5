"""The methods of both chains, and whether a call fits them.

One table for each chain, in `starknet_methods` and `ethereum_methods`: a method a line, its parameters in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from rpcbench.model.scenario import Chain
from rpcbench.protocol import ethereum_methods, starknet_methods
from rpcbench.protocol.kinds import Param, Problem, check_fields, listing, nearest, parse_params, shown

# What changes a chain, a node or its accounts: never to be sent to a node by accident.
_WRITES = (
    "*_send*Transaction*",
    "starknet_add*",
    "admin_*",
    "personal_*",
    "miner_*",
    "engine_*",
    "debug_set*",
    "devnet_*",
    "anvil_*",
    "hardhat_*",
    "evm_*",
)
# What a method of a name that nobody here knows most likely does: `katana_setNextBlockTimestamp`, `txpool_clear`.
_WRITING_VERB = re.compile(
    r"_(add|ban|clear|compact|create|delete|disable|drop|enable|flush|force|free|generate|impersonate|import|increase"
    r"|kill|load|mine|mint|prune|publish|remove|reset|restart|restore|revert|rollback|save|send|set|shutdown|start"
    r"|stop|submit|unban|unlock|update|write)(?![a-z])"
)
_SUBSCRIPTIONS = ("starknet_subscribe*", "starknet_unsubscribe*", "eth_subscribe", "eth_unsubscribe")


@dataclass(frozen=True, slots=True)
class Method:
    """One method: its parameters in positional order, and whether calling it changes anything."""

    name: str
    params: tuple[Param, ...]
    writes: bool

    @property
    def signature(self) -> str:
        """The parameters in words, ? behind what may be left out: `block_id`, `response_flags?`."""
        return listing(p.name if p.required else f"{p.name}?" for p in self.params) if self.params else "no parameters"


def writes(method: str) -> bool:
    """Whether a method is one that writes or administers; of one that is not known here, whether it looks like it."""
    if any(fnmatchcase(method, pattern) for pattern in _WRITES):
        return True
    known = any(method in table for table in (starknet_methods.METHODS, ethereum_methods.METHODS))
    return not known and _WRITING_VERB.search(method) is not None


def methods(chain: Chain) -> Mapping[str, Method]:
    """Every method of a chain by name."""
    return _METHODS[chain]


def check_call(chain: Chain, method: str, params: Any) -> list[Problem]:
    """All that is wrong with a concrete call before it is sent; nothing when it fits the specification."""
    known = _METHODS[chain].get(method)
    if known is None:
        return [Problem((), _unknown(chain, method))]
    if params is None:
        params = []
    if chain is Chain.ETHEREUM and isinstance(params, Mapping):
        return [Problem((), f"is a mapping; on Ethereum write a list, in this order: {known.signature}")]
    if not isinstance(params, list | Mapping):
        return [Problem((), f"is {shown(params)}; write a list or a mapping; {method} takes {known.signature}")]
    return list(_by_position(known, params) if isinstance(params, list) else _by_name(known, params))


def _by_name(method: Method, params: Mapping[str, Any]) -> Iterator[Problem]:
    return check_fields(params, method.params, (), method.name)


def _by_position(method: Method, params: list[Any]) -> Iterator[Problem]:
    required = sum(p.required for p in method.params)
    if not required <= len(params) <= len(method.params):
        count = f"{len(params)} parameter{'s' if len(params) != 1 else ''}"
        yield Problem((), f"has {count}; {method.name} takes {method.signature}")
    for i, (param, value) in enumerate(zip(method.params, params, strict=False)):
        yield from param.kind(value, (i,))


def _unknown(chain: Chain, method: str) -> str:
    """The sentence for a method that the catalogue lacks."""
    if any(fnmatchcase(method, pattern) for pattern in _SUBSCRIPTIONS):
        return f"`{method}` needs a WebSocket; the calls of a scenario go over HTTP"
    other = Chain.ETHEREUM if chain is Chain.STARKNET else Chain.STARKNET
    if method in _METHODS[other]:
        return f"`{method}` belongs to {other}; this scenario says `chain: {chain}`"
    near = _nearest_method(chain, method)
    hint = f"; did you mean `{near}`?" if near else f"; known are for instance {listing(list(_METHODS[chain])[:3])}"
    return f"`{method}` is no method of {chain} that rpcbench knows{hint}"


def _nearest_method(chain: Chain, method: str) -> str | None:
    """The method that was probably meant, also where the prefix was left out or is another chain's."""
    bare = {name.partition("_")[2]: name for name in _METHODS[chain]}
    near = nearest(method, _METHODS[chain]) if "_" in method else None
    return near or bare.get(nearest(method.rpartition("_")[2], bare) or "")


def _read(table: Mapping[str, str], kinds: Mapping[str, Any]) -> dict[str, Method]:
    return {name: Method(name, parse_params(text, kinds), writes(name)) for name, text in table.items()}


_METHODS: dict[Chain, dict[str, Method]] = {
    Chain.STARKNET: _read(starknet_methods.METHODS, starknet_methods.KINDS),
    Chain.ETHEREUM: _read(ethereum_methods.METHODS, ethereum_methods.KINDS),
}
