"""Every kind of call once on every node, quietly and one at a time, before the load begins.

It shows what replies weigh and roughly how long they take, and which calls a node refuses. The latencies hold this
client's own time too and are no measurement.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from rpcbench.model.node import Node
from rpcbench.model.route import DIRECT, Route
from rpcbench.model.samples import Status
from rpcbench.model.workload import Call
from rpcbench.protocol.batch import classify_batch
from rpcbench.protocol.classify import Reply, classify
from rpcbench.survey.asker import Asker, open_client
from rpcbench.survey.privacy import printable
from rpcbench.survey.reading import HttpReply, error_text
from rpcbench.survey.trouble import Kind, Trouble

MESSAGE_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """How one node took one kind of call (`spec` indexes the scenario's calls).

    Latency and size are medians over the answered calls, over all where none was answered. `status`, `code` and
    `message` are those of the first failure; `message` is the node's own text, or why there was no reply.
    `cache_headers` came with any reply of the node, see Asker.
    """

    node: str
    spec: int
    latency_ms: float
    bytes_in: int
    status: Status
    code: int
    message: str
    cache_headers: dict[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether any call of this kind got no real answer."""
        return self.status > Status.REVERTED


def rehearse(
    nodes: Sequence[Node],
    calls: Sequence[Call],
    *,
    timeout_s: float = 10.0,
    route: Route = DIRECT,
) -> tuple[Rehearsal, ...]:
    """Send each call once to each node; one Rehearsal for every node and kind of call, in that order."""
    return asyncio.run(_rehearse(nodes, calls, timeout_s, route))


async def _rehearse(
    nodes: Sequence[Node], calls: Sequence[Call], timeout_s: float, route: Route
) -> tuple[Rehearsal, ...]:
    takes: dict[tuple[int, int], list[Rehearsal]] = {
        (index, spec): [] for index in range(len(nodes)) for spec in sorted({call.spec for call in calls})
    }
    async with open_client(route) as client:
        askers = [Asker(client, node, timeout_s) for node in nodes]
        for call in calls:
            for index, asker in enumerate(askers):
                takes[index, call.spec].append(await _take(asker, call))
    return tuple(
        replace(_together(some), cache_headers=askers[index].cache_headers) for (index, _), some in takes.items()
    )


async def _take(asker: Asker, call: Call) -> Rehearsal:
    node = asker.node
    started_s = asyncio.get_running_loop().time()
    try:
        reply = await asker.send(call.body)
    except Trouble as trouble:
        waited_ms = (asyncio.get_running_loop().time() - started_s) * 1e3
        status = Status.TIMEOUT if trouble.kind is Kind.LATE else Status.NETWORK
        return Rehearsal(node.name, call.spec, waited_ms, 0, status, 0, printable(str(trouble), node, MESSAGE_LIMIT))
    outcome = _judge(reply, call)
    failed = outcome.status > Status.REVERTED
    message = printable(error_text(reply.body), node, MESSAGE_LIMIT) if failed else ""
    return Rehearsal(node.name, call.spec, reply.latency_ms, reply.bytes_in, outcome.status, outcome.code, message)


def _judge(reply: HttpReply, call: Call) -> Reply:
    if call.batch > 1:
        return classify_batch(reply.http_status, reply.retry_after, reply.body, call.id, call.batch)
    return classify(reply.http_status, reply.retry_after, reply.body, call.id)


def _together(takes: Sequence[Rehearsal]) -> Rehearsal:
    answered = [take for take in takes if not take.failed] or takes
    telling = next((take for take in takes if take.failed), takes[0])
    return Rehearsal(
        node=telling.node,
        spec=telling.spec,
        latency_ms=statistics.median(take.latency_ms for take in answered),
        bytes_in=round(statistics.median(take.bytes_in for take in answered)),
        status=telling.status,
        code=telling.code,
        message=telling.message,
    )
