"""Commands that can be pasted into a shell, tried out in a shell."""

from __future__ import annotations

import json
import subprocess

import pytest

from rpcbench.model.node import Node
from rpcbench.survey.curl import curl_line


def words(line: str, **variables: str) -> list[str]:
    """The arguments that a POSIX shell makes of the line."""
    script = f"curl() {{ printf '%s\\0' \"$@\"; }}; {line}"
    ran = subprocess.run(["/bin/sh", "-c", script], env=variables, capture_output=True, check=True, timeout=5)
    return ran.stdout.decode().split("\0")[:-1]


def test_the_address_the_type_and_the_body_are_there() -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[]}'
    line = curl_line(Node("juno", "http://localhost:6060/rpc/v0_10"), body)
    assert words(line) == [
        "-s", "-H", "Content-Type: application/json", "http://localhost:6060/rpc/v0_10", "-d", body.decode(),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["it's", "'; touch /tmp/x; '", '$HOME `id` $(id) \\ " !', "a\nb", "ü…"])
def test_a_body_reaches_curl_as_it_is(text: str) -> None:
    body = json.dumps({"params": [text]}, ensure_ascii=False).encode()
    assert words(curl_line(Node("a", "http://localhost"), body))[-1] == body.decode()


def test_secrets_are_read_from_variables() -> None:
    node = Node(
        "my-node",
        "https://user:pa55word@rpc.example.com:8443/v2/s3cretKey/rpc?token=t0ken",
        headers=(("X-Api-Key", "h3ader"), ("Authorization", "Bearer b3arer")),
    )
    line = curl_line(node, b"{}")
    for secret in ("user", "pa55word", "s3cretKey", "t0ken", "h3ader", "b3arer"):
        assert secret not in line
    filled = words(
        line,
        MY_NODE_ACCOUNT="u:p w",
        MY_NODE_KEY="k y",
        MY_NODE_QUERY="q=1&r",
        MY_NODE_X_API_KEY="a b",
        MY_NODE_AUTHORIZATION="Bearer x",
    )
    assert filled == [
        "-s", "-u", "u:p w", "-H", "Content-Type: application/json", "-H", "X-Api-Key: a b",
        "-H", "Authorization: Bearer x", "https://rpc.example.com:8443/v2/k y/rpc?q=1&r", "-d", "{}",
    ]  # fmt: skip


def test_names_become_variables_that_a_shell_knows() -> None:
    node = Node("127.0.0.1:80", "http://127.0.0.1:80/s3cretKey", headers=(("X-It's`Odd`", "h3ader"),))
    filled = words(curl_line(node, b"{}"), NODE_127_0_0_1_80_KEY="k", NODE_127_0_0_1_80_X_IT_S_ODD_="v")
    assert "http://127.0.0.1:80/k" in filled
    assert "X-It's`Odd`: v" in filled
