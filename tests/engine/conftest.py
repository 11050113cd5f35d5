"""One engine for all tests of the room, and a short way to send through it."""

import socket
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import trustme

from rpcbench.engine.asyncio_engine import AsyncioEngine
from rpcbench.engine.base import Engine, Progress
from rpcbench.model.node import Node
from rpcbench.model.samples import SAMPLE, Samples
from rpcbench.model.workload import Call, Workload
from rpcbench.protocol.batch import encode_batch, item_id
from rpcbench.protocol.jsonrpc import encode

Send = Callable[..., Samples]
SECOND_NS = 1_000_000_000


def ignore(progress: Progress) -> None:
    """Nobody watches."""


def body_of(call_id: int, batch: int) -> bytes:
    items = [encode(item_id(call_id, i), "m", [call_id, i]) for i in range(batch)]
    return items[0] if batch == 1 else encode_batch(items)


def make_workload(
    url: str,
    count: int = 1,
    *,
    concurrency: int = 1,
    due_ns: list[int] | None = None,
    duration_s: float | None = None,
    timeout_s: float = 5,
    headers: tuple[tuple[str, str], ...] = (),
    batch: int = 1,
) -> Workload:
    """`count` distinct calls, or batches of calls, each once and in order."""
    bodies = [body_of(1000 + n, batch) for n in range(count)]
    return Workload(
        node=Node("tested", url, headers=headers),
        calls=[Call(1000 + n, 0, body, batch) for n, body in enumerate(bodies)],
        order=np.arange(count, dtype=np.int32),
        due_ns=None if due_ns is None else np.array(due_ns, dtype=np.int64),
        concurrency=concurrency,
        duration_ns=None if duration_s is None else int(duration_s * SECOND_NS),
        timeout_ns=int(timeout_s * SECOND_NS),
    )


def check_rows(samples: Samples) -> None:
    """What holds of every row of every trial."""
    rows = samples.rows
    assert rows.dtype == SAMPLE
    assert (rows["due_ns"] >= 0).all()
    assert (rows["done_ns"] > 0).all()
    sent, answered = rows[rows["sent_ns"] > 0], rows[rows["first_ns"] > 0]
    assert (sent["due_ns"] <= sent["sent_ns"]).all()
    assert (sent["sent_ns"] <= sent["done_ns"]).all()
    assert (answered["sent_ns"] <= answered["first_ns"]).all()
    assert (answered["first_ns"] <= answered["done_ns"]).all()
    assert (np.diff(rows["done_ns"]) >= -5_000_000).all()
    assert (rows["connect_ns"] >= 0).all()
    assert (rows["reserved"] == 0).all()


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    engine = AsyncioEngine()
    yield engine
    engine.close()


@pytest.fixture
def send(engine: Engine) -> Send:
    """Send `count` calls to a URL, check the rows' invariants, return the samples."""

    def send(url: str, count: int = 1, **options: object) -> Samples:
        samples = engine.run(make_workload(url, count, **options), ignore)  # type: ignore[arg-type]
        check_rows(samples)
        return samples

    return send


@pytest.fixture
def dead_url() -> str:
    """A port where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture(scope="session")
def kinds():
    """Every engine, started when a test first wants it."""
    from tests.engine.engines import Kinds

    with Kinds() as kinds:
        yield kinds


@pytest.fixture(params=["asyncio", "httpx", "websocket"])
def kind(request, kinds):
    """Each engine in turn."""
    return kinds[request.param]


@pytest.fixture(params=["asyncio", "httpx"])
def http(request, kinds):
    """Each engine that speaks HTTP."""
    return kinds[request.param]


@pytest.fixture(scope="session")
def authority():
    return trustme.CA()


@pytest.fixture(scope="session")
def ca_file(authority, tmp_path_factory):
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(path)
    return str(path)
