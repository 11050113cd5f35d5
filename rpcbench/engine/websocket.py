"""One WebSocket connection: upgrade, frames, messages. The protocol is the websockets library's, the socket is ours."""

from __future__ import annotations

import asyncio
import logging
import ssl
from time import monotonic_ns
from typing import cast

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.uri import WebSocketURI

from rpcbench.engine.connection import Connection, Connector, UpgradeRefusedError
from rpcbench.engine.reply_body import Bodies, Body
from rpcbench.engine.request_bytes import Target, headers_of
from rpcbench.errors import EngineError
from rpcbench.model.node import Node
from rpcbench.model.samples import Status
from rpcbench.protocol.classify import Reply, classify

_BUFFER = memoryview(bytearray(262_144))
_MESSAGE = frozenset({Opcode.TEXT, Opcode.BINARY, Opcode.CONT})
_NOT_FOR_AN_UPGRADE = frozenset({"content-type", "accept", "accept-encoding"})
_NOBODY = Reply(Status.NETWORK, 0, 0)
_BAD = Reply(Status.BAD_REPLY, 0, 0)
# The library would log headers and paths, which may be secret.
_logger = logging.Logger("rpcbench.websocket", logging.CRITICAL + 1)


def encode_frame(body: bytes) -> bytes:
    """A request as the one masked frame that carries it."""
    return Frame(Opcode.TEXT, body).serialize(mask=True)


class WebSocketConnector(Connector):
    """Opens connections and has them upgraded."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        node: Node,
        target: Target,
        tls: ssl.SSLContext | None,
        bodies: Bodies,
    ) -> None:
        super().__init__(loop, target, tls, bodies)
        self._uri = WebSocketURI(target.tls, target.host, target.port, target.path, "", None, None)
        self._headers = [h for h in headers_of(node, target) if h[0].lower() not in _NOT_FOR_AN_UPGRADE]
        if any(name.lower().startswith(("sec-websocket-", "upgrade", "connection")) for name, _ in self._headers):
            raise EngineError(f"Node {node.name} sets a header that belongs to the WebSocket upgrade; remove it.")

    def upgrade(self, protocol: ClientProtocol) -> Request:
        """The request for an upgrade."""
        request = protocol.connect()
        for name, value in self._headers:
            if name in request.headers:
                del request.headers[name]
            request.headers[name] = value
        return request

    def new_protocol(self) -> ClientProtocol:
        """The state of one connection; replies are not compressed."""
        return ClientProtocol(self._uri, max_size=self.bodies.max_bytes, logger=_logger)

    def _new_connection(self) -> Connection:
        return WebSocketConnection(self)

    async def _greet(self, connection: Connection) -> None:
        try:
            await cast(WebSocketConnection, connection).upgraded
        except BaseException:
            connection.transport.abort()
            raise


class MessageReader:
    """Judges one message after another, frame by frame."""

    __slots__ = ("_bodies", "_body", "begun", "received")

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self._body: Body | None = None
        self.begun = False
        self.received = 0

    def feed(self, frame: Frame, call_id: int) -> Reply | None:
        """Take the next frame; the reply to request `call_id` once it is complete."""
        if self._body is None:
            self.received = len(frame.data)
            if frame.fin and call_id not in self._bodies.batches:
                return classify(200, False, bytes(frame.data), call_id)
            self._body = self._bodies.new(call_id)
            self.begun = True
        else:
            self.received += len(frame.data)
        self._body.feed(frame.data)
        if not frame.fin:
            return None
        reply = self._body.finish(200, False)
        self._body, self.begun = None, False
        return reply


class WebSocketConnection(Connection):
    """A connection that speaks frames. It carries one request at a time, never two."""

    __slots__ = ("_message", "_protocol", "_ws_connector", "upgraded")

    def __init__(self, connector: WebSocketConnector) -> None:
        super().__init__(connector)
        self._ws_connector = connector
        self._protocol = connector.new_protocol()
        self._message = MessageReader(connector.bodies)
        self.upgraded: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def received(self) -> int:
        return self._message.received if self._message.begun else 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._protocol.send_request(self._ws_connector.upgrade(self._protocol))
        self._write_out()

    def get_buffer(self, sizehint: int) -> memoryview:
        return _BUFFER

    def buffer_updated(self, nbytes: int) -> None:
        now = monotonic_ns()
        lane = self.lane
        if self.upgraded.done() and lane is not None and lane.busy and not lane.first_ns:
            lane.first_ns = now
        self._protocol.receive_data(bytes(_BUFFER[:nbytes]))
        self._take_events(now)
        self._write_out()

    def eof_received(self) -> None:
        now = monotonic_ns()
        if not self.upgraded.done():
            self._refuse(_NOBODY)
        elif self.lane is not None and self.lane.busy and self.lane.first_ns:
            self._answer(_BAD, now, keep=False)  # cut off

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.upgraded.done():
            self.upgraded.set_exception(exc if isinstance(exc, OSError) else ConnectionResetError())
            self.upgraded.exception()  # it may be that nobody waits any longer
        super().connection_lost(exc)

    def _take_events(self, now: int) -> None:
        events = self._protocol.events_received()
        last = max((i for i, e in enumerate(events) if isinstance(e, Frame) and e.opcode in _MESSAGE), default=-1)
        for i, event in enumerate(events):
            if isinstance(event, Response):
                self._upgraded()
            elif isinstance(event, Frame):
                self._take_frame(event, now, surplus=i < last)
        if self._protocol.handshake_exc is not None and not self.upgraded.done():
            self._upgraded()
        if self._protocol.parser_exc is not None:
            self._answer(_BAD, now, keep=False)

    def _upgraded(self) -> None:
        """The server has answered the request for an upgrade."""
        refusal = self._protocol.handshake_exc
        if refusal is None:
            self.opened_ns = monotonic_ns()
            self.upgraded.set_result(None)
        elif isinstance(refusal, InvalidStatus):
            response = refusal.response
            self._refuse(classify(response.status_code, "Retry-After" in response.headers, b"", 0))
        else:
            self._refuse(_BAD)

    def _refuse(self, reply: Reply) -> None:
        self.upgraded.set_exception(UpgradeRefusedError(reply))
        self.upgraded.exception()

    def _take_frame(self, frame: Frame, now: int, *, surplus: bool) -> None:
        lane = self.lane
        if frame.opcode is Opcode.CLOSE:
            if lane is not None and not self._message.begun:
                lane.first_ns = 0  # these bytes were no reply
            self._write_out()
            self.transport.close()
        elif frame.opcode not in _MESSAGE:
            if lane is not None and not self._message.begun:
                lane.first_ns = 0
        elif lane is None or not lane.busy:  # nobody asked: what comes next on here is not to be trusted
            self.transport.abort()
        else:
            reply = self._message.feed(frame, lane.call)
            if reply is not None:
                # More than was asked for: what comes next is not ours.
                self._answer(reply, now, keep=reply.status is not Status.BAD_REPLY and not surplus)

    def _answer(self, reply: Reply, now: int, *, keep: bool) -> None:
        lane = self.lane
        if lane is None or not lane.busy:
            self.transport.abort()
            return
        lane.first_ns = lane.first_ns or now
        self.served += 1
        lane.answered(reply, now, self._message.received, keep=keep and not self._choked)

    def _write_out(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self.transport.write(data)
