"""Why a quiet question got no useful answer, as a sentence for the person who runs the node.

The sentence names the node and its public place, says what happened and what to do. It never quotes a URL or the text
of a library's exception, which may hold one.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from enum import Enum, auto

from rpcbench.model.node import Node


class Kind(Enum):
    """How far the question came."""

    SILENT = auto()  # nobody answered in HTTP: refused, unknown name, TLS, cut off
    LATE = auto()  # no complete answer in time
    UNWILLING = auto()  # the node is there and turns us away: key, rate limit, overload
    ELSEWHERE = auto()  # an answer, but not of a JSON-RPC node: perhaps the path is wrong
    RPC_ERROR = auto()  # a JSON-RPC error


class Trouble(Exception):  # noqa: N818  (it is told as a problem or a notice, not raised to the user)
    """One node's failure to answer; `str()` is the sentence."""

    def __init__(self, node: Node, predicate: str, kind: Kind) -> None:
        super().__init__(f"{called(node.name, node.place)} {predicate}.")
        self.kind = kind

    @property
    def another_may_do(self) -> bool:
        """Whether the same node may well answer another question, or this one at another path."""
        return self.kind in (Kind.ELSEWHERE, Kind.RPC_ERROR)

    @property
    def unreached(self) -> bool:
        """Whether not even an HTTP reply came."""
        return self.kind in (Kind.SILENT, Kind.LATE)


def called(name: str, place: str) -> str:
    """How sentences speak of a node: `juno (localhost:6060)`, or the place alone where that is its name."""
    return name if name == place else f"{name} ({place})"


def unanswered(node: Node, error: BaseException, timeout_s: float) -> Trouble:
    """The trouble behind `error`, which was raised where an HTTP reply was expected."""
    causes = list(_causes(error))
    if any(isinstance(cause, TimeoutError) for cause in causes):
        advice = "see whether it is running, overloaded or firewalled"
        return Trouble(node, f"does not answer within {timeout_s:g} s: {advice}", Kind.LATE)
    return Trouble(node, _predicate(causes), Kind.SILENT)


def _predicate(causes: list[BaseException]) -> str:
    for cause in causes:
        if isinstance(cause, ssl.SSLError):
            return _tls_predicate(cause)
        if isinstance(cause, socket.gaierror):
            return "has a host name that does not resolve: correct it, or check your network"
        if isinstance(cause, ConnectionRefusedError):
            return "refuses the connection: start the node, or correct its host and port"
    return _broken_predicate({type(cause).__name__ for cause in causes})


# The names of httpx exceptions stand for their classes, so that this module need not import httpx.
def _broken_predicate(names: set[str]) -> str:
    if names & {"InvalidURL", "UnsupportedProtocol", "LocalProtocolError", "UnicodeEncodeError"}:
        return "has a URL or a header that cannot be sent: correct it where the node is named"
    if names & {"RemoteProtocolError", "ReadError", "WriteError", "DecodingError"}:
        return "breaks off without a complete answer: check its log, and whether the port speaks HTTP"
    return "cannot be reached: check its host, its port and your network"


_UNTRUSTED = "shows a TLS certificate that is not trusted here: name its authority (--ca-file) or use another URL"
_CERTIFICATE = {  # X509_V_ERR_… of OpenSSL
    9: "shows a TLS certificate that is not valid yet: check its clock and yours",
    10: "shows a TLS certificate that has expired: renew it, or use another URL",
    62: "shows a TLS certificate of another host: use the host name that the certificate was issued for",
    64: "shows a TLS certificate of another host: use the host name that the certificate was issued for",
}
_NOT_TLS = {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "UNKNOWN_PROTOCOL"}


def _tls_predicate(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return _CERTIFICATE.get(error.verify_code, _UNTRUSTED)
    if error.reason in _NOT_TLS:
        return "does not speak TLS on this port: use http:// instead of https://, or correct the port"
    return f"breaks off the TLS handshake ({error.reason or 'no reason given'}): check its TLS settings"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """`error`, what it was raised from, and the members of groups: libraries wrap the one that tells."""
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        cause = left.pop()
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        left += [cause.__context__, cause.__cause__]
        if isinstance(cause, BaseExceptionGroup):
            left += cause.exceptions
