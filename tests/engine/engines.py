"""The engines that one contract holds for, and a server of the kind that each of them speaks to."""

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rpcbench.engine.asyncio_engine import AsyncioEngine
from rpcbench.engine.base import Engine
from rpcbench.engine.httpx_engine import HttpxEngine
from rpcbench.engine.websocket_engine import WebSocketEngine
from rpcbench.model.samples import Samples
from tests.engine.conftest import check_rows, ignore, make_workload
from tests.engine.odd_server import Behaviour, OddServer, answer


@dataclass(frozen=True)
class Kind:
    """One engine under the contract."""

    name: str
    make: Callable[..., Engine]
    engine: Engine

    @property
    def websocket(self) -> bool:
        return self.name == "websocket"

    def server(self, behave: Behaviour = answer, *, tls: ssl.SSLContext | None = None, **options: Any) -> OddServer:
        return OddServer(behave, tls=tls, websocket=self.websocket, **options)

    def send(self, url: str, count: int = 1, engine: Engine | None = None, **options: Any) -> Samples:
        """Send `count` calls, each once; what holds for every trial of every engine is checked here."""
        if self.websocket:
            url = url.replace("http", "ws", 1) if url.startswith("http") else url
        samples = (engine or self.engine).run(make_workload(url, count, **options), ignore)
        check_rows(samples)
        # Every request that was started has one row, so what was sent is the sum over all classes.
        assert sorted(samples.rows["call"].tolist()) == list(range(1000, 1000 + count))
        return samples


MAKERS: dict[str, Callable[..., Engine]] = {
    "asyncio": AsyncioEngine,
    "httpx": HttpxEngine,
    "websocket": WebSocketEngine,
}


class Kinds(dict[str, Kind]):
    """Every engine by name, made when it is first asked for."""

    def __missing__(self, name: str) -> Kind:
        return self.setdefault(name, Kind(name, MAKERS[name], MAKERS[name]()))

    def __enter__(self) -> "Kinds":
        return self

    def __exit__(self, *exc: object) -> None:
        for kind in self.values():
            kind.engine.close()
