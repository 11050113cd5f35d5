"""A process between rpcbench and a node that holds every reply for a known time and keeps its own account.

Bytes go through unchanged in both directions. A reply is held from the moment its last byte is here until it is
passed on whole; the hold that was really applied is measured each time, and is the truth that tests compare with.
It is deliberately written without any of rpcbench's own code: the two must not share a mistake.

    python slow_proxy.py NODE_PORT HOLD_MS

It prints the port it listens on. A line on its standard input is answered with one line of JSON: all exchanges since
the last one. It ends when its standard input does, so it cannot outlive the tests, which handle it as a SlowProxy.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import selectors
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httptools

WAKING_NS = 80_000  # what a sleeper may take to be awake; the rest of it is spent watching the clock


@dataclass(frozen=True)
class Told:
    """What a proxy tells of one exchange; `id` is None for what is no JSON-RPC request, times are None without a reply.

    `hold_ms` runs from the reply's last byte here until it is passed on, `stay_ms` from the request's last byte here
    until then: it is the node's own time and the hold, which is all of the latency but the way to the proxy and back.
    """

    agent: str
    path: str
    id: Any
    hold_ms: float | None
    stay_ms: float | None


class SlowProxy:
    """A proxy process in front of the node at `node_port`; use it in a `with` statement."""

    def __init__(self, node_port: int, hold_ms: float) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(node_port), str(hold_ms)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}"

    def tell(self) -> list[Told]:
        """Every exchange since the last time."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return [Told(**told) for told in json.loads(self._process.stdout.readline())]

    def __enter__(self) -> SlowProxy:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._process.communicate(timeout=10)  # closes its input, and waits
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise


class Exchange:
    """One request, and the times of its reply: None until there was one."""

    __slots__ = ("agent", "arrived_ns", "body", "hold_ns", "path", "stay_ns")

    def __init__(self) -> None:
        self.agent = self.path = ""
        self.body = b""
        self.arrived_ns = 0
        self.hold_ns: int | None = None
        self.stay_ns: int | None = None

    def told(self) -> Told:
        """As the tests get it."""
        try:
            request = json.loads(self.body)
        except ValueError:
            request = None
        call_id = request.get("id") if isinstance(request, dict) else None
        times_ms = (None if ns is None else ns / 1e6 for ns in (self.hold_ns, self.stay_ns))
        return Told(self.agent, self.path, call_id, *times_ms)


class Account:
    """What went through, in the order of arrival."""

    def __init__(self, node_port: int, hold_ms: float) -> None:
        self.node_port = node_port
        self.hold_ns = round(hold_ms * 1e6)
        self.exchanges: list[Exchange] = []

    def close(self) -> str:
        """Everything so far as a line of JSON; counting begins anew."""
        told, self.exchanges = [asdict(exchange.told()) for exchange in self.exchanges], []
        return json.dumps(told)


class Client(asyncio.Protocol):
    """A connection of rpcbench's, and the node's connection that belongs to it.

    A request goes on when it is whole. Were its parts sent on as they come, a node that refuses a path without
    reading the rest would close the connection more often than it does without a proxy.
    """

    def __init__(self, account: Account) -> None:
        self.account = account
        self.waiting: list[Exchange] = []  # one, unless the client does not wait for its replies
        self._parser = httptools.HttpRequestParser(self)
        self._exchange = Exchange()
        self._request = b""
        self._whole = b""  # what can go on as soon as the node's connection is open
        self._node: asyncio.Transport | None = None
        self._opening: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._opening = asyncio.get_running_loop().create_task(self._open())

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            self._node, _ = await loop.create_connection(lambda: Node(self), "127.0.0.1", self.account.node_port)
        except OSError:
            self.transport.abort()  # as unreachable as the node itself
            return
        self._go_on()

    def data_received(self, data: bytes) -> None:
        self._exchange.arrived_ns = time.monotonic_ns()
        self._request += data
        self._parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        self._exchange.path = url.decode()

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"user-agent":
            self._exchange.agent = value.decode()

    def on_body(self, body: bytes) -> None:
        self._exchange.body += body

    def on_message_complete(self) -> None:
        self.account.exchanges.append(self._exchange)
        self.waiting.append(self._exchange)
        self._exchange = Exchange()
        self._whole += self._request
        self._request = b""
        self._go_on()

    def _go_on(self) -> None:
        if self._node is not None and self._whole:
            self._node.write(self._whole)
            self._whole = b""

    def connection_lost(self, exc: Exception | None) -> None:
        if self._node is not None:
            self._node.abort()


class Node(asyncio.Protocol):
    """The node's side of a Client: collects a reply, holds it, passes it on."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._hold_ns = client.account.hold_ns
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        self._reply = b""
        self._complete = False
        self._held = 0
        self._over = False

    def data_received(self, data: bytes) -> None:
        arrived_ns = time.monotonic_ns()
        self._reply += data
        self._parser.feed_data(data)
        if not self._complete:
            return
        self._complete = False
        reply, self._reply = self._reply, b""
        exchange = self._client.waiting.pop(0)
        self._held += 1
        if self._hold_ns:
            release = partial(self._pass_on, exchange, reply, arrived_ns)
            self._loop.call_at((arrived_ns + self._hold_ns - WAKING_NS) / 1e9, release)
        else:
            self._pass_on(exchange, reply, arrived_ns)

    def on_message_complete(self) -> None:
        self._complete = True

    def _pass_on(self, exchange: Exchange, reply: bytes, arrived_ns: int) -> None:
        while (now_ns := time.monotonic_ns()) < arrived_ns + self._hold_ns:
            pass
        exchange.hold_ns = now_ns - arrived_ns
        exchange.stay_ns = now_ns - exchange.arrived_ns
        self._client.transport.write(reply)
        self._held -= 1
        if self._over:
            self._hang_up()

    def connection_lost(self, exc: Exception | None) -> None:
        self._over = True
        self._hang_up()

    def _hang_up(self) -> None:
        """Close as soon as nothing is held, so that the client learns of it no later than it has to."""
        if self._held:
            return
        if self._reply:  # cut off, or one that lasts until the connection closes
            self._client.transport.write(self._reply)
        self._client.transport.close()


async def main(node_port: int, hold_ms: float) -> None:
    """Listen until standard input ends."""
    loop = asyncio.get_running_loop()
    account = Account(node_port, hold_ms)
    listener = await loop.create_server(lambda: Client(account), "127.0.0.1", 0)
    ended = loop.create_future()

    def answer() -> None:
        if sys.stdin.readline():
            tell(account.close())
        elif not ended.done():
            ended.set_result(None)

    loop.add_reader(sys.stdin.fileno(), answer)
    tell(str(listener.sockets[0].getsockname()[1]))
    await ended
    listener.close()


def tell(line: str) -> None:
    """One line to whoever started this process."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def exact_loop() -> asyncio.AbstractEventLoop:
    """A stock loop whose timers are good to some microseconds: epoll waits in milliseconds, select does not."""
    with contextlib.suppress(OSError):  # Linux lets sleepers oversleep by 50 µs unless told otherwise
        Path("/proc/self/timerslack_ns").write_text("1")
    return asyncio.SelectorEventLoop(selectors.SelectSelector())


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=exact_loop) as runner:
        runner.run(main(int(sys.argv[1]), float(sys.argv[2])))
