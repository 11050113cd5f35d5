"""The getEvents request that an article of 2023 timed, on a real node: with its misspelt names it asks nothing.

starknet-devnet ignores unknown names in a positional filter, as Juno does, and answers the same question whatever the
blocks; it refuses the same object as named parameters, as Pathfinder does.
"""

import json

import pytest

from rpcbench.model.samples import Status
from rpcbench.protocol.classify import Reply, classify
from tests.real.compared import compare
from tests.real.nodes import Node

pytestmark = pytest.mark.timeout(60)

BLOCK_RANGES = [(1, 5), (5, 40), (20, 21), (30, 44)]

SCENARIO = """
name: article
about: The request that was timed, in two forms.
chain: starknet
calls:
  - method: starknet_getEvents
    label: positional
    params: [{fromBlock: {uniform: [0, 20]}, toBlock: {uniform: [20, head]}, page_size: 10, chunk_size: 10}]
  - method: starknet_getEvents
    label: named
    params: {fromBlock: {uniform: [0, 20]}, toBlock: {uniform: [20, head]}, page_size: 10, chunk_size: 10}
"""


def article(first: int, last: int) -> dict[str, int]:
    return {"fromBlock": first, "toBlock": last, "page_size": 1000, "page_number": 0, "chunk_size": 10}


def classified(node: Node, params: object, call_id: int) -> Reply:
    request = {"jsonrpc": "2.0", "id": call_id, "method": "starknet_getEvents", "params": params}
    response = node.send(request)
    return classify(response.status_code, "retry-after" in response.headers, response.content, call_id)


def test_positional_succeeds_with_one_constant_result(devnet):
    replies = [classified(devnet.base, [article(*blocks)], i) for i, blocks in enumerate(BLOCK_RANGES)]
    assert {(reply.status, reply.code) for reply in replies} == {(Status.OK, 0)}
    assert len({reply.digest for reply in replies}) == 1


def test_named_is_refused_with_http_200(devnet):
    replies = [classified(devnet.base, article(*blocks), i) for i, blocks in enumerate(BLOCK_RANGES)]
    assert {(reply.status, reply.code) for reply in replies} == {(Status.RPC_ERROR, -32602)}


def test_as_the_specification_has_it_every_range_has_its_own_result(devnet):
    replies = [
        classified(devnet.base, {"filter": {"from_block": {"block_number": first}, "chunk_size": 10}}, i)
        for i, (first, _) in enumerate(BLOCK_RANGES)
    ]
    assert {reply.status for reply in replies} == {Status.OK}
    assert len({reply.digest for reply in replies}) == len(BLOCK_RANGES)


def test_rpcbench_does_not_send_it(devnet, tmp_path):
    file = tmp_path / "article.yaml"
    file.write_text(SCENARIO)
    with pytest.raises(AssertionError, match="0 runs were recorded; exit code 2"):
        compare(devnet, (0, 0), "-s", file, home=tmp_path)


def test_sent_all_the_same_it_has_no_winner(devnet, tmp_path):
    file = tmp_path / "article.yaml"
    file.write_text(SCENARIO)
    words = ("-s", file, "--no-validate", "--rounds", 2, "-d", "200ms", "--warmup", "0", "-c", 2)
    compared = compare(devnet, (0, 0), *words, home=tmp_path)
    assert compared.said.code == 4
    assert "rpc_error[-32602]" in compared.said.out
    assert "one constant reply" in compared.said.out
    named = compared.medians.loc["named"]
    assert named.verdict == "invalid"
    assert "100 %" in named.reason
    assert json.loads((compared.directory / "run.json").read_text())["status"] == "done"
