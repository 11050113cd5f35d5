"""Scenario files: what they may say, and the sentence for everything they may not."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rpcbench.config.scenario_file import load_scenario
from rpcbench.errors import EXIT_USAGE, SpecError
from rpcbench.model.scenario import Arrival, CallSpec, Chain, Closed, Open

WriteFile = Callable[[str, str], Path]

WHOLE = """\
name: mine
about: All there is.
chain: starknet
calls:
  - method: starknet_getEvents
    label: events
    weight: 2.5
    params:
      filter:
        from_block: {block_number: {uniform: [0, 2000], as: from}}
        to_block: {block_number: {uniform: [from, head]}}
        chunk_size: 10
  - method: starknet_blockNumber
load: {open: {rate: 500, arrival: constant, max_in_flight: 64}}
rounds: 4
duration: 1m30s
warmup: 0s
timeout: 2
seed: 7
thresholds: ["errors<0.1%", "events.p99<250ms"]
"""
CALL = "chain: starknet\ncalls:\n  - method: starknet_blockNumber\n"
TWO_LOADS = "load: {closed: {concurrency: 1}, open: {rate: 1}}\n"
EVENTS = "chain: starknet\ncalls:\n  - method: starknet_getEvents\n    params:\n      filter:\n"


def faults(path: Path) -> list[str]:
    """The sentences about a file, without its name."""
    with pytest.raises(SpecError) as caught:
        load_scenario(str(path))
    assert caught.value.exit_code == EXIT_USAGE
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{path}:") for line in lines)
    return [line.removeprefix(f"{path}:") for line in lines]


def test_a_whole_file_is_read(write: WriteFile) -> None:
    scenario = load_scenario(str(write("some/where.yaml", WHOLE)))
    assert (scenario.name, scenario.about, scenario.chain) == ("mine", "All there is.", Chain.STARKNET)
    assert [(c.label, c.method, c.weight) for c in scenario.calls] == [
        ("events", "starknet_getEvents", 2.5),
        ("blockNumber", "starknet_blockNumber", 1.0),
    ]
    assert scenario.calls[0].params["filter"]["to_block"] == {"block_number": {"uniform": ["from", "head"]}}
    assert scenario.load == Open(500.0, Arrival.CONSTANT, 64)
    assert (scenario.rounds, scenario.duration_ns, scenario.warmup_ns) == (4, 90_000_000_000, 0)
    assert (scenario.timeout_ns, scenario.seed, scenario.requests) == (2_000_000_000, 7, None)
    assert scenario.thresholds == ("errors<0.1%", "events.p99<250ms")
    assert scenario.text == WHOLE


def test_a_silent_file_gets_the_defaults(write: WriteFile) -> None:
    scenario = load_scenario(str(write("short.yaml", CALL)))
    assert scenario.name == "short"
    assert scenario.calls == (CallSpec("starknet_blockNumber", [], 1.0, "blockNumber"),)
    assert scenario.load == Closed(8)
    assert (scenario.rounds, scenario.duration_ns, scenario.warmup_ns) == (10, 3_000_000_000, 1_000_000_000)


def test_a_closed_load_and_a_request_count_are_read(write: WriteFile) -> None:
    scenario = load_scenario(str(write("x.yaml", CALL + "load: {closed: {concurrency: 3}}\nrequests: 50\n")))
    assert scenario.load == Closed(3)
    assert scenario.requests == 50


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        ("rounds: 0", "4: field `rounds`: is 0; write a whole number above 0"),
        ("rounds: -3", "4: field `rounds`: is -3; write a whole number above 0"),
        ("rounds: 1.5", "4: field `rounds`: is 1.5; write a whole number above 0"),
        ("rounds: ten", "4: field `rounds`: is 'ten'; write a whole number above 0"),
        ("rounds: true", "4: field `rounds`: is true; write a whole number above 0"),
        ("requests: 0", "4: field `requests`: is 0; write a whole number above 0"),
        ("requests: -1", "4: field `requests`: is -1; write a whole number above 0"),
        ("seed: -1", "4: field `seed`: is -1; write a whole number from 0 on"),
        ("duration: 0", "4: field `duration`: the duration '0' is zero; write one above zero, such as 3s"),
        ("duration: -1s", "4: field `duration`: the duration '-1s' is negative; write one above zero, such as 3s"),
        ("timeout: 0s", "4: field `timeout`: the duration '0s' is zero; write one above zero, such as 3s"),
        ("warmup: long", "4: field `warmup`: 'long' is no duration; write 500ms, 3s or 1m30s"),
        ("load: {closed: {concurrency: 0}}", "4: field `load.closed.concurrency`: is 0; write a whole number above 0"),
        ("load: {open: {rate: -5}}", "4: field `load.open.rate`: is -5; write a number above 0"),
        ("load: {open: {rate: .inf}}", "4: field `load.open.rate`: is inf; write a number above 0"),
        ("load: {open: {}}", "4: field `load.open.rate`: is missing; it must be given"),
        (
            "load: {open: {rate: 5, arrival: even}}",
            "4: field `load.open.arrival`: is 'even'; write poisson or constant",
        ),
        ("load: closed", "4: field `load`: is no mapping"),
        ("load: {}", "4: field `load`: needs one of two; write {closed: {concurrency: 8}} or {open: {rate: 500}}"),
        (TWO_LOADS, "4: field `load`: needs one of two"),
        ("load: {close: {concurrency: 8}}", "4: field `load.close`: is not known here; did you mean `closed`?"),
        ("duraton: 3s", "4: field `duraton`: is not known here; did you mean `duration`?"),
        ("duration: 3s\nrequests: 5", "5: field `requests`: `duration` is given too; keep the one"),
        ("name: a/b", "4: field `name`: is 'a/b'; write a word of letters, digits, `_` and `-`"),
        ("thresholds: p99<1s", "4: field `thresholds`: is no list"),
        ("thresholds: [5]", "4: field `thresholds[0]`: is 5; write some text"),
        ("rounds: 3\nrounds: 4", "5: field `rounds`: is already on line 4; keep one of the two"),
        ("rounds: [", "5: is not valid YAML"),
    ],
)
def test_a_wrong_setting_is_told_with_line_and_cure(write: WriteFile, extra: str, sentence: str) -> None:
    (fault,) = faults(write("x.yaml", CALL + extra + "\n"))
    assert fault.startswith(sentence)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("weight: 0", "4: field `calls[0].weight`: is 0; write a number above 0"),
        ("weight: -1", "4: field `calls[0].weight`: is -1; write a number above 0"),
        ("wieght: 1", "4: field `calls[0].wieght`: is not known here; did you mean `weight`?"),
        ("label: a.b", "4: field `calls[0].label`: is 'a.b'; write a word"),
        ("params: [1]", "4: field `calls[0].params`: has 1 parameter; starknet_blockNumber takes no parameters"),
        ("params: [{uniform: [0]}]", "4: field `calls[0].params[0].uniform`: is not a range; write [lowest, highest]"),
    ],
)
def test_a_wrong_call_is_told_with_line_and_cure(write: WriteFile, call: str, sentence: str) -> None:
    (fault,) = faults(write("x.yaml", CALL + f"    {call}\n"))
    assert fault.startswith(sentence)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("calls:\n  - method: starknet_blockNumber\n", "1: field `chain`: is missing"),
        ("chain: solana\ncalls:\n  - method: x\n", "1: field `chain`: is 'solana'; write starknet or ethereum"),
        ("chain: starknet\n", "1: field `calls`: is missing"),
        ("chain: starknet\ncalls: []\n", "2: field `calls`: is empty; write at least one"),
        ("chain: starknet\ncalls:\n  - weight: 1\n", "3: field `calls[0].method`: is missing"),
        ("chain: starknet\ncalls: {method: m}\n", "2: field `calls`: is no list; write - before each entry"),
        ("chain: starknet\ncalls:\n  - starknet_blockNumber\n", "3: field `calls[0]`: is no mapping"),
    ],
)
def test_what_must_be_there_is_asked_for(write: WriteFile, text: str, sentence: str) -> None:
    (fault,) = faults(write("x.yaml", text))
    assert fault.startswith(sentence)


def test_an_unknown_method_is_told_with_the_nearest(write: WriteFile) -> None:
    (fault,) = faults(
        write("x.yaml", "chain: starknet\ncalls:\n  - weight: 1\n    method: starknet_getBlocksWithTxs\n")
    )
    assert fault.startswith("4: field `calls[0].method`: `starknet_getBlocksWithTxs` is no method of starknet")
    assert fault.endswith("did you mean `starknet_getBlockWithTxs`?")


def test_the_article_s_filter_is_refused_name_by_name(write: WriteFile) -> None:
    names = [
        "fromBlock: {uniform: [0, 2000], as: n}",
        "toBlock: {uniform: [n, head]}",
        "page_size: 1000",
        "page_number: 0",
    ]
    path = write("x.yaml", EVENTS + "".join(f"        {name}\n" for name in [*names, "chunk_size: 10"]))
    found = faults(path)
    assert [fault.partition(":")[0] for fault in found] == ["6", "7", "8", "9"]
    assert found[0] == (
        "6: field `calls[0].params.filter.fromBlock`: unknown field `fromBlock`; did you mean `from_block`?"
    )
    load_scenario(str(path), validate=False)


def test_a_misfit_that_only_some_draws_show_is_found_and_said_to_be_an_example(write: WriteFile) -> None:
    lines = ["from_block: {block_number: {uniform: [0, head]}}", "to_block: {block_number: {uniform: [0, head]}}"]
    path = write(
        "x.yaml", EVENTS + "".join(f"        {line}\n" for line in [*lines, "chunk_size: {choice: [1, 9999]}"])
    )
    backwards, chunk = faults(path)
    assert backwards.startswith("7: field `calls[0].params.filter.to_block`: is block ")
    assert chunk.startswith(
        "8: field `calls[0].params.filter.chunk_size`: is 9999; write a whole number from 1 to 1024"
    )
    assert backwards.endswith("(in an example that was drawn)")
    assert chunk.endswith("(in an example that was drawn)")


def test_all_faults_are_listed_in_the_order_of_the_file(write: WriteFile) -> None:
    text = "rounds: 0\nchain: starknet\ncalls:\n  - method: starknet_nothing\n    weight: -1\n  - method: 5\nsed: 1\n"
    assert [fault.partition(":")[0] for fault in faults(write("x.yaml", text))] == ["1", "4", "5", "6", "7"]


def test_two_calls_may_not_share_a_label(write: WriteFile) -> None:
    (fault,) = faults(write("x.yaml", CALL + "  - method: starknet_blockNumber\n"))
    assert fault == (
        "4: field `calls[1].label`: `blockNumber` already stands for calls[0]; write `label:` with another word here"
    )
    labelled = CALL + "  - method: starknet_blockNumber\n    label: again\n"
    assert [c.label for c in load_scenario(str(write("y.yaml", labelled))).calls] == ["blockNumber", "again"]


def test_without_validation_the_catalogue_is_silent_and_the_rest_is_not(write: WriteFile) -> None:
    strange = CALL.replace("starknet_blockNumber", "starknet_brandNew")
    assert load_scenario(str(write("x.yaml", strange)), validate=False).calls[0].label == "brandNew"
    with pytest.raises(SpecError, match="`rounds`: is 0"):
        load_scenario(str(write("x.yaml", strange + "rounds: 0\n")), validate=False)
    with pytest.raises(SpecError, match="is not a range"):
        load_scenario(str(write("x.yaml", strange + "    params: [{uniform: 1}]\n")), validate=False)


def test_an_unquoted_hash_is_told_as_such(write: WriteFile) -> None:
    text = (
        "chain: starknet\ncalls:\n  - method: starknet_getTransactionByHash\n    params: {transaction_hash: 0x49d3}\n"
    )
    (fault,) = faults(write("x.yaml", text))
    assert fault.endswith('is a number; write "0x49d3", with the quotes: YAML reads a bare 0x… as a number')


def test_an_unknown_name_brings_the_near_ones(write: WriteFile) -> None:
    with pytest.raises(SpecError, match=r"^there is no scenario `mixt`; shipped are mixed[^A-Z]*; your own"):
        load_scenario("mixt")
    with pytest.raises(SpecError, match=r"shipped are blockHashAndNumber, .*, reddio-2023; your own"):
        load_scenario("zzzz")


def test_a_missing_file_is_told(write: WriteFile) -> None:
    with pytest.raises(SpecError, match=r"^there is no file \./mixed\.yaml; shipped are mixed"):
        load_scenario("./mixed.yaml")


def test_a_bare_name_never_means_a_local_file(write: WriteFile) -> None:
    write("mixed", CALL)
    write("mixed.yaml", CALL)
    assert len(load_scenario("mixed").calls) > 1
    assert len(load_scenario("mixed.yaml").calls) == 1


def test_a_batch_and_its_label(write: WriteFile) -> None:
    asked = load_scenario(str(write("batch.yaml", CALL + "    batch: 10\n"))).calls[0]
    assert (asked.batch, asked.label) == (10, "blockNumber ×10")
    named = load_scenario(str(write("named.yaml", CALL + "    batch: 10\n    label: ten\n"))).calls[0]
    assert (named.batch, named.label) == (10, "ten")


def test_the_same_method_single_and_in_batches_needs_no_label(write: WriteFile) -> None:
    twice = CALL + "  - method: starknet_blockNumber\n    batch: 2\n"
    assert [call.label for call in load_scenario(str(write("both.yaml", twice))).calls] == [
        "blockNumber",
        "blockNumber ×2",
    ]


@pytest.mark.parametrize("size", ["0", "1001", "ten", "1.5"])
def test_a_batch_of_another_size(write: WriteFile, size: str) -> None:
    with pytest.raises(SpecError, match=r"batch.*write a whole number from 1 to 1000"):
        load_scenario(str(write("odd.yaml", CALL + f"    batch: {size}\n")))
