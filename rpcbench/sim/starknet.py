"""The Starknet read methods for blocks, transactions, events and a little state, over the synthetic chain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

from rpcbench.sim.answer import Keep, Refusal, block_not_found, contract_not_found
from rpcbench.sim.starknet_chain import StarknetChain
from rpcbench.sim.starknet_params import BlockId, Decoder, EventFilter
from rpcbench.sim.starknet_shapes import BALANCE_OF, SEQUENCER, Event, Json, nonce_at

SPEC_VERSIONS = {8: "0.8.1", 9: "0.9.0", 10: "0.10.2"}
_COMMITMENTS = ("transaction_commitment", "event_commitment", "receipt_commitment", "state_diff_commitment")
_SINCE_0_10 = frozenset((*_COMMITMENTS, "transaction_count", "event_count", "state_diff_length"))


@dataclass(slots=True)
class StarknetQuestion:
    """One request's surroundings. `keep` falls when the answer turns out to depend on more than the chain's past."""

    chain: StarknetChain
    decode: Decoder
    head: int
    chain_id: str
    client_version: str
    syncing: bool
    rng: Random
    keep: Keep = Keep.FOREVER

    @property
    def strict(self) -> bool:
        """Whether Pathfinder is asked, not Juno."""
        return self.decode.strict

    def latest(self) -> int:
        """The head, which the answer then depends on."""
        self.keep = min(self.keep, Keep.THIS_HEAD)
        return self.head

    def number(self, block_id: Any) -> int:
        """The block that is meant; the one in the making counts as the head. Refuses when there is none."""
        return self.resolve(self.decode.block_id(block_id))

    def resolve(self, block: BlockId) -> int:
        """As `number`, for a block id that is already decoded."""
        if block.tag == "l1_accepted":
            return min(self.chain.l1_accepted, self.latest())
        if block.tag is not None:
            return self.latest()
        number = block.number if block.hash is None else self.chain.block_number(block.hash)
        if number is None or (number > self.head and number > self.latest()):
            raise block_not_found()
        return number

    def place(self, transaction_hash: Any) -> tuple[int, int]:
        """Block and index of a transaction. Refuses when there is no such transaction yet."""
        place = self.chain.transaction_place(int(self.decode.felt(transaction_hash), 16))
        if place is None or (place[0] > self.head and place[0] > self.latest()):
            raise Refusal(29, "Transaction hash not found")
        return place

    def contract(self, address: Any) -> str:
        """An address where something is deployed. Refuses any other."""
        felt = self.decode.felt(address)
        if felt not in self.chain.addresses:
            raise contract_not_found()
        return felt


def _header(ask: StarknetQuestion, number: int) -> Json:
    header = ask.chain.block(number).header
    if ask.decode.spec < 10:
        header = {key: value for key, value in header.items() if key not in _SINCE_0_10}
    status = "ACCEPTED_ON_L1" if number <= ask.chain.l1_accepted else "ACCEPTED_ON_L2"
    return {"status": status, **header}


def _block(ask: StarknetQuestion, args: Json, transactions: Callable[[int], list[Any]]) -> Json:
    block_id = ask.decode.block_id(args["block_id"])
    if block_id.tag not in ("pending", "pre_confirmed"):
        number = ask.resolve(block_id)
        return {**_header(ask, number), "transactions": transactions(number)}
    parent = ask.latest()
    name: Json = {"parent_hash": ask.chain.block_hash(parent)} if ask.decode.spec <= 8 else {"block_number": parent + 1}
    made = {"timestamp": ask.chain.growth.timestamp(parent + 1), "sequencer_address": SEQUENCER}
    return {**name, **made, **ask.chain.prices(parent + 1), "transactions": []}


def _with_hashes(ask: StarknetQuestion, args: Json) -> Json:
    return _block(ask, args, lambda number: ask.chain.block(number).hashes)


def _with_transactions(ask: StarknetQuestion, args: Json) -> Json:
    def transactions(number: int) -> list[Any]:
        block = ask.chain.block(number)
        return [{"transaction_hash": h, **body} for h, body in zip(block.hashes, block.bodies, strict=True)]

    return _block(ask, args, transactions)


def _with_receipts(ask: StarknetQuestion, args: Json) -> Json:
    def transactions(number: int) -> list[Any]:
        block = ask.chain.block(number)
        return [{"transaction": b, "receipt": r} for b, r in zip(block.bodies, block.receipts, strict=True)]

    return _block(ask, args, transactions)


def _hash_and_number(ask: StarknetQuestion, args: Json) -> Json:
    return {"block_hash": ask.chain.block_hash(head := ask.latest()), "block_number": head}


def _syncing(ask: StarknetQuestion, args: Json) -> Json | bool:
    head = ask.latest()
    if not ask.syncing:
        return False
    named = {"starting": 0, "current": head, "highest": head + 1000}
    sync: Json = {}
    for name, number in named.items():
        sync |= {f"{name}_block_hash": ask.chain.block_hash(number), f"{name}_block_num": number}
    return sync


def _transaction(ask: StarknetQuestion, number: int, index: int) -> Json:
    block = ask.chain.block(number)
    return {"transaction_hash": block.hashes[index], **block.bodies[index]}


def _by_index(ask: StarknetQuestion, args: Json) -> Json:
    number, index = ask.number(args["block_id"]), ask.decode.index(args["index"])
    if index >= ask.chain.transaction_count(number):
        raise Refusal(27, "Invalid transaction index in a block")
    return _transaction(ask, number, index)


def _receipt(ask: StarknetQuestion, args: Json) -> Json:
    number, index = ask.place(args["transaction_hash"])
    block = ask.chain.block(number)
    return {**block.receipts[index], "block_hash": ask.chain.block_hash(number), "block_number": number}


def _status(ask: StarknetQuestion, args: Json) -> Json:
    number, index = ask.place(args["transaction_hash"])
    receipt = ask.chain.block(number).receipts[index]
    status = {key: receipt[key] for key in ("finality_status", "execution_status")}
    return {**status, **({"failure_reason": r} if (r := receipt.get("revert_reason")) else {})}


def _state_update(ask: StarknetQuestion, args: Json) -> Json:
    number = ask.number(args["block_id"])
    ask.keep = Keep.NEVER  # the order of its arrays is another one each time
    update = ask.chain.state_update(number, ask.rng)
    if ask.decode.spec < 10:
        del update["state_diff"]["migrated_compiled_classes"]
    return update


def _nonce(ask: StarknetQuestion, args: Json) -> str:
    number, address = ask.number(args["block_id"]), ask.contract(args["contract_address"])
    return nonce_at(number) if address in ask.chain.cast.accounts else "0x0"


def _class_hash(ask: StarknetQuestion, args: Json) -> str:
    ask.number(args["block_id"])
    address = ask.contract(args["contract_address"])
    return ask.chain.cast.classes[ask.chain.state_felt("class", address) % len(ask.chain.cast.classes)]


def _storage(ask: StarknetQuestion, args: Json) -> str:
    number, address = ask.number(args["block_id"]), ask.contract(args["contract_address"])
    return hex(ask.chain.state_felt(address, ask.decode.felt(args["key"]), number // 8))


def _call(ask: StarknetQuestion, args: Json) -> list[str]:
    request = args["request"]
    if not isinstance(request, dict) or not isinstance(request.get("calldata", []), list):
        raise ask.decode.invalid("invalid request")
    number, address = ask.number(args["block_id"]), ask.contract(request.get("contract_address"))
    selector = ask.decode.felt(request.get("entry_point_selector"))
    calldata = [ask.decode.felt(value) for value in request.get("calldata", [])]
    if address in ask.chain.cast.tokens and selector == BALANCE_OF:
        return [hex(ask.chain.state_felt(address, *calldata, number // 8) >> 180), "0x0"]
    if selector in ask.chain.cast.selectors:
        return [hex(ask.chain.state_felt(address, selector, *calldata, number // 8))]
    entry_point = "entry point" if ask.decode.spec >= 10 else "entrypoint"
    raise Refusal(21, f"Requested {entry_point} does not exist in the contract")


def _matches(event: Event, wanted: EventFilter) -> bool:
    if wanted.addresses is not None and event.address not in wanted.addresses:
        return False
    keys = event.keys
    return all(
        allowed is None or (position < len(keys) and keys[position] in allowed)
        for position, allowed in enumerate(wanted.keys)
    )


class _Found(NamedTuple):
    number: int
    walked: int  # events of this block before it, matching or not
    skipped: int  # events of this block before it that match
    event: Event


def _walk(chain: StarknetChain, wanted: EventFilter, first: int, last: int) -> Iterator[_Found]:
    """Every matching event of the blocks, in order; nothing is made for a filter that no event can match."""
    if wanted.addresses is not None and not wanted.addresses & chain.addresses:
        return
    if any(allowed is not None and not allowed & chain.event_felts for allowed in wanted.keys):
        return
    for number in range(first, last + 1):
        block = chain.block(number)
        if wanted.addresses is not None and not wanted.addresses & block.addresses:
            continue
        skipped = 0
        for walked, event in enumerate(block.events):
            if _matches(event, wanted):
                yield _Found(number, walked, skipped, event)
                skipped += 1


def _events(ask: StarknetQuestion, args: Json) -> Json:
    """One page. Juno's token counts the events walked in the block, Pathfinder's those that match the filter."""
    wanted = ask.decode.event_filter(args["filter"])
    first = 0 if wanted.from_block is None else _range_end(ask, wanted.from_block)
    end = ask.head + 1 if wanted.to_block is None else _range_end(ask, wanted.to_block)
    last = min(end, ask.head)
    resume = wanted.token or (first, 0)
    page: list[Json] = []
    token: Json = {}
    for found in _walk(ask.chain, wanted, max(first, resume[0]), last):
        offset = found.skipped if ask.strict else found.walked
        if (found.number, offset) < resume:
            continue
        if len(page) == wanted.chunk_size:
            token = {"continuation_token": f"{found.number}-{offset}"}
            break
        page.append(_emitted(ask, found))
    if end > ask.head and not token:
        ask.latest()
    return {"events": page, **token}


def _range_end(ask: StarknetQuestion, block: BlockId) -> int:
    """A number may lie beyond the head, where there are no events; a hash may not."""
    return block.number if block.number is not None else ask.resolve(block)


def _emitted(ask: StarknetQuestion, found: _Found) -> Json:
    block = ask.chain.block(found.number)
    event = found.event
    emitted: Json = {
        **event.json(),
        "block_hash": block.header["block_hash"],
        "block_number": found.number,
        "transaction_hash": block.hashes[event.transaction_index],
    }
    if ask.decode.spec >= 10:
        emitted |= {"transaction_index": event.transaction_index, "event_index": event.event_index}
    return emitted


def _count(ask: StarknetQuestion, args: Json) -> int:
    return ask.chain.transaction_count(ask.number(args["block_id"]))


class Method(NamedTuple):
    """How a method is answered, and its parameters in the specification's order."""

    answer: Callable[[StarknetQuestion, Json], Any]
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


