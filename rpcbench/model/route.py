"""How nodes are reached: which certificates count, who we say we are, and through whom. No sockets, no files."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Tls:
    """What holds for every https and wss node. The fields are paths of PEM files.

    `ca_file` replaces the system's authorities. `cert_file` is our own certificate, for nodes that ask for one;
    `key_file` is needed where its key is not in the same file. Without `verify` any certificate will do.
    """

    verify: bool = True
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None


@dataclass(frozen=True, slots=True)
class Route:
    """The way to all nodes of a run, for quiet questions and for load alike. `proxy` is a URL and may be secret."""

    tls: Tls = field(default_factory=Tls)
    proxy: str | None = field(default=None, repr=False)


DIRECT = Route()
