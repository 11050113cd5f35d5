"""A plain client of an embedded node, and the spec that most tests start theirs from."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rpcbench.sim.node import EmbeddedNode, SimSpec

EPOCH_S = int(time.time())
# A short chain that stands still during a test, answering at once.
STILL = SimSpec("juno", epoch_unix_s=EPOCH_S, start_blocks=40, block_interval_s=86_400, pace=0)


@dataclass(frozen=True)
class Answer:
    """One HTTP reply."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """Speaks to one node, each request on a connection of its own."""

    def __init__(self, node: EmbeddedNode, path: str = "/rpc/v0_10") -> None:
        self.node = node
        self.path = path
        self.host, port = node.url.removeprefix("http://").split(":")
        self.port = int(port)

    def send(self, body: Any, path: str | None = None, verb: str = "POST", **headers: str) -> Answer:
        """Send `body`, as JSON unless it is bytes; headers by name with underscores."""
        named = {"Content-Type": "application/json"} | {k.replace("_", "-"): v for k, v in headers.items()}
        connection = http.client.HTTPConnection(self.host, self.port, timeout=5)
        try:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(verb, path or self.path, data, named)
            reply = connection.getresponse()
            return Answer(reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read())
        finally:
            connection.close()

    def rpc(self, method: str, params: Any = (), *, id: Any = 1, path: str | None = None) -> Any:
        """The whole reply object."""
        return self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params}, path).json

    def result(self, method: str, params: Any = (), path: str | None = None) -> Any:
        """The result; an error fails the test."""
        reply = self.rpc(method, params, path=path)
        assert "error" not in reply, reply
        return reply["result"]

    def error(self, method: str, params: Any = (), path: str | None = None) -> Any:
        """The error; a result fails the test."""
        reply = self.rpc(method, params, path=path)
        assert "result" not in reply, reply
        return reply["error"]

    @contextmanager
    def connected(self) -> Iterator[socket.socket]:
        """A raw connection."""
        with socket.create_connection((self.host, self.port), timeout=5) as connection:
            yield connection


@contextmanager
def running(spec: SimSpec, path: str | None = None) -> Iterator[Client]:
    """A node and a client of it; geth at its root, the others at spec 0.10."""
    with EmbeddedNode(spec) as node:
        yield Client(node, path or ("/" if spec.personality == "geth" else "/rpc/v0_10"))
