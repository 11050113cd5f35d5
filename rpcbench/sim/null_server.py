"""A server that does nothing but answer, in a process of its own: the load generator is measured against it.

Every JSON-RPC request gets the same result at once, small on `/` and large on `/large`, and its arrival and departure
are noted on the clock that all processes of a host share. What was noted is asked for over a pipe.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import re
import signal
import socket
import time
from array import array
from functools import partial
from multiprocessing.connection import Connection as Pipe
from time import monotonic_ns
from types import TracebackType
from typing import Any, Self, cast

import httptools
import numpy as np
import uvloop

from rpcbench.errors import EngineError
from rpcbench.model.ruler import Stamps
from rpcbench.sim.holds import Holds

CAPACITY = 2**17  # ids below it are stamped

_HASH = b"0x44dce27d6bb74319541ec7a224b76bf5ce2b12eb1f932a2ade0260dd20d32fa"
_SMALL = b'{"block_hash":"%b","block_number":160}}' % _HASH
_TRANSACTION = b'{"transaction_hash":"%b","type":"INVOKE","nonce":"0x5","calldata":["%b","0x0"]},' % (_HASH, _HASH)
_LARGE = b'{"block_number":160,"transactions":[%b{}]}}' % (_TRANSACTION * (190_000 // len(_TRANSACTION)))
_ENVELOPE = b'{"jsonrpc":"2.0","id":%b,"result":'
_ENVELOPE_BYTES = len(_ENVELOPE % b"")
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" + _ENVELOPE
_ID = re.compile(rb'"id"\s*:\s*(\d+)')
_BACKLOG = 4096
_PATIENCE_S = 5.0


class NullServer:
    """The server's process, from `with` to the end of its block.

    `service_us` holds every reply back until that long after its request came. `cpu` pins the process to a processor.
    It ends with this process, in whatever way this one ends.
    """

    def __init__(self, *, capacity: int = CAPACITY, service_us: int = 0, cpu: int | None = None) -> None:
        self._options = (capacity, service_us * 1_000, cpu)
        self._port = 0

    def __enter__(self) -> Self:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_run, args=(theirs, *self._options), name="null-server", daemon=True)
        # Ctrl-C is for the run: the child is born with it held back, and ignores it as soon as it can.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()
        try:
            self._port = self._hear()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """The process that serves."""
        assert self._process.pid is not None
        return self._process.pid

    def url(self, *, large: bool = False) -> str:
        """Where the small or the large reply is to be had."""
        return f"http://127.0.0.1:{self._port}/{'large' if large else ''}"

    def stamps(self) -> Stamps:
        """What was stamped since the last call; ask while nothing is being sent."""
        try:
            self._pipe.send(None)
        except OSError:
            raise EngineError(_GONE) from None
        arrived, departed, served, unix_offset_ns = self._hear()
        return Stamps(np.frombuffer(arrived, np.int64), np.frombuffer(departed, np.int64), served, unix_offset_ns)

    def stop(self) -> None:
        """End the process; safe to call twice."""
        self._process.terminate()
        self._process.join(_PATIENCE_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._pipe.close()

    def _hear(self) -> Any:
        try:
            return self._pipe.recv()
        except (EOFError, OSError):
            raise EngineError(_GONE) from None


_GONE = "the null server ended by itself, and nothing can be measured against it; check free memory, then try again"


class _Book:
    """What is noted: in arrays made beforehand, so that no request pays for room."""

    __slots__ = ("arrived_ns", "capacity", "departed_ns", "served")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.clear()

    def clear(self) -> None:
        self.arrived_ns = array("q", bytes(8 * self.capacity))
        self.departed_ns = array("q", bytes(8 * self.capacity))
        self.served = 0


class _Connection(asyncio.Protocol):
    """One client."""

    __slots__ = ("_arrived_ns", "_body", "_book", "_holds", "_parser", "_result", "_service_ns", "_transport")

    def __init__(self, book: _Book, holds: Holds, service_ns: int) -> None:
        self._book = book
        self._holds = holds
        self._service_ns = service_ns
        self._body = b""
        self._result = _SMALL
        self._arrived_ns = 0
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(0)  # uvloop then writes at once and not at the end of the tick

    def connection_lost(self, exc: Exception | None) -> None:
        del self._parser  # it holds this connection as this holds it

    def data_received(self, data: bytes) -> None:
        self._arrived_ns = monotonic_ns()
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._transport.abort()

    def on_url(self, url: bytes) -> None:
        self._result = _LARGE if url == b"/large" else _SMALL

    def on_body(self, body: bytes) -> None:
        self._body = self._body + body if self._body else body

    def on_message_complete(self) -> None:
        found = _ID.search(self._body)
        self._body = b""
        call = found[1] if found else b"null"
        # A large reply is never put together: memory for it may cost more than all the rest, or nothing, by chance.
        reply = (_HEAD % (_ENVELOPE_BYTES + len(call) + len(self._result), call), self._result)
        position = int(call) if found else self._book.capacity
        if self._service_ns:
            due_ns = self._arrived_ns + self._service_ns
            self._holds.until(due_ns, partial(self._answer, position, self._arrived_ns, reply))
        else:
            self._answer(position, self._arrived_ns, reply)

    def _answer(self, position: int, arrived_ns: int, reply: tuple[bytes, bytes]) -> None:
        """Note the departure before the reply leaves: what sending it takes is no longer the server's time."""
        if self._transport.is_closing():
            return
        book = self._book
        book.served += 1
        if position < book.capacity:
            book.arrived_ns[position] = arrived_ns
            book.departed_ns[position] = monotonic_ns()
        self._transport.writelines(reply)


def _run(pipe: Pipe, capacity: int, service_ns: int, cpu: int | None) -> None:
    """The server's process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(pipe, _Book(capacity), service_ns))


async def _serve(pipe: Pipe, book: _Book, service_ns: int) -> None:
    """Answer until the other end of the pipe is closed."""
    loop = asyncio.get_running_loop()
    parent_gone = asyncio.Event()
    holds = Holds(loop)
    listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
    server = await loop.create_server(lambda: _Connection(book, holds, service_ns), sock=listener)

    def obey() -> None:
        try:
            pipe.recv()
            offset_ns = time.time_ns() - monotonic_ns()
            pipe.send((book.arrived_ns.tobytes(), book.departed_ns.tobytes(), book.served, offset_ns))
        except (EOFError, OSError):
            parent_gone.set()
        book.clear()

    loop.add_reader(pipe.fileno(), obey)
    os.set_blocking(pipe.fileno(), True)  # uvloop has just changed that, and a `Pipe` cannot do without
    pipe.send(listener.getsockname()[1])
    gc.freeze()
    gc.disable()
    await parent_gone.wait()
    server.close()
