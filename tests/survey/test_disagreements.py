"""From what real replies say to the notice about it: the sample of calls and its judgement together."""

from __future__ import annotations

from rpcbench.analysis.agreement_checks import disagreements
from rpcbench.model.scenario import Chain
from rpcbench.model.verdict import Notice, Weight
from rpcbench.model.workload import Call
from rpcbench.protocol.jsonrpc import encode
from rpcbench.survey.agreement import agree
from tests.survey.conftest import Start
from tests.survey.fake_node import MISSING, FakeNode, juno, pathfinder

NONCE = "starknet_getNonce"
PARAMS = {"block_id": {"block_number": 90}, "contract_address": "0x1"}


def judged(*fakes: FakeNode) -> list[Notice]:
    nodes = [fake.node() for fake in fakes]
    calls = [Call(0, 0, encode(0, NONCE, PARAMS))]
    findings = agree(nodes, calls, Chain.STARKNET, 95)
    return list(disagreements(findings, [node.name for node in nodes], ["getNonce"]))


def test_equal_answers_in_other_words(start: Start) -> None:
    assert judged(start(juno(answers={NONCE: "0x07"})), start(pathfinder(answers={NONCE: "0x7"}))) == []


def test_another_value(start: Start) -> None:
    (notice,) = judged(start(juno(answers={NONCE: "0x7"})), start(pathfinder(answers={NONCE: "0x8"})))
    assert (notice.kind, notice.weight, notice.node) == ("replies_differ", Weight.WARNING, "pathfinder")


def test_an_error_where_the_other_has_data(start: Start) -> None:
    refusal = {"error": {"code": 20, "message": "Contract not found"}}
    (notice,) = judged(start(juno(answers={NONCE: "0x7"})), start(pathfinder(answers={NONCE: refusal})))
    assert (notice.kind, notice.weight) == ("replies_differ", Weight.VOID)
    assert "pathfinder error 20 Contract not found" in notice.saw


def test_a_method_that_one_node_does_not_serve(start: Start) -> None:
    (notice,) = judged(start(juno(answers={NONCE: "0x7"})), start(pathfinder(answers={NONCE: MISSING})))
    assert (notice.kind, notice.weight, notice.node) == ("setup_differs", Weight.WARNING, "pathfinder")
    assert notice.saw.startswith("method not served in 1 of 1 sampled getNonce call: pathfinder: error -32601")
