"""The Ethereum read methods for blocks, transactions, logs and a little state, in geth's words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from rpcbench.sim.answer import Keep, Refusal
from rpcbench.sim.ethereum_chain import GAS_LIMIT, EthereumChain, Json, word

_QUANTITY = re.compile(r"0x(0|[1-9a-fA-F][0-9a-fA-F]{0,15})")
_HASH = re.compile(r"0x[0-9a-fA-F]{64}")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_SAFE_BEHIND, _FINALIZED_BEHIND = 32, 64


@dataclass(slots=True)
class EthereumQuestion:
    """One request's surroundings. `keep` falls when the answer turns out to depend on more than the chain's past."""

    chain: EthereumChain
    head: int
    chain_id: str
    client_version: str
    syncing: bool
    keep: Keep = Keep.FOREVER

    def latest(self) -> int:
        """The head, which the answer then depends on."""
        self.keep = min(self.keep, Keep.THIS_HEAD)
        return self.head

    def exists(self, number: int | None) -> bool:
        """Whether the chain has grown that far."""
        return number is not None and (number <= self.head or number <= self.latest())

    def number(self, value: Any, position: int) -> int:
        """A block by quantity or tag; it may lie beyond the head."""
        if value in ("latest", "pending"):
            return self.latest()
        if value == "earliest":
            return 0
        if value in ("safe", "finalized"):
            return max(0, self.latest() - (_SAFE_BEHIND if value == "safe" else _FINALIZED_BEHIND))
        return quantity(value, position)

    def state(self, value: Any, position: int) -> int:
        """The block whose state is meant: as `number`, or by hash. Refuses when it does not exist."""
        if isinstance(value, dict):
            value = value.get("blockNumber", value.get("blockHash"))
        by_hash = isinstance(value, str) and _HASH.fullmatch(value)
        number = self.chain.block_number(value) if by_hash else self.number(value, position)
        if number is None or not self.exists(number):
            raise Refusal(-32000, "header not found")
        return number


def quantity(value: Any, position: int) -> int:
    """A minimal hexadecimal number."""
    if isinstance(value, str) and _QUANTITY.fullmatch(value):
        return int(value, 16)
    if not isinstance(value, str):
        raise _invalid(position, "json: cannot unmarshal non-string into Go value of type hexutil.Uint64")
    if not value.startswith("0x"):
        raise _invalid(position, "hex string without 0x prefix")
    if value == "0x":
        raise _invalid(position, "empty hex string")
    raise _invalid(position, "hex number with leading zero digits" if value.startswith("0x0") else "invalid hex string")


def _data(value: Any, position: int, shape: re.Pattern[str], name: str) -> str:
    if not isinstance(value, str) or not value.startswith("0x"):
        raise _invalid(position, "hex string without 0x prefix")
    if not shape.fullmatch(value):
        wanted = 40 if shape is _ADDRESS else 64
        raise _invalid(position, f"hex string has length {len(value) - 2}, want {wanted} for {name}")
    return value.lower()


def _hash(value: Any, position: int) -> str:
    return _data(value, position, _HASH, "common.Hash")


def _address(value: Any, position: int) -> str:
    return _data(value, position, _ADDRESS, "common.Address")


def _invalid(position: int, reason: str) -> Refusal:
    return Refusal(-32602, f"invalid argument {position}: {reason}")


def bind(required: int, most: int, params: Any) -> list[Any]:
    """Positional parameters, padded with None; geth knows no named ones."""
    if params is None:
        params = []
    if not isinstance(params, list):
        raise Refusal(-32602, "non-array args")
    if len(params) > most:
        raise Refusal(-32602, f"too many arguments, want at most {most}")
    if len(params) < required or None in params[:required]:
        missing = params.index(None) if None in params else len(params)
        raise Refusal(-32602, f"missing value for required argument {missing}")
    return [*params, *[None] * (most - len(params))]


def _block(ask: EthereumQuestion, number: int | None, full: Any) -> Json | None:
    if number is None or not ask.exists(number):
        return None
    if not isinstance(full, bool):
        raise _invalid(1, "json: cannot unmarshal into Go value of type bool")
    block = ask.chain.block(number)
    transactions = block.transactions if full else [t["hash"] for t in block.transactions]
    return dict(sorted({**block.header, "transactions": transactions}.items()))


def _receipts(ask: EthereumQuestion, value: Any) -> list[Json] | None:
    by_hash = isinstance(value, str) and _HASH.fullmatch(value)
    number = ask.chain.block_number(value) if by_hash else ask.number(value, 0)
    return ask.chain.block(number).receipts if number is not None and ask.exists(number) else None


def _of_transaction(ask: EthereumQuestion, value: Any, *, receipt: bool) -> Json | None:
    place = ask.chain.transaction_place(_hash(value, 0))
    if place is None or not ask.exists(place[0]):
        return None
    block = ask.chain.block(place[0])
    return (block.receipts if receipt else block.transactions)[place[1]]


def _logs(ask: EthereumQuestion, args: list[Any]) -> list[Json]:
    wanted = args[0]
    if not isinstance(wanted, dict):
        raise _invalid(0, "json: cannot unmarshal into Go value of type filters.input")
    first, last = _log_range(ask, wanted)
    address = wanted.get("address")
    listed = [address] if isinstance(address, str) else address or []
    addresses = frozenset(_address(a, 0) for a in listed)
    topics = [_topics(position) for position in wanted.get("topics") or []]
    if (addresses and not addresses & set(ask.chain.contracts)) or any(t and not t & ask.chain.topics for t in topics):
        return []
    return [
        log
        for number in range(first, last + 1)
        for log in ask.chain.block(number).logs
        if (not addresses or log["address"] in addresses) and _has(log["topics"], topics)
    ]


def _log_range(ask: EthereumQuestion, wanted: Json) -> tuple[int, int]:
    if "blockHash" in wanted:
        if "fromBlock" in wanted or "toBlock" in wanted:
            conflict = "cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other"
            raise _invalid(0, conflict)
        number = ask.chain.block_number(_hash(wanted["blockHash"], 0))
        if number is None or not ask.exists(number):
            raise Refusal(-32000, "unknown block")
        return number, number
    first, last = (ask.number(wanted.get(name) or "latest", 0) for name in ("fromBlock", "toBlock"))
    if first > last:
        raise Refusal(-32602, "invalid block range params")
    if not ask.exists(last):
        raise Refusal(-32602, "block range extends beyond current head block")
    return first, last


def _topics(position: Any) -> frozenset[str]:
    listed = [] if position is None else [position] if isinstance(position, str) else position
    return frozenset(_hash(topic, 0) for topic in listed)


def _has(topics: list[str], wanted: list[frozenset[str]]) -> bool:
    if len(wanted) > len(topics):
        return False
    return all(not allowed or topic in allowed for topic, allowed in zip(topics, wanted, strict=False))


def _balance(ask: EthereumQuestion, args: list[Any]) -> str:
    address, number = _address(args[0], 0), ask.state(args[1], 1)
    known = address in ask.chain.accounts
    return hex(10**18 + ask.chain.state("balance", address, number // 8) % 10**20) if known else "0x0"


def _transaction_count(ask: EthereumQuestion, args: list[Any]) -> str:
    address, number = _address(args[0], 0), ask.state(args[1], 1)
    return hex(number + 1) if address in ask.chain.accounts else "0x0"


def _code(ask: EthereumQuestion, args: list[Any]) -> str:
    address = _address(args[0], 0)
    ask.state(args[1], 1)
    if address not in ask.chain.contracts:
        return "0x"
    return "0x6080604052" + "".join(f"{ask.chain.state('code', address, i):064x}" for i in range(48))


def _storage(ask: EthereumQuestion, args: list[Any]) -> str:
    address, number = _address(args[0], 0), ask.state(args[2], 2)
    slot = str(args[1]).lower()
    return word(ask.chain.state(address, slot, number // 8) >> 128 if address in ask.chain.contracts else 0)


def _call(ask: EthereumQuestion, args: list[Any]) -> str:
    number = ask.state(args[1] or "latest", 1)
    call = args[0]
    if not isinstance(call, dict):
        raise _invalid(0, "json: cannot unmarshal into Go value of type ethapi.TransactionArgs")
    if call.get("to") not in ask.chain.contracts:
        return "0x"
    return word(ask.chain.state("call", call["to"], call.get("data", call.get("input")), number // 8) >> 160)


def _syncing(ask: EthereumQuestion, args: list[Any]) -> Json | bool:
    head = ask.latest()
    if not ask.syncing:
        return False
    return {"currentBlock": hex(head), "highestBlock": hex(head + 1000), "startingBlock": "0x0"}


def _fee_history(ask: EthereumQuestion, args: list[Any]) -> Json:
    newest = ask.state(args[1], 1)
    count = min(quantity(args[0], 0), newest + 1, 1024)
    numbers = range(newest - count + 1, newest + 1)
    rewards = {"reward": [["0x1"] * len(args[2]) for _ in numbers]} if args[2] else {}
    return {
        "oldestBlock": hex(numbers.start),
        **rewards,
        "baseFeePerGas": [hex(ask.chain.base_fee(n)) for n in (*numbers, newest + 1)],
        "gasUsedRatio": [ask.chain.gas_used(n) / GAS_LIMIT for n in numbers],
        "baseFeePerBlobGas": ["0x1"] * (count + 1),
        "blobGasUsedRatio": [0] * count,
    }


class Method(NamedTuple):
    """How a method is answered, and how many positional parameters it needs and takes."""

    answer: Callable[[EthereumQuestion, list[Any]], Any]
    required: int = 0
    most: int = 0


METHODS: dict[str, Method] = {
    "eth_chainId": Method(lambda ask, args: ask.chain_id),
    "net_version": Method(lambda ask, args: str(int(ask.chain_id, 16))),
    "web3_clientVersion": Method(lambda ask, args: ask.client_version),
    "eth_blockNumber": Method(lambda ask, args: hex(ask.latest())),
    "eth_syncing": Method(_syncing),
    "eth_gasPrice": Method(lambda ask, args: hex(ask.chain.base_fee(ask.latest()) + 1)),
    "eth_feeHistory": Method(_fee_history, 2, 3),
    "eth_getBlockByNumber": Method(lambda ask, args: _block(ask, ask.number(args[0], 0), args[1]), 2, 2),
    "eth_getBlockByHash": Method(
        lambda ask, args: _block(ask, ask.chain.block_number(_hash(args[0], 0)), args[1]), 2, 2
    ),
    "eth_getBlockReceipts": Method(lambda ask, args: _receipts(ask, args[0]), 1, 1),
    "eth_getTransactionByHash": Method(lambda ask, args: _of_transaction(ask, args[0], receipt=False), 1, 1),
    "eth_getTransactionReceipt": Method(lambda ask, args: _of_transaction(ask, args[0], receipt=True), 1, 1),
    "eth_getLogs": Method(_logs, 1, 1),
    "eth_getBalance": Method(_balance, 2, 2),
    "eth_getTransactionCount": Method(_transaction_count, 2, 2),
    "eth_getCode": Method(_code, 2, 2),
    "eth_getStorageAt": Method(_storage, 3, 3),
    "eth_call": Method(_call, 1, 2),
}
