"""What a node says is printed without what we must not print."""

from __future__ import annotations

import pytest

from rpcbench.model.node import Node
from rpcbench.survey.privacy import printable

NODE = Node(
    "ours",
    "https://ann:p%40ssword@host.example/v2/aBcD%2F1234/rpc/v0_8?key=qu3ry&other=s%20pace",
    headers=(("Authorization", "Bearer h3ader"), ("X-Short", "abc")),
)


@pytest.mark.parametrize(
    ("said", "printed"),
    [
        ("all is well", "all is well"),
        ("key aBcD/1234 or aBcD%2F1234 is unknown", "key … or … is unknown"),
        ("user with p@ssword, p%40ssword", "user with …, …"),
        ("qu3ry and s pace", "… and …"),
        ("key=qu3ry&other=s%20pace", "…"),
        ("Bearer h3ader", "…"),
        ("token h3ader!", "token …!"),
        ("abc /rpc/v0_8 host.example", "abc /rpc/v0_8 host.example"),
        ("a\x1b[31m\r\nb\u2028c\x9b", "a [31m b c"),
    ],
)
def test_secrets_and_control_characters_are_taken_out(said: str, printed: str) -> None:
    assert printable(said, NODE) == printed


def test_long_texts_are_cut_after_the_secrets_are_gone() -> None:
    text = "x" * 195 + "h3ader" + "y" * 100
    assert printable(text, NODE, limit=200) == "x" * 195 + "…" + "yyy" + "…"


def test_the_longer_secret_goes_first() -> None:
    node = Node("n", "http://h/secretsecret?k=secret")
    assert printable("secretsecret", node) == "…"
