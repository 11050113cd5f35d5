"""A synthetic Starknet chain: any block, computed from seed and number when somebody asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from rpcbench.sim.chain import Growth, Hashes, derived
from rpcbench.sim.starknet_shapes import SEQUENCER, Cast, Event, Json, felt, make_cast, make_transaction, small

SIMULATED_CHAIN_ID = hex(int.from_bytes(b"SN_RPCBENCH_SIM"))
_KEPT_BLOCKS = 512


@dataclass(frozen=True, slots=True)
class StarknetBlock:
    """One block. `header` is that of spec 0.10 without the status; bodies, hashes and receipts go by index."""

    number: int
    header: Json
    hashes: list[str]
    bodies: list[Json]
    receipts: list[Json]
    events: list[Event]
    addresses: frozenset[str]


class StarknetChain:
    """The chain of one seed and epoch. `other_genesis` gives the same growth and wholly different contents."""

    def __init__(self, seed: int, growth: Growth, *, other_genesis: bool = False) -> None:
        self.growth = growth
        self._key = derived(b"starknet", seed, growth, other_genesis).to_bytes(32)
        self._blocks: dict[int, StarknetBlock] = {}
        self._block_hashes = Hashes(self._key + b"block", 251)
        self._transaction_hashes = Hashes(self._key + b"transaction", 251)
        self.cast: Cast = make_cast(self._key)
        self.addresses = self.cast.addresses
        self.event_felts = self.cast.event_felts

    @property
    def l1_accepted(self) -> int:
        """The last block that Ethereum has accepted; it stands still, so that old answers stay true."""
        return self.growth.start_blocks // 2

    def block_hash(self, number: int) -> str:
        """The hash of block `number`; that of the block before the first is 0."""
        return hex(self._block_hashes.of(number)) if number >= 0 else "0x0"

    def block_number(self, block_hash: int) -> int | None:
        """Which block has this hash, whether or not it exists yet; None for a hash of nothing."""
        return self._block_hashes.number(block_hash)

    def transaction_place(self, transaction_hash: int) -> tuple[int, int] | None:
        """Block number and index of the transaction with this hash, None for a hash of nothing."""
        place = self._transaction_hashes.number(transaction_hash)
        if place is None or place & 0xFF >= self.transaction_count(place >> 8):
            return None
        return place >> 8, place & 0xFF

    def transaction_count(self, number: int) -> int:
        """How many transactions block `number` holds: 5 to 40."""
        return 5 + derived(self._key, "count", number) % 36

    def state_root(self, number: int) -> str:
        """The state after block `number`."""
        return hex(derived(self._key, "root", number) >> 5) if number >= 0 else "0x0"

    def state_felt(self, *what: object) -> int:
        """A value of the state: the same for the same question, below 2^250."""
        return derived(self._key, "state", *what) >> 6

    def block(self, number: int) -> StarknetBlock:
        """Block `number`, made now unless it is still remembered."""
        block = self._blocks.get(number)
        if block is None:
            if len(self._blocks) >= _KEPT_BLOCKS:
                del self._blocks[next(iter(self._blocks))]
            block = self._blocks[number] = self._make(number)
        return block

    def state_update(self, number: int, rng: Random) -> Json:
        """What block `number` changed; the arrays come in `rng`'s order, as real nodes give them in any."""
        made = Random(derived(self._key, "diff", number))
        addresses = made.sample([*self.cast.tokens, *self.cast.contracts, "0x1"], 5)
        storage: list[Json] = [
            {"address": a, "storage_entries": [{"key": felt(made), "value": felt(made)} for _ in range(6)]}
            for a in addresses
        ]
        for entry in storage:
            rng.shuffle(entry["storage_entries"])
        senders = sorted({b["sender_address"] for b in self.block(number).bodies if "sender_address" in b})
        nonces = [{"contract_address": sender, "nonce": hex(number + 1)} for sender in senders]
        deployed = [{"address": felt(made), "class_hash": made.choice(self.cast.classes)} for _ in range(2)]
        for array in (storage, nonces, deployed):
            rng.shuffle(array)
        diff = {
            "storage_diffs": storage,
            "nonces": nonces,
            "deployed_contracts": deployed,
            "deprecated_declared_classes": [],
            "declared_classes": [],
            "replaced_classes": [],
            "migrated_compiled_classes": [],
        }
        return {
            "block_hash": self.block_hash(number),
            "new_root": self.state_root(number),
            "old_root": self.state_root(number - 1),
            "state_diff": diff,
        }

    def prices(self, number: int) -> Json:
        """Gas prices around `number`, and how data is made available."""
        rng = Random(derived(self._key, "prices", number // 8))

        def price(bits: int) -> Json:
            return {"price_in_fri": small(rng, bits + 14), "price_in_wei": small(rng, bits)}

        return {
            "l1_gas_price": price(34),
            "l1_data_gas_price": price(24),
            "l1_da_mode": "BLOB",
            "starknet_version": "0.14.0",
            "l2_gas_price": price(22),
        }

    def _make(self, number: int) -> StarknetBlock:
        rng = Random(derived(self._key, "block", number))
        count = self.transaction_count(number)
        made = [make_transaction(rng, self.cast, number, index) for index in range(count)]
        hashes = [hex(self._transaction_hashes.of(number << 8 | index)) for index in range(count)]
        events = [event for one in made for event in one.events]
        header = {
            "block_hash": self.block_hash(number),
            "parent_hash": self.block_hash(number - 1),
            "block_number": number,
            "new_root": self.state_root(number),
            "timestamp": self.growth.timestamp(number),
            "sequencer_address": SEQUENCER,
            **self.prices(number),
            "transaction_count": count,
            "event_count": len(events),
            "state_diff_length": count * 3,
            "transaction_commitment": felt(rng),
            "event_commitment": felt(rng),
            "receipt_commitment": felt(rng),
            "state_diff_commitment": felt(rng),
        }
        l1 = number <= self.l1_accepted
        receipts = [
            {"transaction_hash": h, **one.receipt, **({"finality_status": "ACCEPTED_ON_L1"} if l1 else {})}
            for h, one in zip(hashes, made, strict=True)
        ]
        bodies = [one.body for one in made]
        return StarknetBlock(number, header, hashes, bodies, receipts, events, frozenset(e.address for e in events))
