"""A small programmable node: real HTTP on loopback, any chain, any answer, and a list of what it was asked."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rpcbench.model.node import Node

SN_MAIN = "0x534e5f4d41494e"
SN_SEPOLIA = "0x534e5f5345504f4c4941"
MISSING = {"error": {"code": -32601, "message": "Method not found"}}


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    path: str
    method: str
    body: bytes
    headers: dict[str, str]
    at_s: float


@dataclass(frozen=True)
class Raw:
    """An answer below JSON-RPC."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass
class FakeNode:
    """Change the attributes while it runs. `answers` overrides single methods, `raw` everything."""

    chain: str = "starknet"
    chain_id: str = SN_MAIN
    specs: dict[str, str] = field(default_factory=dict)  # path: spec version served there
    head: int = 100
    fork: int = 0  # differs where histories differ
    age_s: float = 1.0  # of the latest block
    answers: dict[str, Any] = field(default_factory=dict)
    raw: Raw | Callable[[Seen], Raw | None] | None = None
    seen: list[Seen] = field(default_factory=list)
    port: int = 0
    scheme: str = "http"
    name: str = "node"

    def node(self, *, path: str = "", name: str | None = None, **more: Any) -> Node:
        return Node(name or self.name, f"{self.scheme}://127.0.0.1:{self.port}{path}", **more)

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    def asked(self, method: str) -> int:
        return sum(seen.method == method for seen in self.seen)

    def start(self, tls: ssl.SSLContext | None = None) -> ThreadingHTTPServer:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                method = json.loads(body)["method"]
                seen = Seen(self.path, method, body, {k.lower(): v for k, v in self.headers.items()}, time.monotonic())
                fake.seen.append(seen)
                reply = fake.reply(seen)
                lines = [f"HTTP/1.1 {reply.status} X", f"Content-Length: {len(reply.body)}"]
                lines += [f"{key}: {value}" for key, value in reply.headers]
                self.wfile.write("\r\n".join([*lines, "", ""]).encode() + reply.body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # a client that hangs up during a TLS handshake is part of the tests

            def finish_request(self, request: Any, client_address: Any) -> None:
                if tls is None:
                    super().finish_request(request, client_address)
                    return
                with tls.wrap_socket(request, server_side=True) as wrapped:
                    super().finish_request(wrapped, client_address)

        server = Server(("127.0.0.1", 0), Handler)
        self.port = server.server_address[1]
        self.scheme = "https" if tls else "http"
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        return server

    def reply(self, seen: Seen) -> Raw:
        raw = self.raw(seen) if callable(self.raw) else self.raw
        if raw is not None:
            return raw
        if self.specs and seen.path not in self.specs and "pathfinder" not in seen.path:
            return Raw(404, b"404 page not found\n")
        request = json.loads(seen.body)
        answer = self.answers.get(seen.method, self.answer(seen, request["params"]))
        envelope = answer if isinstance(answer, dict) and answer.keys() & {"error", "jsonrpc"} else {"result": answer}
        return Raw(200, json.dumps({"jsonrpc": "2.0", "id": request["id"], **envelope}).encode())

    def answer(self, seen: Seen, params: Any) -> Any:
        if self.chain == "starknet":
            return self._starknet(seen, params)
        return self._ethereum(seen.method, params)

    def _starknet(self, seen: Seen, params: Any) -> Any:
        match seen.method:
            case "starknet_chainId":
                return self.chain_id
            case "starknet_specVersion":
                return self.specs.get(seen.path, MISSING)
            case "starknet_syncing":
                return False
            case "starknet_getBlockWithTxHashes":
                choice = params["block_id"]
                number = self.head if choice == "latest" else choice["block_number"]
                if number > self.head:
                    return {"error": {"code": 24, "message": "Block not found"}}
                return {"block_number": number, "block_hash": self.hash_of(number), "timestamp": self.time_of(number)}
        return MISSING

    def _ethereum(self, method: str, params: Any) -> Any:
        match method:
            case "eth_chainId":
                return self.chain_id
            case "web3_clientVersion":
                return "Geth/v1.17.7-stable"
            case "eth_syncing":
                return False
            case "eth_getBlockByNumber":
                number = self.head if params[0] == "latest" else int(params[0], 16)
                if number > self.head:
                    return None
                return {"number": hex(number), "hash": self.hash_of(number), "timestamp": hex(self.time_of(number))}
        return MISSING

    def hash_of(self, number: int) -> str:
        return hex(0xABC0000000 + self.fork * 0x100000 + number)

    def time_of(self, number: int) -> int:
        return int(time.time() - self.age_s - 10 * (self.head - number))


def juno(**more: Any) -> FakeNode:
    """Serves 0.8 to 0.10 at versioned paths and its own version method."""
    specs = {"/": "0.10.2", "/rpc/v0_10": "0.10.2", "/rpc/v0_9": "0.9.0", "/rpc/v0_8": "0.8.1"}
    return FakeNode(**{"name": "juno", "specs": specs, "answers": {"juno_version": "v0.16.1"}, **more})


def pathfinder(**more: Any) -> FakeNode:
    """Serves older specs too, another one at its root, and tells its version at a path of its own only."""
    specs = {"/": "0.8.1", "/rpc/v0_10": "0.10.2", "/rpc/v0_9": "0.9.0", "/rpc/v0_8": "0.8.1", "/rpc/v0_7": "0.7.1"}
    node = FakeNode(**{"name": "pathfinder", "specs": specs, **more})
    chosen = node.answer

    def answer(seen: Seen, params: Any) -> Any:
        if seen.method == "pathfinder_version" and seen.path == "/rpc/pathfinder/v0_1":
            return "v0.23.0"
        return chosen(seen, params)

    node.answer = answer  # type: ignore[method-assign]
    return node


def devnet(**more: Any) -> FakeNode:
    """Serves its root and /rpc only."""
    return FakeNode(**{"name": "devnet", "specs": {"/": "0.10.2", "/rpc": "0.10.2"}, **more})


def geth(**more: Any) -> FakeNode:
    return FakeNode(**{"name": "geth", "chain": "ethereum", "chain_id": "0x1", **more})
