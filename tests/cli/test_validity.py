"""Every doubt of the validity gate, caused by an embedded node over real sockets, and absent where there is no cause.

The conductor is called as the command line does it, without drawing the report: what is asked here is what is noticed.
Doubts of the surveys before and after a run are caused in tests/survey, those of the calibration in test_calibrate.py.
"""

import threading
import time
from dataclasses import replace

import pytest

from rpcbench import run as conductor
from rpcbench.analysis.analyse import analyse
from rpcbench.engine.asyncio_engine import AsyncioEngine
from rpcbench.model.node import Node
from rpcbench.model.scenario import CallSpec, Chain, Closed, Open, Scenario
from rpcbench.model.verdict import Verdict, Weight
from rpcbench.record.run_directory import load_run
from rpcbench.report.evidence import evidence
from rpcbench.report.live import LiveView
from rpcbench.sim.node import EmbeddedNode, Faults, SimSpec
from rpcbench.survey.survey import ask

BLOCK = CallSpec("starknet_getBlockWithTxs", {"block_id": {"block_number": {"uniform": [0, 300]}}}, 1.0, "block")
STATE = CallSpec("starknet_getStateUpdate", {"block_id": {"block_number": {"uniform": [0, 300]}}}, 1.0, "state")
QUIET = {"too_few_samples", "rounds_drifting"}
VOID, WARNING, INFO = Weight.VOID, Weight.WARNING, Weight.INFO


@pytest.fixture(scope="module")
def engine():
    engine = AsyncioEngine()
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def both():
    epoch = int(time.time())
    with (
        EmbeddedNode(SimSpec("juno", epoch_unix_s=epoch, pace=0.0, block_interval_s=30)) as a,
        EmbeddedNode(SimSpec("pathfinder", epoch_unix_s=epoch, pace=0.0, block_interval_s=30)) as b,
    ):
        yield a, b


@pytest.fixture
def pair(both):
    """The same two nodes for all tests, healthy at the beginning of each."""
    healthy = Faults()
    for node in both:
        node.set(**{name: getattr(healthy, name) for name in Faults.__slots__})
    return both


class Ran:
    """What came of one run."""

    def __init__(self, prepared, directory):
        _, self.run, self.noticed = load_run(directory.path)
        self.early = conductor.early_warnings(prepared)
        self.analysis = analyse(self.run, noticed=self.noticed)
        self.code = conductor.Outcome(None, self.run, self.analysis).exit_code

    @property
    def kinds(self):
        return {n.kind for n in self.analysis.notices}

    def weights(self, kind):
        return {(n.weight, n.node, n.call) for n in self.analysis.notices if n.kind == kind}

    def verdicts(self, call):
        return {c.verdict for c in self.analysis.comparisons if c.call == call}

    def only(self, kind):
        (notice,) = [n for n in self.analysis.notices if n.kind == kind]
        return notice


