"""What one node is asked, question by question, and what it has answered so far."""

from __future__ import annotations

import asyncio
import re
import statistics
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from rpcbench.model.facts import NodeFacts
from rpcbench.model.scenario import Chain
from rpcbench.protocol import ethereum, starknet
from rpcbench.protocol.block import Block, BlockChoice, parse_hex
from rpcbench.survey.asker import Asker
from rpcbench.survey.privacy import printable
from rpcbench.survey.trouble import Kind, Trouble

# A node that says it is syncing, yet has all but this many blocks, only waits for the latest ones. Pathfinder draws
# the line here itself; Juno calls a single missing block syncing.
NEARLY_SYNCED_BLOCKS = 6

_PROTOCOL = {Chain.STARKNET: starknet, Chain.ETHEREUM: ethereum}
_SPEC_VERSION = re.compile(r"v?\d{1,3}\.\d{1,3}(\.\d{1,3})?(-[\w.]{1,20})?")
_VERSIONED_END = re.compile(r"(/rpc)?/v\d+_\d+/?$")
_LONGEST_HEX = 66


@dataclass(slots=True)
class Interview:
    """One node being asked. Once there is trouble, it is asked no more."""

    asker: Asker
    trouble: Trouble | None = None
    chain: Chain | None = None
    chain_id: str | None = None
    served: dict[str, str] = field(default_factory=dict)  # versioned path: spec version that it answers with
    spec_version: str | None = None
    client_version: str | None = None
    head: Block | None = None
    syncing: bool | None = None
    common: Block | None = None
    common_height: int | None = None
    clock_skew_s: float | None = None
    asked_unix_ns: int = 0

    async def ask_chain(self, expected: Chain | None) -> None:
        """Which protocol the node speaks, and its chain id; 1 question, 2 when the first guess is wrong."""
        first = expected or Chain.STARKNET
        other = Chain.ETHEREUM if first is Chain.STARKNET else Chain.STARKNET
        try:
            self.chain, self.chain_id = first, await self._chain_id(first)
        except Trouble as trouble:
            if not trouble.another_may_do:
                raise
            try:
                self.chain, self.chain_id = other, await self._chain_id(other)
            except Trouble:
                raise trouble from None

    async def _chain_id(self, chain: Chain) -> str:
        method = _PROTOCOL[chain].CHAIN_ID
        answer = await self.asker.ask(method)
        if not isinstance(answer, str) or not answer.isalnum() or len(answer) > _LONGEST_HEX:
            raise self._odd(method)
        self._read(method, parse_hex, answer)
        return answer

    async def ask_spec(self) -> None:
        """The Starknet specification version at the node's present path; 1 question."""
        self.spec_version = await self.spec_at(None)

    async def spec_at(self, url: str | None) -> str:
        """The specification version that the node answers with at `url`; raises Trouble when it tells none."""
        answer = await self.asker.ask(starknet.SPEC_VERSION, url=url)
        if not isinstance(answer, str) or not _SPEC_VERSION.fullmatch(answer):
            raise self._odd(starknet.SPEC_VERSION)
        return answer

    async def ask_client(self) -> None:
        """Name and version of the node's software, if it tells; 1 to 3 questions on Starknet, 1 on Ethereum."""
        if self.chain is Chain.ETHEREUM:
            self.client_version = await self._version(ethereum.CLIENT_VERSION, None)
            return
        for method, client in starknet.CLIENT_VERSIONS.items():
            for url in self._places(starknet.CLIENT_VERSION_PATHS.get(method)):
                version = await self._version(method, url)
                if version is not None:
                    self.client_version = f"{client} {version.removeprefix('v')}"
                    return

    def _places(self, path: str | None) -> list[str | None]:
        """Where to ask what a client serves at its own `path`: there, unless the user's URL rules it out, then here."""
        parts = urlsplit(self.asker.node.url)
        if path is None or not (parts.path in ("", "/") or _VERSIONED_END.search(parts.path)):
            return [None]
        beside = _VERSIONED_END.sub("", parts.path).rstrip("/") + path
        return [parts._replace(path=beside).geturl(), None]

    async def _version(self, method: str, url: str | None) -> str | None:
        try:
            answer = await self.asker.ask(method, url=url)
        except Trouble as trouble:
            if trouble.another_may_do:
                return None
            raise
        return printable(answer, self.asker.node, limit=100) if isinstance(answer, str) and answer else None

    async def ask_head(self) -> None:
        """The latest block; 1 question."""
        self.head = await self._block("latest")
        if self.head is None:
            raise Trouble(self.asker.node, "has no block yet: let it make or fetch some", Kind.RPC_ERROR)
        self.asked_unix_ns = time.time_ns()
        self.clock_skew_s = self.asked_unix_ns / 1e9 - self.head.timestamp_s

    async def ask_syncing(self) -> None:
        """Whether the node is catching up with a head far above its own; None when it does not tell; 1 question."""
        protocol = _PROTOCOL[self.chain or Chain.STARKNET]
        try:
            answer = await self.asker.ask(protocol.SYNCING)
        except Trouble as trouble:
            if trouble.kind is Kind.RPC_ERROR:
                return
            raise
        try:
            says_so, highest = protocol.parse_syncing(answer)
        except ValueError:
            says_so, highest = answer is not None, None
        near = self.head is not None and highest is not None and highest - self.head.number <= NEARLY_SYNCED_BLOCKS
        self.syncing = says_so and not near

    async def ask_common(self, height: int) -> None:
        """The block at `height`, which every node should have; 1 question."""
        self.common_height = height
        self.common = await self._block(height)

    async def _block(self, choice: BlockChoice) -> Block | None:
        """The chosen block; None when the node does not have it."""
        protocol = _PROTOCOL[self.chain or Chain.STARKNET]
        method, params = protocol.ask_block(choice)
        try:
            answer = await self.asker.ask(method, params)
        except Trouble as trouble:
            if trouble.kind is Kind.RPC_ERROR and choice != "latest":
                return None
            raise
        block: Block | None = None if answer is None else self._read(method, protocol.parse_block, answer)
        return block

    def _read(self, method: str, parse: Callable[[Any], Any], answer: Any) -> Any:
        try:
            return parse(answer)
        except ValueError:
            raise self._odd(method) from None

    def _odd(self, method: str) -> Trouble:
        predicate = f"answers {method} in a form that the specification does not know: check what runs there"
        return Trouble(self.asker.node, predicate, Kind.ELSEWHERE)

    @property
    def facts(self) -> NodeFacts | None:
        """What was found out, None when the node could not be asked to the end."""
        if self.trouble is not None or self.head is None:
            return None
        node = self.asker.node
        return NodeFacts(
            node=node.name,
            place=node.place,
            chain_id=self.chain_id,
            spec_version=self.spec_version,
            client_version=self.client_version,
            head=self.head.number,
            head_hash=self.head.hash,
            common_height=self.common_height,
            common_hash=self.common.hash if self.common else None,
            syncing=self.syncing,
            clock_skew_s=self.clock_skew_s,
            round_trip_ms=statistics.median(self.asker.round_trips_ms),
            asked_unix_ns=self.asked_unix_ns,
        )


Question = Callable[[Interview], Awaitable[None]]


async def ask_each(interviews: Iterable[Interview], question: Question) -> list[Interview]:
    """Put one question to all nodes at the same moment; returns those that are still without trouble."""

    async def ask_one(interview: Interview) -> None:
        try:
            await question(interview)
        except Trouble as trouble:
            interview.trouble = trouble

    interviews = [interview for interview in interviews if interview.trouble is None]
    await asyncio.gather(*(ask_one(interview) for interview in interviews))
    return [interview for interview in interviews if interview.trouble is None]
