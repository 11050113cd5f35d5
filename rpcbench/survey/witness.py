"""One node asked one question at a time, and what it answered, in a form that can be compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rpcbench.model.finding import Cause
from rpcbench.model.node import Node
from rpcbench.model.samples import Status
from rpcbench.model.scenario import Chain
from rpcbench.model.workload import Call
from rpcbench.protocol import ethereum, starknet
from rpcbench.protocol.catalogue import check_call
from rpcbench.protocol.classify import classify
from rpcbench.protocol.jsonrpc import encode
from rpcbench.protocol.normalise import RpcError, normalise
from rpcbench.protocol.pinning import pin
from rpcbench.protocol.refusals import is_not_found, is_unserved, lacks_history
from rpcbench.protocol.starknet_methods import MAX_CHUNK_SIZE
from rpcbench.survey.asker import Asker
from rpcbench.survey.privacy import printable
from rpcbench.survey.reading import error_text
from rpcbench.survey.trouble import Kind, Trouble

# A node that gives no answer so often in a row is asked no more.
PATIENCE = 3

_PROTOCOL = {Chain.STARKNET: starknet, Chain.ETHEREUM: ethereum}
_PAGED = "starknet_getEvents"


@dataclass(frozen=True, slots=True)
class Question:
    """A call as it is asked: at a fixed block, unless it is `moving`."""

    call: Call
    method: str
    params: Any
    body: bytes
    moving: bool


def question(call: Call, chain: Chain, head: int) -> Question:
    """`call` made to ask at `head` where it asks at a moving block, and for events in few large pages."""
    request = json.loads(call.body)
    method, params = request["method"], request.get("params")
    pinned = pin(chain, method, params, head)
    asked = pinned.params
    if method == _PAGED and not check_call(chain, method, asked):
        asked = _with_filter(asked, chunk_size=MAX_CHUNK_SIZE)
    body = call.body if asked == params else encode(call.id, method, asked)
    return Question(call, method, asked, body, pinned.moving)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one node said: a canonical result or a RpcError in `value`, or the `cause` why there is nothing to compare.

    `said` is for people. `valid` marks a result, or an error that is one (a reverted call). `whole` is False where
    pages were left unread. `not_found` may mean that the node no longer has the block.
    """

    value: Any = None
    cause: Cause | None = None
    said: str = ""
    valid: bool = False
    whole: bool = True
    not_found: bool = False


@dataclass(slots=True)
class Witness:
    """One node, and how often in a row it has given no answer."""

    asker: Asker
    chain: Chain
    max_pages: int
    _silent: int = 0
    _lacking: dict[int, bool] = field(default_factory=dict)

    @property
    def node(self) -> Node:
        """The node that is asked."""
        return self.asker.node

    async def answer(self, question: Question) -> Answer:
        """The node's answer, all its pages together."""
        if question.method == _PAGED:
            return await self._joined_pages(question)
        return _canonical(question, await self._ask(question, question.body))

    async def lacks_block(self, number: int) -> bool:
        """Whether the node does not have the block at `number`, although that is below its head."""
        if number not in self._lacking:
            method, params = _PROTOCOL[self.chain].ask_block(number)
            try:
                self._lacking[number] = await self.asker.ask(method, params) is None
            except Trouble as trouble:
                self._lacking[number] = trouble.kind is Kind.RPC_ERROR
        return self._lacking[number]

    async def _joined_pages(self, question: Question) -> Answer:
        """Pages joined until the token is absent, each node with its own tokens: no two nodes cut alike."""
        events: list[Any] = []
        body, token = question.body, None
        for page in range(self.max_pages):
            answer = await self._ask(question, body)
            if not _is_page(answer):
                missing = Answer(cause=Cause.PAGES, said=f"page {page + 1}: {answer.said or 'no list of events'}")
                return missing if page else _canonical(question, answer)
            events += answer.value["events"]
            token = answer.value.get("continuation_token")
            if not token:
                break
            params = _with_filter(question.params, continuation_token=token)
            body = encode(question.call.id, question.method, params)
        return _canonical(question, Answer({"events": events}, valid=True, whole=not token))

    async def _ask(self, question: Question, body: bytes) -> Answer:
        """One reply, its result as it came."""
        if self._silent >= PATIENCE:
            return Answer(cause=Cause.NO_ANSWER, said=f"asked no more after {PATIENCE} failures in a row")
        answer = await self._send(body, question.call.id)
        self._silent = self._silent + 1 if answer.cause in (Cause.TIMED_OUT, Cause.NO_ANSWER) else 0
        return answer

    async def _send(self, body: bytes, call_id: int) -> Answer:
        try:
            reply = await self.asker.send(body)
        except Trouble as trouble:
            cause = Cause.TIMED_OUT if trouble.kind is Kind.LATE else Cause.NO_ANSWER
            return Answer(cause=cause, said=printable(str(trouble), self.node))
        outcome = classify(reply.http_status, reply.retry_after, reply.body, call_id)
        if outcome.status in (Status.OK, Status.NULL_RESULT):
            return _result(reply.body)
        if outcome.status in (Status.RPC_ERROR, Status.REVERTED):
            reverted = outcome.status is Status.REVERTED
            return self._refusal(outcome.code, error_text(reply.body), reverted=reverted)
        return Answer(cause=Cause.NO_ANSWER, said=f"{outcome.status.label}[{outcome.code}]")

    def _refusal(self, code: int, message: str, *, reverted: bool) -> Answer:
        said = printable(f"error {code} {message}", self.node)
        if is_unserved(code):
            return Answer(cause=Cause.UNSERVED, said=said)
        if lacks_history(self.chain, code, message):
            return Answer(cause=Cause.HISTORY, said=said)
        return Answer(RpcError(code), said=said, valid=reverted, not_found=is_not_found(self.chain, code))


def _result(body: bytes) -> Answer:
    try:
        result = json.loads(body)["result"]
    except (ValueError, RecursionError):
        return Answer(cause=Cause.UNREADABLE, said="the reply is no sound JSON, or nested too deeply")
    return Answer(result, valid=True, not_found=result is None)


def _is_page(answer: Answer) -> bool:
    return isinstance(answer.value, dict) and isinstance(answer.value.get("events"), list)


def _canonical(question: Question, answer: Answer) -> Answer:
    if answer.cause is not None or isinstance(answer.value, RpcError):
        return answer
    try:
        return replace(answer, value=normalise(question.method, answer.value))
    except RecursionError:
        return Answer(cause=Cause.UNREADABLE, said="the result is nested too deeply")


def _with_filter(params: Any, **changes: Any) -> Any:
    """The same question with something else in its filter."""
    if isinstance(params, Mapping):
        return {**params, "filter": {**params["filter"], **changes}}
    return [{**params[0], **changes}, *params[1:]]