@pytest.fixture
def measure(engine, tmp_path, monkeypatch):
    """Run a small scenario on `nodes`, the first named juno and the second pathfinder; `meanwhile` runs beside it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # no calibration of this machine

    def run(nodes, *, meanwhile=None, calls=(BLOCK, STATE), requests=200, rounds=2, load=None, **scenario) -> Ran:
        nodes = [Node(name, node.url) for name, node in zip(("juno", "pathfinder"), nodes, strict=False)]
        asked = Scenario(
            "test", "", Chain.STARKNET, calls, load or Closed(2), rounds, requests=requests, warmup_ns=0, **scenario
        )
        request = conductor.Request(asked, tmp_path / "results", 5, 0.01, {}, "rpcbench compare")
        prepared = conductor.prepare(request, ask(nodes, Chain.STARKNET))
        beside = threading.Thread(target=meanwhile or (lambda: None))
        beside.start()
        directory = conductor.execute(prepared, engine, LiveView())
        beside.join()
        return Ran(prepared, directory)

    return run


def fail(node, kind, share, *calls):
    node.set(failures={kind: share}, methods=[call.method for call in calls or (BLOCK,)])


def test_healthy_nodes_raise_no_doubt(measure, pair):
    ran = measure(pair, requests=400)
    assert ran.kinds <= QUIET
    assert ran.code == 0
    assert ran.early == []


def test_a_paced_run_that_is_kept_raises_no_doubt(measure, pair):
    ran = measure(pair, requests=None, load=Open(100.0), duration_ns=500_000_000)
    assert ran.kinds <= QUIET
    assert ran.code == 0


@pytest.mark.parametrize(
    ("failure", "share", "kind", "weight"),
    [
        ("rpc_error", 0.2, "unanswered", VOID),
        ("wrong_id", 0.2, "unanswered", VOID),
        ("html", 0.2, "unanswered", VOID),
        ("null_result", 0.2, "unanswered", VOID),
        ("empty_result", 0.2, "empty_replies", VOID),
        ("reverted", 0.2, "reverts_differ", VOID),
        ("constant", 1.0, "constant_reply", VOID),
        ("padded", 1.0, "sizes_differ", WARNING),
        ("altered", 1.0, "replies_differ", WARNING),
        ("empty_result", 1.0, "replies_differ", VOID),
        ("reset", 0.2, "network_errors", WARNING),
        ("truncated", 0.2, "unanswered", VOID),
    ],
)
def test_one_call_of_one_node(measure, pair, failure, share, kind, weight):
    fail(pair[1], failure, share)
    ran = measure(pair)
    assert ran.weights(kind) == {(weight, "pathfinder", "block")}
    assert Verdict.INVALID not in ran.verdicts("state")
    if weight is VOID:
        assert ran.verdicts("block") == {Verdict.INVALID}
        assert ran.code == 4


def test_reverts_alike_are_only_told(measure, pair):
    for node in pair:
        fail(node, "reverted", 1.0)
    ran = measure(pair)
    assert ran.weights("reverts") == {(INFO, None, "block")}
    assert "reverts_differ" not in ran.kinds


@pytest.mark.parametrize("failure", ["http_429", "http_503"])  # both with Retry-After
def test_a_limiter_voids_everything(measure, pair, failure):
    fail(pair[0], failure, 0.05)
    ran = measure(pair)
    assert ran.weights("rate_limited") == {(VOID, "juno", None)}
    assert ran.verdicts("block") | ran.verdicts("state") == {Verdict.INVALID}
    assert not ran.analysis.valid
    assert ran.code == 4


def test_replies_that_never_come(measure, pair):
    fail(pair[1], "silent", 0.03)
    ran = measure(pair, timeout_ns=100_000_000)
    assert ran.weights("timeouts") == {(WARNING, "pathfinder", "block")}
    assert "for 0.1 s" in ran.only("timeouts").saw


def test_a_rare_failure_is_left_out_on_both_sides(measure, pair):
    fail(pair[1], "rpc_error", 0.005)
    ran = measure(pair, calls=(BLOCK,), requests=4000)
    assert "unanswered" not in ran.kinds
    assert {weight for weight, *_ in ran.weights("unequal_work")} <= {INFO, WARNING}
    assert ran.weights("errors_differ") == {(WARNING, "pathfinder", "block")}
    assert Verdict.INVALID not in ran.verdicts("block")


def test_a_constant_reply_of_both_may_be_the_truth(measure, pair):
    for node in pair:
        node.set(failures={"empty_result": 1.0}, methods=[BLOCK.method])
    assert measure(pair).weights("constant_reply") == {(WARNING, None, "block")}


def test_a_call_that_is_refused_is_told_before_the_load(measure, pair):
    fail(pair[1], "rpc_error", 1.0)
    ran = measure(pair)
    (notice,) = [n for n in ran.early if n.kind == "refused_in_rehearsal"]
    assert (notice.weight, notice.node, notice.call) == (WARNING, "pathfinder", "block")
    assert "rpc_error[-32603]" in notice.saw


def test_few_requests_leave_percentiles_blank(measure, pair):
    assert measure(pair, requests=20).weights("too_few_samples") == {(INFO, None, "block"), (INFO, None, "state")}
    assert "too_few_samples" not in measure(pair, requests=1000).kinds


def test_a_node_alone_that_answers_nothing(measure, pair):
    fail(pair[0], "rpc_error", 1.0, BLOCK, STATE)
    ran = measure(pair[:1])
    assert ran.weights("nothing_measured") == {(VOID, None, None)}
    assert ran.code == 4
    fail(pair[0], "rpc_error", 1.0, BLOCK)
    assert "nothing_measured" not in measure(pair[:1]).kinds


def test_a_node_that_cannot_take_the_rate(measure, pair):
    pair[1].set(delay_ms=40)
    load = Open(200.0, max_in_flight=4)  # 4 in flight for 40 ms are 100 a second
    ran = measure(pair, requests=None, load=load, duration_ns=500_000_000)
    assert ran.weights("load_not_delivered") == {(VOID, "pathfinder", None)}
    assert "waited behind 4 requests in flight" in ran.only("load_not_delivered").saw
    assert ran.code == 4


def test_a_rate_that_the_generator_cannot_send(measure, pair):
    """Which of its doubts comes first is up to the machine: no processor left, or sent late, or not at all."""
    ran = measure(pair, requests=None, load=Open(100_000.0), duration_ns=100_000_000, timeout_ns=2_000_000_000)
    void = {n.kind for n in ran.analysis.notices if n.weight is VOID}
    assert void & {"generator_busy", "send_lag"}
    assert not ran.analysis.valid


def test_headers_of_a_cache(measure, pair):
    pair[1].set(reply_headers={"CF-Cache-Status": "HIT"})
    ran = measure(pair)
    assert ran.weights("cache_headers") == {(WARNING, "pathfinder", None)}
    assert "cf-cache-status: HIT" in ran.only("cache_headers").saw


def once_begun(directory, then):
    """A function that waits until some trials are on disk, and then does something to the nodes."""

    def act():
        deadline = time.monotonic() + 20
        while not list(directory.glob("*/samples/001-*.npy")) and time.monotonic() < deadline:
            time.sleep(0.01)
        then()

    return act


LONG = {"requests": None, "duration_ns": 300_000_000, "calls": (BLOCK,)}


def test_heads_that_part_while_the_run_lasts(measure, pair, tmp_path):
    def part_and_meet_again():
        pair[1].set(lag_blocks=20)
        time.sleep(2.6)
        pair[1].set(lag_blocks=0)

    ran = measure(pair, meanwhile=once_begun(tmp_path / "results", part_and_meet_again), rounds=8, **LONG)
    assert ran.weights("heads_apart_during") == {(VOID, "pathfinder", None)}
    assert "20 blocks behind juno" in ran.only("heads_apart_during").saw
    assert "heads at most 20 apart" in evidence(ran.run)
    assert "heads_apart" not in ran.kinds
    assert ran.code == 4


def test_heads_that_have_parted_at_the_end(measure, pair, tmp_path):
    ran = measure(
        pair, meanwhile=once_begun(tmp_path / "results", lambda: pair[1].set(lag_blocks=20)), rounds=2, **LONG
    )
    assert ran.weights("heads_apart") == {(VOID, "pathfinder", None)}
    assert ran.weights("head_went_back") == {(WARNING, "pathfinder", None)}


def test_a_history_that_is_replaced_in_between(measure, pair, tmp_path):
    ran = measure(pair, meanwhile=once_begun(tmp_path / "results", lambda: pair[1].set(other_genesis=True)), **LONG)
    assert ran.weights("reorg") == {(VOID, "pathfinder", None)}
    assert ran.code == 4


def restarted(node, personality, away_s):
    """Stop an embedded node and start another one in its place."""
    port = int(node.url.rpartition(":")[2])
    node.stop()
    time.sleep(away_s)
    return EmbeddedNode(replace(node.spec, personality=personality, port=port))


@pytest.mark.parametrize(("personality", "kind"), [("pathfinder", "away_during"), ("juno", "node_changed")])
def test_a_node_that_is_restarted_or_replaced(measure, both, pair, tmp_path, personality, kind):
    started = []
    with EmbeddedNode(both[1].spec) as node:

        def restart():
            started.append(restarted(node, personality, away_s=1.6))
            started[0].__enter__()

        try:
            ran = measure((pair[0], node), meanwhile=once_begun(tmp_path / "results", restart), rounds=8, **LONG)
        finally:
            for new in started:
                new.stop()
    assert ran.weights(kind) == {(VOID, "pathfinder", None)}
    assert ran.code == 4


def test_a_node_that_does_not_come_back(measure, both, pair):
    spec = replace(both[1].spec, faults=Faults(stop_after=200))
    with EmbeddedNode(spec) as node:
        ran = measure((pair[0], node), **LONG)
    assert ran.weights("gone") == {(VOID, "pathfinder", None)}
    assert "away_during" not in ran.kinds


def test_a_node_that_says_it_is_syncing(measure, pair):
    pair[1].set(syncing=True)
    assert measure(pair).weights("syncing") == {(WARNING, "pathfinder", None)}


def test_an_interrupted_run_names_the_rounds_it_has(measure, pair, monkeypatch):
    class Impatient(LiveView):
        def trial_done(self, samples):
            self.seen = getattr(self, "seen", 0) + 1
            if self.seen == 5:
                raise KeyboardInterrupt

    monkeypatch.setitem(globals(), "LiveView", Impatient)
    ran = measure(pair, rounds=4)
    assert ran.weights("rounds_missing") == {(WARNING, None, None)}
    assert ran.only("rounds_missing").saw == "2 of 4 rounds finished on every node, 1 more on some"
    assert ran.code == 130
