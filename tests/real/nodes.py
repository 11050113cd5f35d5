"""Starts real nodes on free loopback ports and fills them with a chain of blocks, transactions and events.

Nodes come in pairs that hold the same chain, block hash for block hash. anvil and starknet-devnet make equal blocks
when they are told what time it is, so each is filled on its own; geth takes the time from the clock, so its second
node starts from a copy of the first one's data directory.
"""

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

BLOCKS = 45
GENESIS_S = 1_700_000_000
READY_WITHIN_S = 20.0
LOG_TAIL_LINES = 6

# A contract that emits one event with a word of data and a topic of ones, whatever it is called with.
# The first 12 bytes copy the 44 behind them into memory and return them as its code:
# PUSH32 1111…  PUSH1 2a PUSH1 00 MSTORE … LOG1.
EMITTER = "0x602c600c600039602c6000f3602a6000527f" + "11" * 32 + "60206000a100"


class Node:
    """A node's process; `ask` speaks JSON-RPC to it without rpcbench in between."""

    def __init__(self, name: str, argv: list[str], port: int, log: Path) -> None:
        self.name, self.port, self.log = name, port, log
        self.url = f"http://127.0.0.1:{port}"
        with log.open("ab") as output:
            self._process = subprocess.Popen(argv, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        self._client = httpx.Client(base_url=self.url, timeout=30, trust_env=False)

    def ask(self, method: str, params: Any = ()) -> Any:
        """The result of one request; fails on an error in the reply."""
        reply = self.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).json()
        assert "error" not in reply, f"{self.name} answers {method} with {reply['error']}"
        return reply["result"]

    def send(self, request: Any) -> httpx.Response:
        """The whole reply, whatever it says."""
        return self._client.post("/", json=request)

    def wait_until_it_answers(self, method: str) -> None:
        """Return once `method` has a result."""
        deadline_s = time.monotonic() + READY_WITHIN_S
        while True:
            with contextlib.suppress(httpx.TransportError):
                self.ask(method)
                return
            assert self._process.poll() is None, f"{self.name} ended at once:\n{log_tail(self.log)}"
            assert time.monotonic() < deadline_s, f"{self.name} is silent:\n{log_tail(self.log)}"
            time.sleep(0.05)

    def stop(self) -> None:
        """End the process, politely at first."""
        self._client.close()
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def log_tail(log: Path) -> str:
    """The end of what a node said."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:])


@dataclass(frozen=True)
class Pair:
    """Two nodes with one chain; `base` is the one that rpcbench is given first."""

    base: Node
    other: Node


@contextlib.contextmanager
def running(name: str, argv: list[str], port: int, log: Path, ready: str) -> Iterator[Node]:
    """A node that answers, stopped at the end."""
    node = Node(name, argv, port, log)
    try:
        node.wait_until_it_answers(ready)
        yield node
    finally:
        node.stop()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextlib.contextmanager
def anvil_pair(program: Path, logs: Path) -> Iterator[Pair]:
    """Two anvils that mine a block for each transaction."""
    with contextlib.ExitStack() as stack:
        nodes = [stack.enter_context(_anvil(program, logs / f"anvil-{i}.log")) for i in (1, 2)]
        for node in nodes:
            _fill_anvil(node)
        yield Pair(*nodes)


def _anvil(program: Path, log: Path) -> contextlib.AbstractContextManager[Node]:
    port = free_port()
    argv = [str(program), "--host", "127.0.0.1", "--port", str(port), "--timestamp", str(GENESIS_S)]
    return running("anvil", argv, port, log, "eth_chainId")


def _fill_anvil(node: Node) -> None:
    sender = node.ask("eth_accounts")[0]
    for block in range(1, BLOCKS + 1):
        node.ask("evm_setNextBlockTimestamp", [GENESIS_S + 12 * block])
        _send_transaction(node, sender, block)


@contextlib.contextmanager
def geth_pair(program: Path, logs: Path) -> Iterator[Pair]:
    """A geth in developer mode, which mines a block for each transaction, and another that continues from its copy."""
    first, second = logs / "geth-1", logs / "geth-2"
    with _geth(program, first, logs / "geth-0.log") as node:
        sender = node.ask("eth_accounts")[0]
        for block in range(1, BLOCKS + 1):
            _send_transaction(node, sender, block)
    shutil.copytree(first, second)
    with _geth(program, first, logs / "geth-1.log") as base, _geth(program, second, logs / "geth-2.log") as other:
        yield Pair(base, other)


def _geth(program: Path, data: Path, log: Path) -> contextlib.AbstractContextManager[Node]:
    port = free_port()
    argv = [str(program), "--dev", "--dev.period", "0", "--datadir", str(data), "--cache", "64"]
    argv += ["--ipcdisable", "--nodiscover", "--maxpeers", "0", "--port", "0", "--nat", "none", "--authrpc.port", "0"]
    argv += ["--http", "--http.addr", "127.0.0.1", "--http.port", str(port), "--http.api", "eth,net,web3"]
    return running("geth", argv, port, log, "eth_chainId")


def _send_transaction(node: Node, sender: str, number: int) -> None:
    """One transaction, one block (geth now and then adds an empty one): the first makes the emitter, others call it."""
    if number == 1:
        transaction = {"from": sender, "data": EMITTER, "gas": "0x100000"}
    else:
        transaction = {"from": sender, "to": _emitter(node), "gas": "0x30000"}
    node.ask("eth_sendTransaction", [transaction])
    deadline_s = time.monotonic() + READY_WITHIN_S
    while node.ask("eth_getTransactionCount", [sender, "latest"]) != hex(number):
        assert time.monotonic() < deadline_s, f"{node.name} makes no block:\n{log_tail(node.log)}"
        time.sleep(0.005)


def _emitter(node: Node) -> str:
    (creation,) = node.ask("eth_getBlockReceipts", ["0x1"])
    address: str = creation["contractAddress"]
    return address


@contextlib.contextmanager
def devnet_pair(program: Path, logs: Path) -> Iterator[Pair]:
    """Two devnets that make blocks on demand."""
    with contextlib.ExitStack() as stack:
        nodes = [stack.enter_context(_devnet(program, logs / f"devnet-{i}.log")) for i in (1, 2)]
        for node in nodes:
            _fill_devnet(node)
        yield Pair(*nodes)


def _devnet(program: Path, log: Path) -> contextlib.AbstractContextManager[Node]:
    port = free_port()
    argv = [str(program), "--host", "127.0.0.1", "--port", str(port), "--seed", "0", "--accounts", "3"]
    argv += ["--start-time", str(GENESIS_S), "--block-generation-on", "demand"]
    return running("starknet-devnet", argv, port, log, "starknet_chainId")


def _fill_devnet(node: Node) -> None:
    """A transaction with events a block; setting the time is what makes the block."""
    address = node.ask("devnet_getPredeployedAccounts", {})[0]["address"]
    for block in range(1, BLOCKS + 1):
        node.ask("devnet_mint", {"address": address, "amount": block, "unit": "FRI"})
        node.ask("devnet_setTime", {"time": GENESIS_S + 30 * block, "generate_block": True})
