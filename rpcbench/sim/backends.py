"""Where a method meets its chain: one backend per protocol, holding what the faults have made of the chain."""

from __future__ import annotations

from random import Random
from typing import Any, Protocol

import msgspec

from rpcbench.sim import ethereum, starknet
from rpcbench.sim.answer import Keep, Refusal
from rpcbench.sim.chain import Growth
from rpcbench.sim.dialects import Dialect
from rpcbench.sim.ethereum_chain import SIMULATED_CHAIN_ID as ETHEREUM_CHAIN_ID
from rpcbench.sim.ethereum_chain import EthereumChain
from rpcbench.sim.spec import Faults, SimSpec
from rpcbench.sim.starknet_chain import SIMULATED_CHAIN_ID as STARKNET_CHAIN_ID
from rpcbench.sim.starknet_chain import StarknetChain
from rpcbench.sim.starknet_params import Decoder

Answer = tuple[Any, Keep]


class Backend(Protocol):
    """Answers methods; a Refusal is returned like any other answer, so that it can be remembered too."""

    def answer(self, version: int, method: str, params: bytes, head: int) -> Answer:
        """The result, or the Refusal, and how long it holds true."""

    def set_faults(self, faults: Faults) -> None:
        """Serve another chain, or tell another tale of it, from now on."""

    def prepare(self, number: int) -> None:
        """Make block `number` now, so that the first who asks for it need not wait."""


class StarknetBackend:
    """The Starknet methods, with the parameters of the version that the path stands for."""

    def __init__(self, spec: SimSpec, dialect: Dialect, growth: Growth) -> None:
        self._chains = [StarknetChain(spec.seed, growth, other_genesis=other) for other in (False, True)]
        self._dialect = dialect
        self._rng = Random(spec.seed)
        self.set_faults(spec.faults)

    def set_faults(self, faults: Faults) -> None:
        """Serve another chain, or tell another tale of it, from now on."""
        self._chain = self._chains[faults.other_genesis]
        self._chain_id = faults.chain_id or STARKNET_CHAIN_ID
        self._syncing = faults.syncing

    def answer(self, version: int, method: str, params: bytes, head: int) -> Answer:
        """The result, or the Refusal, and how long it holds true."""
        known = starknet.CLIENT_VERSION if method in self._dialect.version_methods else starknet.METHODS.get(method)
        if known is None or (version == 0 and known is not starknet.CLIENT_VERSION):
            return self._dialect.method_not_found(method), Keep.NEVER
        ask = starknet.StarknetQuestion(
            chain=self._chain,
            decode=Decoder(strict=self._dialect.name == "pathfinder", spec=version),
            head=head,
            chain_id=self._chain_id,
            client_version=self._dialect.client_version,
            syncing=self._syncing,
            rng=self._rng,
        )
        try:
            optional = known.optional if version >= 10 else ()
            args = ask.decode.bind(known.required, optional, msgspec.json.decode(params))
            return known.answer(ask, args), ask.keep
        except Refusal as refusal:
            return refusal.with_traceback(None), ask.keep  # what is remembered must not hold frames

    def prepare(self, number: int) -> None:
        """Make block `number` now, so that the first who asks for it need not wait."""
        self._chain.block(number)


class EthereumBackend:
    """The Ethereum methods, positional parameters only."""

    def __init__(self, spec: SimSpec, dialect: Dialect, growth: Growth) -> None:
        self._chains = [EthereumChain(spec.seed, growth, other_genesis=other) for other in (False, True)]
        self._dialect = dialect
        self.set_faults(spec.faults)

    def set_faults(self, faults: Faults) -> None:
        """Serve another chain, or tell another tale of it, from now on."""
        self._chain = self._chains[faults.other_genesis]
        self._chain_id = faults.chain_id or ETHEREUM_CHAIN_ID
        self._syncing = faults.syncing

    def answer(self, version: int, method: str, params: bytes, head: int) -> Answer:
        """The result, or the Refusal, and how long it holds true."""
        known = ethereum.METHODS.get(method)
        if known is None:
            return self._dialect.method_not_found(method), Keep.NEVER
        ask = ethereum.EthereumQuestion(
            chain=self._chain,
            head=head,
            chain_id=self._chain_id,
            client_version=self._dialect.client_version,
            syncing=self._syncing,
        )
        try:
            args = ethereum.bind(known.required, known.most, msgspec.json.decode(params))
            return known.answer(ask, args), ask.keep
        except Refusal as refusal:
            return refusal.with_traceback(None), ask.keep  # what is remembered must not hold frames

    def prepare(self, number: int) -> None:
        """Make block `number` now, so that the first who asks for it need not wait."""
        self._chain.block(number)


def backend_of(spec: SimSpec, dialect: Dialect, growth: Growth) -> Backend:
    """The backend behind this personality."""
    kind = EthereumBackend if spec.personality == "geth" else StarknetBackend
    return kind(spec, dialect, growth)
