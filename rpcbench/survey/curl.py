"""A question as a curl command that anyone can paste, with every secret replaced by a variable's name."""

from __future__ import annotations

import re
import shlex
from urllib.parse import urlsplit

from rpcbench.model.node import Node


def curl_line(node: Node, body: bytes) -> str:
    """The command that puts `body` to `node`.

    Where the node has a key in its URL, or headers, the command reads them from variables named after the node.
    """
    words = ["curl", "-s", *_account(node), "-H", shlex.quote("Content-Type: application/json")]
    for name, _secret in node.headers:
        words += ["-H", f"{shlex.quote(f'{name}: ')}{_variable(node, name)}"]
    return " ".join([*words, _url(node), "-d", shlex.quote(body.decode())])


def _account(node: Node) -> list[str]:
    return ["-u", _variable(node, "account")] if urlsplit(node.url).username else []


def _url(node: Node) -> str:
    """The public part of the address as it is, the rest as variables."""
    parts = urlsplit(node.url)
    pieces = [_variable(node, "key") if piece == "…" else piece for piece in node.place.split("/")]
    url = shlex.quote(f"{parts.scheme}://{pieces[0]}")
    for piece in pieces[1:]:
        url += "/" + (piece if piece.startswith('"$') else shlex.quote(piece))
    return f"{url}'?'{_variable(node, 'query')}" if parts.query else url


def _variable(node: Node, what: str) -> str:
    """`"$JUNO_API_KEY"`: quoted, so that the shell keeps the value in one piece."""
    name = re.sub(r"[^A-Z0-9]+", "_", f"{node.name}_{what}".upper())
    return f'"${name if name[0].isalpha() else f"NODE_{name}"}"'
