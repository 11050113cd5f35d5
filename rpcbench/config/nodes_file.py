"""What a person calls a node, and where that leads: nodes.yaml, well-known names, `name=url`, plain URLs.

Values of a nodes file and URLs may be secret; errors name file, line, node and variable, and never a value.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rpcbench.config.addresses import (
    AddressError,
    check_header,
    check_name,
    host_and_port,
    http_url,
    same_address,
    websocket_url,
)
from rpcbench.errors import SpecError, UsageError
from rpcbench.model.node import Node
from rpcbench.protocol import ethereum, starknet
from rpcbench.protocol.kinds import nearest

if TYPE_CHECKING:
    from rpcbench.config.yaml_file import Fault, YamlFile

_WELL_KNOWN = {
    name: f"http://localhost:{port}" for name, port in (starknet.WELL_KNOWN_PORTS | ethereum.WELL_KNOWN_PORTS).items()
}
_NOT_IN_A_NAME = frozenset(":/?@[&#")

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class KnownNode:
    """A name that can be used. `place` is fit to print; so is `source`, the file that says so or `well-known`."""

    name: str
    place: str
    source: str


def resolve_nodes(
    names: Sequence[str],
    nodes_file: Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    extra_headers: Headers = (),
) -> tuple[Node, ...]:
    """The nodes that `names` mean, in that order; `extra_headers` go to all of them and replace their own.

    Raises UsageError for a name that leads nowhere or twice to one node, SpecError for a faulty nodes file.
    """
    book = _AddressBook(nodes_file, os.environ if environ is None else environ)
    found = [book.find(text, position) for position, text in enumerate(names, 1)]
    _refuse_twins(found)
    return tuple(replace(one.node, headers=_merged(one.node.headers, extra_headers)) for one in found)


def known_nodes(nodes_file: Path | None = None, environ: Mapping[str, str] | None = None) -> list[KnownNode]:
    """Every name that can be used here, those of files first."""
    book = _AddressBook(nodes_file, os.environ if environ is None else environ)
    known = {name: KnownNode(name, Node(name, url).place, "well-known") for name, url in _WELL_KNOWN.items()}
    named: dict[str, KnownNode] = {}
    for file in book.files():
        for name in file.data:
            named.setdefault(name, KnownNode(name, book.place(file, name), file.name))
    return [*named.values(), *(node for name, node in known.items() if name not in named)]


@dataclass(frozen=True, slots=True)
class _Found:
    """A node, and whether the person gave it its name on the command line, so that a twin is no slip."""

    node: Node
    named_here: bool


class _AddressBook:
    """The nodes files that count here, read when first needed: the working directory's before the user's."""

    def __init__(self, explicit: Path | None, environ: Mapping[str, str]) -> None:
        self._explicit = explicit
        self._environ = environ
        self._read: dict[Path, YamlFile] = {}

    def find(self, text: str, position: int) -> _Found:
        """The node that the `position`-th word of the command line means."""
        name, equals, rest = text.partition("=")
        if not equals or _NOT_IN_A_NAME & set(name):
            return _Found(self._unnamed(text, f"node {position} on the command line"), named_here=False)
        try:
            check_name(name)
        except AddressError as error:
            raise UsageError(f"`{name}` {error}" if name else f"the name of node {position} {error}") from None
        return _Found(replace(self._unnamed(rest, f"node `{name}`"), name=name), named_here=True)

    def files(self) -> Iterator[YamlFile]:
        """The files that exist, the one that counts most first."""
        from rpcbench.config.yaml_file import read_yaml

        for path in self._paths():
            if path not in self._read:
                self._read[path] = read_yaml(path)
            yield self._read[path]

    def place(self, file: YamlFile, name: str) -> str:
        """Where an entry leads, fit to print, also while its variables are unset."""
        from rpcbench.config.environment import variables

        missing = sorted({v for v in variables(file.data[name]) if not self._environ.get(v)})
        return f"(set {', '.join(missing)} first)" if missing else self._entry(file, name).place

    def _paths(self) -> list[Path]:
        if self._explicit is not None:
            if not self._explicit.exists():
                raise SpecError(f"there is no nodes file {self._explicit}; create it, or leave --nodes out")
            return [self._explicit]
        paths = [Path("nodes.yaml")]
        config, home = self._environ.get("XDG_CONFIG_HOME"), self._environ.get("HOME")
        if config or home:
            paths.append((Path(config) if config else Path(str(home)) / ".config") / "rpcbench" / "nodes.yaml")
        return [path for path in paths if path.exists()]

    def _unnamed(self, text: str, subject: str) -> Node:
        """What stands alone or behind `name=`: a name or a URL. `subject` is how errors speak of it."""
        if not text:
            raise UsageError(f"{subject} is empty; write a name or a URL such as http://localhost:8545")
        if set(text) & set(":/"):
            try:
                url = http_url(text)
            except AddressError as error:
                raise UsageError(f"the URL of {subject} {error}") from None
            return Node(host_and_port(url), url)
        for file in self.files():
            if text in file.data:
                return self._entry(file, text)
        if text in _WELL_KNOWN:
            return Node(text, _WELL_KNOWN[text])
        known = [*(name for file in self.files() for name in file.data), *_WELL_KNOWN]
        near = nearest(text, known)
        hint = f"did you mean `{near}`?" if near else f"known are {', '.join(dict.fromkeys(known))}"
        raise UsageError(f"there is no node named `{text}`; {hint} (a URL is written http://host:port)")

    def _entry(self, file: YamlFile, name: str) -> Node:
        """One entry of a nodes file as a node. Raises SpecError with all that is wrong with it."""
        from rpcbench.config.environment import substitute_all

        faults: list[Fault] = []
        raw = substitute_all(file.data[name], self._environ, (name,), faults)
        node = None if faults else _node(name, raw, faults)
        if node is None or faults:
            raise file.error(faults)
        return node


def _node(name: str, raw: Any, faults: list[Fault]) -> Node | None:
    """A node from an entry with its variables filled in; what is wrong is added to `faults`."""
    from rpcbench.config.schema import NodeFields, check

    short = isinstance(raw, str)
    fields, found = check(NodeFields, {"url": raw} if short else raw, (name,))
    faults += found
    if fields is None:
        return None
    url, ws_url = fields.url, fields.ws_url
    try:
        where: tuple[str, ...] = (name,)
        check_name(name)
        where = (name,) if short else (name, "url")
        url = http_url(url)
        where = (name, "ws_url")
        ws_url = None if ws_url is None else websocket_url(ws_url)
        for header, value in fields.headers.items():
            where = (name, "headers", header)
            check_header(header, value)
    except AddressError as error:
        faults.append((where, str(error)))
    return Node(name, url, ws_url, tuple(fields.headers.items()), tuple(fields.tags))


def _refuse_twins(found: Sequence[_Found]) -> None:
    """Raises UsageError where two nodes share a name, or an address without both having been named for it."""
    for i, later in enumerate(found):
        for earlier in found[:i]:
            a, b = earlier.node, later.node
            if a.name == b.name:
                raise UsageError(f"two nodes are called `{a.name}`; give each a name of its own: a=… b=…")
            same = same_address(a.url) == same_address(b.url) and a.headers == b.headers
            if same and not (earlier.named_here and later.named_here):
                raise UsageError(
                    f"`{a.name}` and `{b.name}` are one node ({a.place}); name another, or to measure the node against "
                    "itself write a=… b=…"
                )


def _merged(own: Headers, extra: Headers) -> tuple[tuple[str, str], ...]:
    """Own headers, then the extra ones; of two with the same name the extra one stays."""
    replaced = {name.lower() for name, _ in extra}
    return (*((name, value) for name, value in own if name.lower() not in replaced), *extra)