_BLOCK = ("block_id",)
_HASH = ("transaction_hash",)
_FLAGS = ("response_flags",)

METHODS: dict[str, Method] = {
    "starknet_specVersion": Method(lambda ask, args: SPEC_VERSIONS[ask.decode.spec]),
    "starknet_chainId": Method(lambda ask, args: ask.chain_id),
    "starknet_blockNumber": Method(lambda ask, args: ask.latest()),
    "starknet_blockHashAndNumber": Method(_hash_and_number),
    "starknet_syncing": Method(_syncing),
    "starknet_getBlockWithTxHashes": Method(_with_hashes, _BLOCK),
    "starknet_getBlockWithTxs": Method(_with_transactions, _BLOCK, _FLAGS),
    "starknet_getBlockWithReceipts": Method(_with_receipts, _BLOCK, _FLAGS),
    "starknet_getBlockTransactionCount": Method(_count, _BLOCK),
    "starknet_getStateUpdate": Method(_state_update, _BLOCK),
    "starknet_getTransactionByHash": Method(
        lambda ask, args: _transaction(ask, *ask.place(args["transaction_hash"])), _HASH, _FLAGS
    ),
    "starknet_getTransactionByBlockIdAndIndex": Method(_by_index, ("block_id", "index"), _FLAGS),
    "starknet_getTransactionReceipt": Method(_receipt, _HASH),
    "starknet_getTransactionStatus": Method(_status, _HASH),
    "starknet_getEvents": Method(_events, ("filter",)),
    "starknet_getNonce": Method(_nonce, ("block_id", "contract_address")),
    "starknet_getClassHashAt": Method(_class_hash, ("block_id", "contract_address")),
    "starknet_getStorageAt": Method(_storage, ("contract_address", "key", "block_id")),
    "starknet_call": Method(_call, ("request", "block_id")),
}
CLIENT_VERSION = Method(lambda ask, args: ask.client_version)
