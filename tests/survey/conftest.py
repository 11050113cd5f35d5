"""Fake nodes that are started for one test and closed after it."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer

import pytest

from tests.survey.fake_node import FakeNode

Start = Callable[..., FakeNode]


@pytest.fixture
def start() -> Iterator[Start]:
    servers: list[ThreadingHTTPServer] = []

    def run(fake: FakeNode, tls: ssl.SSLContext | None = None) -> FakeNode:
        servers.append(fake.start(tls))
        return fake

    yield run
    for server in servers:
        server.shutdown()
        server.server_close()
