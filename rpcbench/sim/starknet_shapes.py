"""What Starknet transactions, receipts and events look like: the specification's shapes around random felts.

Keys stand in the order of Juno's structs; a node that sorts its keys does so when it encodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from rpcbench.sim.chain import derived

Json = dict[str, Any]

ETH = "0x49d36570d4e46f48e99674bd3fcc84644ddd6b96f7c741b1562b82f9e004dc7"
STRK = "0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d"
SEQUENCER = "0x1176a1bd84444c89232ec27754698e5d2e7e1a7f1539f12027f28b23ec9f3d8"
TRANSFER = "0x99cd8bde557814842a3121e8ddfd433a539b8c9f14bf31ebf108d12e6196e9"
APPROVAL = "0x134692b230b9e1ffa39098904722134159652b09c5bc41d88d6698779d228ff"
BALANCE_OF = "0x2e4263afad30923c891518314c3c95dbe830a16874e8abc5777a9a20b54c76e"
_FELT_BITS = 251


class Event(NamedTuple):
    """One event and where its transaction, and itself within that, stand."""

    address: str
    keys: list[str]
    data: list[str]
    transaction_index: int
    event_index: int

    def json(self) -> Json:
        """As it stands in a receipt."""
        return {"from_address": self.address, "keys": self.keys, "data": self.data}


class Made(NamedTuple):
    """One transaction without its hash, its receipt without its block, and its events."""

    body: Json
    receipt: Json
    events: list[Event]


@dataclass(frozen=True, slots=True)
class Cast:
    """The contracts, accounts and classes that take part; whatever an event's keys hold is one of these."""

    tokens: tuple[str, ...]
    contracts: tuple[str, ...]
    accounts: tuple[str, ...]
    classes: tuple[str, ...]
    selectors: tuple[str, ...]

    @property
    def addresses(self) -> frozenset[str]:
        """Everything that is deployed."""
        return frozenset((*self.tokens, *self.contracts, *self.accounts))

    @property
    def event_felts(self) -> frozenset[str]:
        """Every felt that can stand among an event's keys."""
        return frozenset((*self.accounts, *self.contracts, *self.selectors, SEQUENCER, TRANSFER, APPROVAL))


def make_cast(key: bytes) -> Cast:
    """The cast of the chain with this key; the two tokens are where mainnet has them."""

    def felts(kind: str, count: int) -> tuple[str, ...]:
        return tuple(hex(derived(key, kind, i) >> (256 - _FELT_BITS + 1)) for i in range(count))

    return Cast(
        tokens=(STRK, ETH, *felts("token", 1)),
        contracts=felts("contract", 5),
        accounts=felts("account", 64),
        classes=felts("class", 6),
        selectors=felts("selector", 6),
    )


def make_transaction(rng: Random, cast: Cast, number: int, index: int) -> Made:
    """Transaction `index` of block `number`: mostly invokes, now and then one of every other type."""
    sender = cast.accounts[(number * 7 + index) % len(cast.accounts)]
    draw = rng.random()
    if draw < 0.88:
        body = _invoke(rng, cast, sender, number, old=draw < 0.1)
    elif draw < 0.93:
        body = _l1_handler(rng, cast)
    elif draw < 0.97:
        body = _deploy_account(rng, cast)
    else:
        body = _declare(rng, sender, number)
    reverted = body["type"] == "INVOKE" and rng.random() < 0.03
    events = _events(rng, cast, sender, index, reverted)
    return Made(body, _receipt(rng, cast, body, events, reverted), events)


def felt(rng: Random) -> str:
    """Any felt, without leading zeros."""
    return hex(rng.getrandbits(_FELT_BITS))


def small(rng: Random, bits: int) -> str:
    """A felt that is an amount or a length rather than a hash."""
    return hex(rng.getrandbits(bits))


def _felts(rng: Random, count: int) -> list[str]:
    return [felt(rng) for _ in range(count)]


def nonce_at(number: int) -> str:
    """The nonce of every account once block `number` is made: accounts of this chain send once a block."""
    return hex(number + 1)


def _bounds(rng: Random) -> Json:
    return {
        "l1_gas": {"max_amount": small(rng, 16), "max_price_per_unit": small(rng, 46)},
        "l1_data_gas": {"max_amount": small(rng, 12), "max_price_per_unit": small(rng, 40)},
        "l2_gas": {"max_amount": small(rng, 28), "max_price_per_unit": small(rng, 36)},
    }


def _v3_tail(rng: Random) -> Json:
    return {
        "resource_bounds": _bounds(rng),
        "tip": hex(rng.choice((0, 0, 0, rng.getrandbits(30)))),
        "paymaster_data": [],
    }


_DA_MODES: Json = {"nonce_data_availability_mode": "L1", "fee_data_availability_mode": "L1"}


