"""The request envelope."""

import json

from rpcbench.protocol.jsonrpc import encode


def test_body_is_compact_json_with_an_integer_id() -> None:
    body = encode(7, "eth_getBlockByNumber", ["0x1b", False])
    assert body == b'{"jsonrpc":"2.0","id":7,"method":"eth_getBlockByNumber","params":["0x1b",false]}'


def test_named_parameters_and_text_outside_ascii_survive() -> None:
    params = {"filter": {"keys": [[]], "note": "é"}, "big": 2**70}
    assert json.loads(encode(0, "m", params)) == {"jsonrpc": "2.0", "id": 0, "method": "m", "params": params}
