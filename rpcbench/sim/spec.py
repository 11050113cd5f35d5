"""What an embedded node is to be, and the faults it can be given: values only, cheap to import."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from rpcbench.errors import UsageError

PERSONALITIES = ("juno", "pathfinder", "geth")
STARKNET_SPECS = ("0.8", "0.9", "0.10")


class Failure(StrEnum):
    """What can become of one HTTP request. Those up to WRONG_ID keep the HTTP reply whole and falsify what is in it."""

    RPC_ERROR = "rpc_error"  # JSON-RPC -32603
    REVERTED = "reverted"  # JSON-RPC 40, as when a contract refuses
    NULL_RESULT = "null_result"
    EMPTY_RESULT = "empty_result"  # an empty list, object or text for a full one, no events
    ALTERED = "altered"  # the first hexadecimal number of the result is another
    PADDED = "padded"  # the same result with blanks in it, three times as long
    CONSTANT = "constant"  # the first result this method gave, for ever
    WRONG_ID = "wrong_id"
    HTTP_429 = "http_429"  # with Retry-After: 1
    HTTP_503 = "http_503"  # with Retry-After: 1
    HTML = "html"  # 200 with a web page
    EMPTY = "empty"  # 200 without a body
    CUT_JSON = "cut_json"  # half the JSON, sent as if it were all
    TRUNCATED = "truncated"  # half of the promised bytes, then the connection is closed
    RESET = "reset"  # TCP RST in place of a reply
    SILENT = "silent"  # no reply, connection left open


@dataclass(frozen=True, slots=True)
class Faults:
    """Switches that can be set when the node starts and changed while it runs; the default is a healthy node.

    `failures` maps kinds of Failure to the share of requests they befall (their sum is at most 1), among those
    whose method is in `methods`, or among all when that is empty. `delay_ms` comes on top of the spec's.
    `spec_versions` leaves only these Starknet specs served, `required_header` is a name and a value without which
    the answer is 401, `stop_after` kills the process when the request after that many arrives, `reply_headers` come
    with every reply, as those of a cache would.
    """

    delay_ms: float = 0.0
    failures: Mapping[str, float] = field(default_factory=dict)
    methods: tuple[str, ...] = ()
    freeze_head: bool = False
    lag_blocks: int = 0
    chain_id: str | None = None
    other_genesis: bool = False
    spec_versions: tuple[str, ...] = ()
    syncing: bool = False
    required_header: tuple[str, str] | None = None
    stop_after: int | None = None
    reply_headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = set(self.failures) - {kind.value for kind in Failure}
        if unknown:
            raise UsageError(f"no such failure: {', '.join(sorted(unknown))}; choose from {', '.join(Failure)}")
        if any(share < 0 for share in self.failures.values()) or sum(self.failures.values()) > 1 + 1e-9:
            raise UsageError("the shares of failures must not be negative nor add up to more than 1")
        if self.delay_ms < 0 or self.lag_blocks < 0:
            raise UsageError("a delay or a lag cannot be negative")
        if set(self.spec_versions) - set(STARKNET_SPECS):
            raise UsageError(f"spec_versions can hold {', '.join(STARKNET_SPECS)}")

    def changed(self, changes: Mapping[str, Any]) -> Faults:
        """These faults with some switched; lists, as JSON has them, become tuples. Raises UsageError."""
        names = {f.name for f in fields(self)}
        if unknown := set(changes) - names:
            raise UsageError(f"no such fault: {', '.join(sorted(unknown))}; choose from {', '.join(sorted(names))}")
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in changes.items()}
        return replace(self, **values)


@dataclass(frozen=True, slots=True)
class SimSpec:
    """One embedded node. Equal seed, epoch, start and interval make equal chains, in any process.

    At `epoch_unix_s` block `start_blocks` appears on top of as many earlier ones; then one every
    `block_interval_s`. `pace` scales the latency law (0 answers at once), `delay_ms` holds every reply that much
    longer, to the fraction of a millisecond; `workers` requests are served at a time, further ones queue.
    """

    personality: str
    port: int = 0
    host: str = "127.0.0.1"
    seed: int = 1
    epoch_unix_s: int = field(default_factory=lambda: int(time.time()))
    start_blocks: int = 400
    block_interval_s: float = 2.0
    delay_ms: float = 0.0
    workers: int = 16
    pace: float = 1.0
    faults: Faults = field(default_factory=Faults)

    def __post_init__(self) -> None:
        if self.personality not in PERSONALITIES:
            raise UsageError(f"there is no embedded {self.personality!r}; choose from {', '.join(PERSONALITIES)}")
        if self.start_blocks < 1 or self.block_interval_s <= 0 or self.workers < 1:
            raise UsageError("an embedded node needs at least one block, one worker and a positive block interval")
        if self.delay_ms < 0 or self.pace < 0:
            raise UsageError("an embedded node's delay and pace cannot be negative")

    def to_json(self) -> str:
        """One line from which `spec_from_json` makes an equal spec in another process."""
        return json.dumps(asdict(self))


def spec_from_json(text: str) -> SimSpec:
    """The spec that `SimSpec.to_json` wrote."""
    data = json.loads(text)
    faults = Faults().changed(data.pop("faults"))
    return SimSpec(**data, faults=faults)