def _invoke(rng: Random, cast: Cast, sender: str, number: int, *, old: bool) -> Json:
    calldata = [hex(calls := rng.randint(1, 4))]
    for _ in range(calls):
        arguments = [
            felt(rng) if rng.random() < 0.5 else small(rng, 60) if rng.random() < 0.7 else "0x0"
            for _ in range(rng.randint(3, 8))
        ]
        to = rng.choice(cast.tokens + cast.contracts)
        calldata += [to, rng.choice(cast.selectors), hex(len(arguments)), *arguments]
    start = {"type": "INVOKE", "version": "0x1" if old else "0x3", "nonce": hex(number)}
    middle = {"sender_address": sender, "signature": _felts(rng, rng.choice((2, 2, 3, 5))), "calldata": calldata}
    if old:
        return {**start, "max_fee": small(rng, 52), **middle}
    return {**start, **middle, **_v3_tail(rng), "account_deployment_data": [], **_DA_MODES}


def _l1_handler(rng: Random, cast: Cast) -> Json:
    return {
        "type": "L1_HANDLER",
        "version": "0x0",
        "nonce": small(rng, 21),
        "contract_address": rng.choice(cast.contracts),
        "calldata": [hex(rng.getrandbits(160)), rng.choice(cast.accounts), small(rng, 64), "0x0"],
        "entry_point_selector": rng.choice(cast.selectors),
    }


def _deploy_account(rng: Random, cast: Cast) -> Json:
    return {
        "type": "DEPLOY_ACCOUNT",
        "version": "0x3",
        "nonce": "0x0",
        "contract_address_salt": felt(rng),
        "class_hash": rng.choice(cast.classes),
        "constructor_calldata": _felts(rng, 2),
        "signature": _felts(rng, 2),
        **_v3_tail(rng),
        **_DA_MODES,
    }


def _declare(rng: Random, sender: str, number: int) -> Json:
    return {
        "type": "DECLARE",
        "version": "0x3",
        "nonce": hex(number),
        "class_hash": felt(rng),
        "sender_address": sender,
        "signature": _felts(rng, 2),
        "compiled_class_hash": felt(rng),
        **_v3_tail(rng),
        "account_deployment_data": [],
        **_DA_MODES,
    }


def _events(rng: Random, cast: Cast, sender: str, index: int, reverted: bool) -> list[Event]:
    """Two to six events of the contracts, then the fee; a reverted transaction has but the fee."""
    drafts: list[tuple[str, list[str], list[str]]] = []
    for _ in range(0 if reverted else rng.randint(2, 6)):
        other = rng.choice(cast.accounts)
        draw = rng.random()
        if draw < 0.55:
            drafts.append((rng.choice(cast.tokens), [TRANSFER, sender, other], [small(rng, 70), "0x0"]))
        elif draw < 0.75:
            spender = rng.choice(cast.contracts)
            drafts.append((rng.choice(cast.tokens), [APPROVAL, sender, spender], [small(rng, 70), "0x0"]))
        else:
            data = _felts(rng, 2) + [small(rng, 80) for _ in range(rng.randint(1, 6))]
            drafts.append((rng.choice(cast.contracts), [rng.choice(cast.selectors), other], data))
    drafts.append((STRK, [TRANSFER, sender, SEQUENCER], [small(rng, 56), "0x0"]))
    return [Event(address, keys, data, index, i) for i, (address, keys, data) in enumerate(drafts)]


def _receipt(rng: Random, cast: Cast, body: Json, events: list[Event], reverted: bool) -> Json:
    receipt: Json = {
        "type": body["type"],
        "actual_fee": {"amount": events[-1].data[0], "unit": "WEI" if body["version"] == "0x1" else "FRI"},
        "execution_status": "REVERTED" if reverted else "SUCCEEDED",
        "finality_status": "ACCEPTED_ON_L2",
        "messages_sent": _messages(rng, cast),
        "events": [event.json() for event in events],
    }
    if body["type"] == "DEPLOY_ACCOUNT":
        receipt["contract_address"] = felt(rng)
    if body["type"] == "L1_HANDLER":
        receipt["message_hash"] = f"0x{rng.getrandbits(256):064x}"
    if reverted:
        receipt["revert_reason"] = "Error in the called contract: 'Input too long for arguments'"
    gas = {"l1_gas": 0, "l1_data_gas": rng.randint(128, 2048), "l2_gas": rng.randint(800_000, 40_000_000)}
    return {**receipt, "execution_resources": gas}


def _messages(rng: Random, cast: Cast) -> list[Json]:
    if rng.random() > 0.02:
        return []
    payload = ["0x0", hex(rng.getrandbits(160)), small(rng, 64), "0x0"]
    return [{"from_address": rng.choice(cast.contracts), "to_address": hex(rng.getrandbits(160)), "payload": payload}]
