"""A server that costs next to nothing: it answers every JSON-RPC request with the same result, small or large.

It runs in a process of its own and does as it is told over a pipe: count requests, or note when each arrived.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import socket
import threading
import time
from multiprocessing.connection import Connection as Pipe
from types import TracebackType
from typing import cast

import uvloop

_HASH = b"0x44dce27d6bb74319541ec7a224b76bf5ce2b12eb1f932a2ade0260dd20d32fa"
SMALL_RESULT = b'{"block_hash":"%b","block_number":160}' % _HASH  # 130 bytes with the envelope of a short id
_TRANSACTION = b'{"transaction_hash":"%b","type":"INVOKE","nonce":"0x5","calldata":["%b","0x0"]},' % (_HASH, _HASH)
LARGE_RESULT = b'{"block_number":160,"transactions":[%b{}]}' % (_TRANSACTION * (190_000 // len(_TRANSACTION)))
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
_REPLY = _HEAD + b'{"jsonrpc":"2.0","id":%b,"result":%b}'
_ENVELOPE_BYTES = len(b'{"jsonrpc":"2.0","id":,"result":}')


class NullServer:
    """A handle on the server's process. `POST /large` gets the large result, everything else the small one."""

    def __init__(self, cpu: int | None) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, cpu), daemon=True)
        self._process.start()
        theirs.close()
        self.port: int = self._pipe.recv()

    def __enter__(self) -> NullServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.terminate()
        self._process.join()

    def url(self, path: str = "/") -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}{path}"

    def served(self) -> int:
        """Requests answered since the last call."""
        self._pipe.send("served")
        count: int = self._pipe.recv()
        return count

    def arrivals(self) -> dict[int, int]:
        """When (unix ns) each request id arrived last, since the last call."""
        self._pipe.send("arrivals")
        arrived: dict[int, int] = self._pipe.recv()
        return arrived


class _State:
    served = 0
    arrivals: dict[int, int] = {}  # noqa: RUF012


class _Protocol(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's do not say that they are
        self._transport.set_write_buffer_limits(0)
        self._partial = b""

    def data_received(self, data: bytes) -> None:
        now_ns = time.time_ns()
        data = self._partial + data
        at = data.find(b'"id":')
        if at < 0 or not data.endswith(b"}"):  # the request is not whole; every one here ends so
            self._partial = data
            return
        self._partial = b""
        end = at = at + len(b'"id":')
        while 48 <= data[end] <= 57:
            end += 1
        call = data[at:end]
        _State.served += 1
        _State.arrivals[int(call)] = now_ns
        result = LARGE_RESULT if data.startswith(b"POST /large") else SMALL_RESULT
        self._transport.write(_REPLY % (_ENVELOPE_BYTES + len(call) + len(result), call, result))


def _serve(pipe: Pipe, cpu: int | None) -> None:
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    threading.Thread(target=_obey, args=(pipe,), daemon=True).start()
    uvloop.run(_listen(pipe))


def _obey(pipe: Pipe) -> None:
    """Answer the parent's questions; asleep while requests are served."""
    with contextlib.suppress(EOFError):
        while True:
            order = pipe.recv()
            served, arrivals = _State.served, _State.arrivals
            _State.served, _State.arrivals = 0, {}
            pipe.send(served if order == "served" else arrivals)
    os._exit(0)


async def _listen(pipe: Pipe) -> None:
    listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
    server = await asyncio.get_running_loop().create_server(_Protocol, sock=listener)
    pipe.send(listener.getsockname()[1])
    await server.serve_forever()
