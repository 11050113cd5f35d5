"""A synthetic Ethereum chain: any block, computed from seed and number when somebody asks for it.

Keys stand in geth's order: blocks and receipts alphabetical, transactions and logs as in its structs. Blooms and
hashes are random bits of the right length, not what the contents would really hash to.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from rpcbench.sim.chain import Growth, Hashes, derived

Json = dict[str, Any]

SIMULATED_CHAIN_ID = "0x539"
TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
APPROVAL = "0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925"
NO_UNCLES = "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347"
NO_WITHDRAWALS = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"
GAS_LIMIT = 36_000_000
_KEPT_BLOCKS = 512


def word(value: int) -> str:
    """32 bytes of data."""
    return f"0x{value:064x}"


@dataclass(frozen=True, slots=True)
class EthereumBlock:
    """One block: `header` lacks its transactions; receipts hold their logs, `logs` all of them in order."""

    number: int
    header: Json
    transactions: list[Json]
    receipts: list[Json]
    logs: list[Json]
    addresses: frozenset[str]


class EthereumChain:
    """The chain of one seed and epoch. `other_genesis` gives the same growth and wholly different contents."""

    def __init__(self, seed: int, growth: Growth, *, other_genesis: bool = False) -> None:
        self.growth = growth
        self._key = derived(b"ethereum", seed, growth, other_genesis).to_bytes(32)
        self._blocks: dict[int, EthereumBlock] = {}
        self._block_hashes = Hashes(self._key + b"block", 256)
        self._transaction_hashes = Hashes(self._key + b"transaction", 256)
        self.accounts = tuple(f"0x{self._derived('account', i) >> 96:040x}" for i in range(64))
        self.contracts = tuple(f"0x{self._derived('contract', i) >> 96:040x}" for i in range(8))
        self.topics = frozenset((TRANSFER, APPROVAL, *(word(int(a, 16)) for a in self.accounts)))

    def block_hash(self, number: int) -> str:
        """The hash of block `number`; that of the block before the first is 0."""
        return word(self._block_hashes.of(number) if number >= 0 else 0)

    def block_number(self, block_hash: str) -> int | None:
        """Which block has this hash, whether or not it exists yet; None for a hash of nothing."""
        return self._block_hashes.number(int(block_hash, 16))

    def transaction_place(self, transaction_hash: str) -> tuple[int, int] | None:
        """Block number and index of the transaction with this hash, None for a hash of nothing."""
        place = self._transaction_hashes.number(int(transaction_hash, 16))
        if place is None or place & 0xFF >= self.transaction_count(place >> 8):
            return None
        return place >> 8, place & 0xFF

    def transaction_count(self, number: int) -> int:
        """How many transactions block `number` holds: 5 to 40."""
        return 5 + self._derived("count", number) % 36

    def base_fee(self, number: int) -> int:
        """Wei per gas in block `number`, around 10^9."""
        return 800_000_000 + self._derived("fee", number // 4) % 400_000_000

    def gas_used(self, number: int) -> int:
        """Gas used by block `number`."""
        return self.transaction_count(number) * 400_000 + self._derived("gas", number) % 400_000

    def state(self, *what: object) -> int:
        """A value of the state: the same for the same question, below 2^256."""
        return self._derived("state", *what)

    def block(self, number: int) -> EthereumBlock:
        """Block `number`, made now unless it is still remembered."""
        block = self._blocks.get(number)
        if block is None:
            if len(self._blocks) >= _KEPT_BLOCKS:
                del self._blocks[next(iter(self._blocks))]
            block = self._blocks[number] = self._make(number)
        return block

    def _derived(self, *what: object) -> int:
        return derived(self._key, *what)

    def _make(self, number: int) -> EthereumBlock:
        rng = Random(self._derived("block", number))
        count = self.transaction_count(number)
        transactions = [self._transaction(rng, number, index) for index in range(count)]
        receipts: list[Json] = []
        logs: list[Json] = []
        for transaction in transactions:
            receipt = self._receipt(rng, number, transaction, len(logs), self.gas_used(number) // count)
            receipts.append(receipt)
            logs += receipt["logs"]
        addresses = frozenset(log["address"] for log in logs)
        return EthereumBlock(number, self._header(rng, number), transactions, receipts, logs, addresses)

    def _header(self, rng: Random, number: int) -> Json:
        root = iter([word(rng.getrandbits(256)) for _ in range(5)])
        return {
            "baseFeePerGas": hex(self.base_fee(number)),
            "blobGasUsed": "0x0",
            "difficulty": "0x0",
            "excessBlobGas": "0x0",
            "extraData": "0x" + b"rpcbench-sim".hex(),
            "gasLimit": hex(GAS_LIMIT),
            "gasUsed": hex(self.gas_used(number)),
            "hash": self.block_hash(number),
            "logsBloom": _bloom(rng, 1024),
            "miner": self.accounts[0],
            "mixHash": next(root),
            "nonce": "0x0000000000000000",
            "number": hex(number),
            "parentBeaconBlockRoot": next(root),
            "parentHash": self.block_hash(number - 1),
            "receiptsRoot": next(root),
            "requestsHash": "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "sha3Uncles": NO_UNCLES,
            "size": hex(800 + 300 * self.transaction_count(number)),
            "stateRoot": next(root),
            "timestamp": hex(self.growth.timestamp(number)),
            "transactionsRoot": next(root),
            "uncles": [],
            "withdrawals": [],
            "withdrawalsRoot": NO_WITHDRAWALS,
        }

    def _transaction(self, rng: Random, number: int, index: int) -> Json:
        legacy = rng.random() < 0.2
        tip = rng.getrandbits(24)
        price = self.base_fee(number) + tip
        calldata = b"\xa9\x05\x9c\xbb" + rng.randbytes(32 * rng.choice((0, 2, 2, 4, 9, 20)))
        fees = {} if legacy else {"maxFeePerGas": hex(2 * price), "maxPriorityFeePerGas": hex(tip)}
        parity = rng.getrandbits(1)
        return {
            "blockHash": self.block_hash(number),
            "blockNumber": hex(number),
            "blockTimestamp": hex(self.growth.timestamp(number)),
            "from": self.accounts[(number * 7 + index) % len(self.accounts)],
            "gas": hex(rng.randint(21_000, 900_000)),
            "gasPrice": hex(price),
            **fees,
            "hash": word(self._transaction_hashes.of(number << 8 | index)),
            "input": "0x" + calldata.hex(),
            "nonce": hex(number),
            "to": rng.choice(self.contracts),
            "transactionIndex": hex(index),
            "value": hex(rng.choice((0, rng.getrandbits(60)))),
            "type": "0x0" if legacy else "0x2",
            **({} if legacy else {"accessList": []}),
            "chainId": SIMULATED_CHAIN_ID,
            "v": hex(2 * int(SIMULATED_CHAIN_ID, 16) + 35 + parity) if legacy else hex(parity),
            "r": hex(rng.getrandbits(255)),
            "s": hex(rng.getrandbits(254)),
            **({} if legacy else {"yParity": hex(parity)}),
        }

    def _receipt(self, rng: Random, number: int, transaction: Json, first_log: int, gas: int) -> Json:
        index = int(transaction["transactionIndex"], 16)
        failed = rng.random() < 0.03
        logs = [self._log(rng, transaction, first_log + i) for i in range(0 if failed else rng.choice((0, 1, 2, 3, 5)))]
        return {
            "blockHash": transaction["blockHash"],
            "blockNumber": hex(number),
            "contractAddress": None,
            "cumulativeGasUsed": hex(gas * (index + 1)),
            "effectiveGasPrice": transaction["gasPrice"],
            "from": transaction["from"],
            "gasUsed": hex(gas),
            "logs": logs,
            "logsBloom": _bloom(rng, 64 if logs else 0),
            "status": "0x0" if failed else "0x1",
            "to": transaction["to"],
            "transactionHash": transaction["hash"],
            "transactionIndex": transaction["transactionIndex"],
            "type": transaction["type"],
        }

    def _log(self, rng: Random, transaction: Json, index: int) -> Json:
        parties = [word(int(transaction["from"], 16)), word(int(rng.choice(self.accounts), 16))]
        return {
            "address": rng.choice(self.contracts),
            "topics": [TRANSFER if rng.random() < 0.8 else APPROVAL, *parties],
            "data": word(rng.getrandbits(72)),
            "blockNumber": transaction["blockNumber"],
            "transactionHash": transaction["hash"],
            "transactionIndex": transaction["transactionIndex"],
            "blockHash": transaction["blockHash"],
            "blockTimestamp": transaction["blockTimestamp"],
            "logIndex": hex(index),
            "removed": False,
        }


def _bloom(rng: Random, bits: int) -> str:
    """2048 bits of which at most `bits` are set."""
    value = 0
    for _ in range(min(bits, 64)):
        value |= 1 << rng.getrandbits(11)
    return f"0x{value:0512x}"
