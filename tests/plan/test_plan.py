"""The plan as data: seeded, equal for every node, counted exactly."""

import json
from dataclasses import replace

import numpy as np
import pytest

from rpcbench.errors import UsageError
from rpcbench.model.node import Node
from rpcbench.model.scenario import Arrival, CallSpec, Chain, Closed, Open, Scenario
from rpcbench.model.workload import Phase
from rpcbench.plan.arrival import due_times_ns
from rpcbench.plan.plan import make_plan, rehearsal_calls
from rpcbench.plan.rounds import trial_order
from rpcbench.protocol.batch import item_id

BLOCKS = CallSpec(
    "starknet_getBlockWithTxs", {"block_id": {"block_number": {"uniform": [0, "head"]}}}, 3.0, "getBlockWithTxs"
)
HEAD = CallSpec("starknet_blockNumber", [], 1.0, "blockNumber")
SCENARIO = Scenario(
    name="t", about="", chain=Chain.STARKNET, calls=(BLOCKS, HEAD), rounds=3, requests=400, load=Closed(4)
)
NODE = Node("a", "http://127.0.0.1:1/")


def bodies(plan, trial):
    work = plan.workload(trial, NODE)
    return [work.calls[position].body for position in work.order]


def test_the_same_round_is_the_same_traffic_on_every_node():
    plan = make_plan(SCENARIO, nodes=2, head=1000)
    for number in range(1, 4):
        first, second = (t for t in plan.trials if t.round == number)
        assert first.node != second.node
        assert bodies(plan, first) == bodies(plan, second)
        assert len(bodies(plan, first)) == 400


def test_rounds_differ_from_one_another():
    plan = make_plan(SCENARIO, nodes=1, head=1_000_000)
    rounds = [bodies(plan, t) for t in plan.trials if t.phase is Phase.MEASURE]
    assert rounds[0] != rounds[1] != rounds[2]


def test_one_seed_one_plan():
    plan, again = make_plan(SCENARIO, 2, 1000), make_plan(SCENARIO, 2, 1000)
    assert plan.fingerprint == again.fingerprint
    assert [c.body for c in plan.calls] == [c.body for c in again.calls]
    other_seed, other_head = make_plan(replace(SCENARIO, seed=2), 2, 1000), make_plan(SCENARIO, 2, 999)
    assert len({plan.fingerprint, other_seed.fingerprint, other_head.fingerprint}) == 3


def test_equal_calls_are_one_call_and_the_id_in_the_body_is_its_own():
    plan = make_plan(SCENARIO, nodes=2, head=20)
    assert len(plan.calls) == 22  # blocks 0..20 and blockNumber
    assert [json.loads(call.body)["id"] for call in plan.calls] == list(range(22))
    assert plan.call_spec.tolist() == [call.spec for call in plan.calls]


def test_weights_set_the_mix():
    plan = make_plan(replace(SCENARIO, requests=8000, rounds=1), nodes=1, head=1_000_000)
    share = np.mean([plan.calls[plan.rounds[1].calls[i].id].spec == 0 for i in plan.rounds[1].order])
    assert share == pytest.approx(0.75, abs=0.02)


def test_blocks_stay_within_the_head():
    plan = make_plan(SCENARIO, nodes=1, head=7)
    numbers = {json.loads(c.body)["params"]["block_id"]["block_number"] for c in plan.calls if c.spec == 0}
    assert numbers == set(range(8))


def test_open_loop_sends_exactly_rate_times_duration():
    load = Open(rate_per_s=250, max_in_flight=9)
    plan = make_plan(replace(SCENARIO, requests=None, load=load, duration_ns=2_000_000_000), nodes=2, head=50)
    trial = plan.trials[-1]
    work = plan.workload(trial, NODE)
    assert plan.planned(trial) == len(work.order) == len(work.due_ns) == 500
    assert (work.concurrency, work.duration_ns) == (9, None)
    assert plan.sending_s == pytest.approx(2 * 1 + 2 * 3 * 2, rel=0.02)


def test_closed_loop_by_time_has_no_planned_count():
    plan = make_plan(replace(SCENARIO, requests=None), nodes=1, head=50)
    assert plan.planned(plan.trials[-1]) is None
    assert plan.workload(plan.trials[-1], NODE).duration_ns == 3_000_000_000
    assert plan.requests_per_trial(closed_rate_per_s=100) == (100, 300)


def test_plans_that_cannot_be_are_refused_in_words():
    with pytest.raises(UsageError, match="no request"):
        make_plan(replace(SCENARIO, requests=None, load=Open(0.01)), 2, 10)
    with pytest.raises(UsageError, match="40,000,000 calls"):
        make_plan(replace(SCENARIO, requests=None, load=Open(10_000_000), rounds=1), 2, 10)


def test_rehearsal_takes_a_few_of_every_kind():
    calls = rehearsal_calls(make_plan(SCENARIO, 2, 1000), each=3)
    assert sorted(call.spec for call in calls) == [0, 0, 0, 1]


def test_nodes_take_turns_in_reversed_order_after_a_warmup():
    order = [(t.round, t.node, t.phase) for t in trial_order(2, 3, warmup=True)]
    warm, measure = Phase.WARMUP, Phase.MEASURE
    assert order == [
        (0, 0, warm), (0, 1, warm),
        (1, 0, measure), (1, 1, measure),
        (2, 1, measure), (2, 0, measure),
        (3, 0, measure), (3, 1, measure),
    ]  # fmt: skip
    assert [t.index for t in trial_order(3, 2, warmup=False)] == list(range(6))


def test_constant_arrivals_are_an_even_grid():
    due = due_times_ns(Open(1000, Arrival.CONSTANT), 5, seed=1)
    assert due.tolist() == [0, 1_000_000, 2_000_000, 3_000_000, 4_000_000]


def test_poisson_arrivals_have_exponential_gaps_and_an_exact_count():
    due = due_times_ns(Open(1000), 20_000, seed=1)
    gaps = np.diff(due) / 1e6
    assert len(due) == 20_000
    assert (gaps >= 0).all()
    assert gaps.mean() == pytest.approx(1.0, rel=0.03)
    assert gaps.std() == pytest.approx(1.0, rel=0.05)  # an even grid has 0
    assert (due_times_ns(Open(1000), 20_000, seed=2) != due).any()


def batched(size: int) -> Scenario:
    return replace(SCENARIO, calls=(replace(SCENARIO.calls[0], batch=size), *SCENARIO.calls[1:]))


def test_a_batch_is_one_request_of_several_drawn_calls():
    plan = make_plan(batched(10), 2, 1_000_000)
    batches = [call for call in plan.calls if call.batch > 1]
    assert {call.spec for call in batches} == {0}
    assert {call.batch for call in batches} == {10}
    for call in batches:
        items = json.loads(call.body)
        assert [item["id"] for item in items] == [item_id(call.id, i) for i in range(10)]
        assert len({json.dumps(item["params"]) for item in items}) > 1
    assert all(json.loads(call.body)["id"] == call.id for call in plan.calls if call.batch == 1)


def test_a_closed_loop_draws_about_as_many_calls_in_batches_as_without():
    def drawn(scenario: Scenario) -> int:
        return sum(call.batch for call in make_plan(scenario, 1, 1_000_000).rounds[1].calls)

    by_time = replace(batched(100), requests=None, load=Closed())
    assert drawn(by_time) == pytest.approx(drawn(replace(by_time, calls=SCENARIO.calls)), rel=0.5)
