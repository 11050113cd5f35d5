"""For every notice a run that causes it, and one that must not."""

from dataclasses import replace

import numpy as np
import pytest

from rpcbench.analysis.analyse import analyse
from rpcbench.analysis.validity import CHECKS
from rpcbench.model.samples import Status
from rpcbench.model.scenario import Open
from rpcbench.model.verdict import Notice, Verdict, Weight
from tests.analysis.conftest import Build

ROUNDS = range(1, 11)


def noticed(run, kind):
    return [n for n in analyse(run).notices if n.kind == kind]


def only(run, kind):
    (notice,) = noticed(run, kind)
    return notice


def verdicts(run, call="getBlock"):
    return {c.verdict for c in analyse(run).comparisons if c.call == call}


def mixed(build, ok, bad, *, status, code=0, node="pathfinder", rounds=ROUNDS):
    """A run in which one node fails `bad` of its `ok + bad` requests a round; the other answers them all."""
    good = build.rows(np.linspace(1, 3, ok + bad))
    failing = np.concatenate([good[:ok], build.rows([1.0] * bad, ids=range(ok, ok + bad), status=status, code=code)])
    return build.run({(r, n): failing if n == node else good for r in rounds for n in ("juno", "pathfinder")})


def paced_open_loop(build, *, rate=500.0, lag_ms=0.05, cap=512, latency_ms=2.0, count=500):
    """One second of evenly due requests on two nodes, all sent `lag_ms` late."""
    due_ms = np.arange(count) * 1000 / rate
    rows = build.rows(np.broadcast_to(lag_ms, count) + latency_ms, due_ms=due_ms, lag_ms=lag_ms)
    run = build.run({(r, n): rows for r in ROUNDS for n in ("juno", "pathfinder")})
    return build.with_load(run, Open(rate, max_in_flight=cap), planned=count)


def test_a_healthy_run_has_nothing_to_say(build: Build) -> None:
    assert analyse(build.alike()).notices == ()
    assert analyse(paced_open_loop(build)).notices == ()


def test_every_check_tolerates_a_run_that_never_began(build: Build) -> None:
    run = build.run({}, rounds=10, interrupted=True)
    assert {n.kind for n in analyse(run).notices} == {"rounds_missing", "too_few_samples"}
    assert len(CHECKS) >= 10


class TestUnanswered:
    def test_all_of_a_call(self, build: Build) -> None:
        run = mixed(build, 0, 100, status=Status.RPC_ERROR, code=-32602)
        notice = only(run, "unanswered")
        assert notice.saw == "pathfinder answered 100 % of getBlock with rpc_error[-32602]"
        assert (notice.weight, notice.node, notice.call) == (Weight.VOID, "pathfinder", "getBlock")
        assert verdicts(run) == {Verdict.INVALID}

    def test_a_part_of_a_call_names_its_classes(self, build: Build) -> None:
        good, node = build.rows(np.linspace(1, 3, 90)), "pathfinder"
        bad = [
            build.rows([1.0] * 7, status=Status.HTTP_ERROR, code=502),
            build.rows([1.0] * 3, status=Status.TIMEOUT),
        ]
        run = build.run({(1, "juno"): good, (1, node): np.concatenate([good, *bad])})
        assert only(run, "unanswered").saw == (
            "pathfinder answered 7 % of getBlock with http_error[502] and 3 % not at all (timeout)"
        )

    @pytest.mark.parametrize(("failed", "voids"), [(10, False), (11, True)])
    def test_one_percent_is_the_limit(self, build: Build, failed, voids) -> None:
        run = mixed(build, 1000 - failed, failed, status=Status.NULL_RESULT)
        assert bool(noticed(run, "unanswered")) is voids
        assert (verdicts(run) == {Verdict.INVALID}) is voids

    def test_the_base_node_is_watched_too(self, build: Build) -> None:
        run = mixed(build, 0, 100, status=Status.BAD_REPLY, node="juno")
        assert only(run, "unanswered").node == "juno"
        assert verdicts(run) == {Verdict.INVALID}

    def test_other_calls_and_other_nodes_stay_compared(self, build: Build) -> None:
        good = np.concatenate([build.rows(np.linspace(1, 3, 50)), build.rows(np.linspace(1, 3, 50), call=1)])
        bad = good.copy()
        bad["status"][50:] = Status.RPC_ERROR
        nodes = {"juno": good, "pathfinder": bad, "madara": good}
        run = build.run(
            {(r, n): rows for r in ROUNDS for n, rows in nodes.items()},
            calls=("getBlock", "getEvents"),
            nodes=tuple(nodes),
        )
        invalid = {(c.call, c.other) for c in analyse(run).comparisons if c.verdict is Verdict.INVALID}
        assert invalid == {("getEvents", "pathfinder")}
        assert analyse(run).valid

    def test_a_node_alone_is_warned_of_some_errors_and_void_with_nothing_else(self, build: Build) -> None:
        good, bad = build.rows([1.0] * 50), build.rows([1.0] * 50, status=Status.RPC_ERROR)
        some = build.run({(1, "juno"): np.concatenate([good, bad])}, nodes=("juno",))
        assert only(some, "unanswered").weight is Weight.WARNING
        assert analyse(some).valid
        none = build.run({(1, "juno"): bad}, nodes=("juno",))
        assert only(none, "unanswered").weight is Weight.VOID
        assert only(none, "nothing_measured").weight is Weight.VOID
        assert not analyse(none).valid


class TestRateLimited:
    def test_a_single_refusal_voids_the_run(self, build: Build) -> None:
        run = mixed(build, 999, 1, status=Status.RATE_LIMITED, code=429, rounds=[1])
        notice = only(run, "rate_limited")
        assert notice.saw == "pathfinder refused 1 of 1,000 requests with rate_limited[429]"
        assert (notice.weight, notice.node, notice.call) == (Weight.VOID, "pathfinder", None)
        assert not analyse(run).valid
        assert verdicts(run) == {Verdict.INVALID}

    def test_silent_about_other_errors(self, build: Build) -> None:
        assert noticed(mixed(build, 999, 1, status=Status.HTTP_ERROR, code=503), "rate_limited") == []


class TestTimeoutsAndNetwork:
    @pytest.mark.parametrize(
        ("status", "kind", "saw"),
        [
            (Status.TIMEOUT, "timeouts", "pathfinder left 50 of 10,000 getBlock requests without a reply for 10 s"),
            (
                Status.NETWORK,
                "network_errors",
                "50 of 10,000 getBlock requests to pathfinder ended with the connection refused or broken",
            ),
        ],
    )
    def test_a_few_are_a_warning_with_advice_of_its_own(self, build: Build, status, kind, saw) -> None:
        run = mixed(build, 995, 5, status=status)
        notice = only(run, kind)
        assert (notice.saw, notice.weight, notice.node) == (saw, Weight.WARNING, "pathfinder")
        assert noticed(run, "unanswered") == []
        assert Verdict.INVALID not in verdicts(run)

    def test_the_systems_own_number_changes_nothing(self, build: Build) -> None:
        run = mixed(build, 900, 100, status=Status.NETWORK, code=104)
        assert only(run, "network_errors").saw.startswith("1,000 of 10,000 getBlock requests to pathfinder")
        assert only(run, "unanswered").saw == "pathfinder answered 10 % of getBlock not at all (network[104])"

    def test_many_void_the_call_as_well(self, build: Build) -> None:
        run = mixed(build, 900, 100, status=Status.TIMEOUT)
        assert only(run, "timeouts")
        assert only(run, "unanswered").weight is Weight.VOID

    def test_silent_about_each_other(self, build: Build) -> None:
        assert noticed(mixed(build, 995, 5, status=Status.TIMEOUT), "network_errors") == []
        assert noticed(mixed(build, 995, 5, status=Status.NETWORK), "timeouts") == []


class TestReverts:
    def test_alike_on_both_nodes_they_are_only_told(self, build: Build) -> None:
        rows = build.rows(np.linspace(1, 3, 100))
        rows["status"][:10] = Status.REVERTED
        run = build.run({(r, n): rows for r in ROUNDS for n in ("juno", "pathfinder")})
        notice = only(run, "reverts")
        assert notice.saw == "answers to getBlock that are reverts: juno 10 % and pathfinder 10 %"
        assert notice.weight is Weight.INFO
        assert verdicts(run) == {Verdict.SAME, Verdict.UNDECIDED}  # p99 has too few samples

    def test_unlike_they_void_the_call(self, build: Build) -> None:
        run = mixed(build, 90, 10, status=Status.REVERTED)
        notice = only(run, "reverts_differ")
        assert notice.saw == "10 % of pathfinder's answers to getBlock are reverts, 0 % of juno's"
        assert verdicts(run) == {Verdict.INVALID}


class TestConstantReplies:
    def run(self, build, constant, *, count=100, ids=None, statuses=None):
        """Nodes in `constant` give one result to everything."""
        trials = {}
        for node in ("juno", "pathfinder"):
            status = (statuses or {}).get(node, Status.OK)
            digest = 7 if node in constant else None
            rows = build.rows(np.linspace(1, 3, count), ids=ids, digest=digest, status=status)
            trials |= {(r, node): rows for r in ROUNDS}
        return build.run(trials)

    def test_on_one_node_only_it_voids_the_call(self, build: Build) -> None:
        run = self.run(build, {"juno"})
        notice = only(run, "constant_reply")
        assert notice.saw == "juno gave one constant reply to 100 different getBlock requests"
        assert (notice.weight, notice.node, notice.call) == (Weight.VOID, "juno", "getBlock")
        assert verdicts(run) == {Verdict.INVALID}

    def test_on_both_nodes_it_may_be_the_truth(self, build: Build) -> None:
        run = self.run(build, {"juno", "pathfinder"})
        notice = only(run, "constant_reply")
        assert notice.saw == "juno and pathfinder gave one constant reply to 100 different getBlock requests"
        assert (notice.weight, notice.node) == (Weight.WARNING, None)
        assert Verdict.INVALID not in verdicts(run)

    def test_where_the_other_node_only_fails_it_voids(self, build: Build) -> None:
        run = self.run(build, {"juno"}, statuses={"pathfinder": Status.RPC_ERROR})
        assert only(run, "constant_reply").weight is Weight.VOID

    @pytest.mark.parametrize(("distinct", "seen"), [(1, False), (19, False), (20, True)])
    def test_few_different_calls_may_well_have_one_result(self, build: Build, distinct, seen) -> None:
        run = self.run(build, {"juno"}, ids=np.arange(100) % distinct)
        assert bool(noticed(run, "constant_reply")) is seen

    def test_the_other_node_is_judged_by_the_same_calls(self, build: Build) -> None:
        """A faster node gets further into the calls: what it alone was asked proves nothing."""
        slow = build.rows(np.linspace(1, 3, 30), digest=7)
        fast = build.rows(np.linspace(1, 3, 60), digest=[7] * 30 + list(range(100, 130)))
        run = build.run({(r, n): rows for r in ROUNDS for n, rows in (("juno", slow), ("pathfinder", fast))})
        assert only(run, "constant_reply").weight is Weight.WARNING

    def test_failures_do_not_count_as_a_constant_reply(self, build: Build) -> None:
        run = self.run(build, {"juno"}, statuses={"juno": Status.RPC_ERROR})
        assert noticed(run, "constant_reply") == []

    def test_a_reply_that_changes_with_the_chain_is_not_constant(self, build: Build) -> None:
        early, late = build.rows(np.linspace(1, 3, 50), digest=1), build.rows(np.linspace(1, 3, 50), digest=2)
        run = build.run({(r, n): (early if r < 5 else late) for r in ROUNDS for n in ("juno", "pathfinder")})
        assert noticed(run, "constant_reply") == []


class TestLoad:
    def test_an_open_loop_on_time_is_silent(self, build: Build) -> None:
        assert analyse(paced_open_loop(build, lag_ms=0.9)).notices == ()

    def test_a_late_generator_voids_the_run(self, build: Build) -> None:
        run = paced_open_loop(build, lag_ms=np.linspace(0, 200, 500))
        notice = only_first(noticed(run, "load_not_delivered"))
        assert notice.saw == "juno got 84 % of 5,000 planned requests in time"
        assert notice.advice == "lower the rate, or give the generator more CPU"
        assert (notice.weight, notice.call) == (Weight.VOID, None)
        assert not analyse(run).valid
        assert verdicts(run) == {Verdict.INVALID}

    def test_a_node_that_cannot_take_the_rate_is_named_as_the_cause(self, build: Build) -> None:
        """Eight in flight at 20 ms each make 400 a second, and 500 fall due."""
        sent_ms = np.arange(500) // 8 * 20.0
        due_ms = np.arange(500) * 2.0
        lag_ms = np.maximum(sent_ms - due_ms, 0)
        run = paced_open_loop(build, lag_ms=lag_ms, latency_ms=20.0, cap=8)
        notice = only_first(noticed(run, "load_not_delivered"))
        assert notice.saw.endswith("planned requests in time: the rest waited behind 8 requests in flight")
        assert notice.advice == "lower the rate until the node keeps up"
        assert noticed(run, "send_lag") == []

    def test_requests_that_were_never_recorded_count_as_not_delivered(self, build: Build) -> None:
        run = build.with_load(paced_open_loop(build), Open(500.0), planned=520)
        assert only_first(noticed(run, "load_not_delivered")).saw.startswith("juno got 96 % of 5,200 planned")

    def test_waiting_for_a_connection_is_the_nodes_doing(self, build: Build) -> None:
        run = paced_open_loop(build, lag_ms=200.0)
        for trial in run.trials:
            trial.samples.rows["connect_ns"] = 200_000_000
        assert noticed(run, "load_not_delivered") + noticed(run, "send_lag") == []

    def test_a_refused_connection_was_tried_in_time(self, build: Build) -> None:
        run = paced_open_loop(build)
        for trial in run.trials:
            trial.samples.rows["status"] = Status.NETWORK
            trial.samples.rows["sent_ns"] = 0
        assert noticed(run, "load_not_delivered") == []

    def test_a_long_tail_of_send_lag_is_a_warning(self, build: Build) -> None:
        lag_ms = np.where(np.arange(500) % 50 == 0, 8.0, 0.1)
        run = paced_open_loop(build, lag_ms=lag_ms)
        notice = only_first(noticed(run, "send_lag"))
        assert notice.weight is Weight.WARNING
        assert notice.saw.startswith("requests to juno left 0.1 ms late at the median and 8.0 ms at p99")

    def test_lag_at_the_median_voids(self, build: Build) -> None:
        run = paced_open_loop(build, lag_ms=1.5)
        assert {n.weight for n in noticed(run, "send_lag")} == {Weight.VOID}
        assert verdicts(run) == {Verdict.INVALID}

    def test_lag_is_judged_beside_the_service_time(self, build: Build) -> None:
        run = paced_open_loop(build, lag_ms=1.5, latency_ms=40.0)
        assert noticed(run, "send_lag") == []

    def test_a_closed_loop_has_no_schedule_to_keep(self, build: Build) -> None:
        late = build.rows(np.full(500, 300.0), lag_ms=200.0, due_ms=np.arange(500) * 2.0)
        run = build.run({(r, n): late for r in ROUNDS for n in ("juno", "pathfinder")})
        assert noticed(run, "load_not_delivered") + noticed(run, "send_lag") == []


class TestRounds:
    def test_an_interrupted_run(self, build: Build) -> None:
        run = build.alike(10)
        run = replace(run, trials=run.trials[:15], interrupted=True)
        notice = only(run, "rounds_missing")
        assert notice.saw == "7 of 10 rounds finished on every node, 1 more on some"
        assert notice.weight is Weight.WARNING
        assert {c.ratio.n for c in analyse(run).comparisons if c.ratio} == {7}

    def test_silent_when_all_are_there(self, build: Build) -> None:
        assert noticed(build.alike(3), "rounds_missing") == []


class TestSamples:
    @pytest.mark.parametrize(
        ("count", "saw"),
        [
            (30, "juno answered 30 getBlock requests: p90 needs 36, p95 needs 72 and p99 needs 368"),
            (367, "juno answered 367 getBlock requests: p99 needs 368"),
        ],
    )
    def test_too_few_for_a_percentile(self, build: Build, count, saw) -> None:
        notice = only(build.alike(1, count=count), "too_few_samples")
        assert (notice.saw, notice.weight) == (saw, Weight.INFO)

    def test_silent_with_enough(self, build: Build) -> None:
        assert noticed(build.alike(1, count=368), "too_few_samples") == []


def only_first(notices):
    """The two nodes are treated alike, so that each has a notice; the first is the base's."""
    assert [n.node for n in notices] == ["juno", "pathfinder"]
    return notices[0]


def test_what_the_surveys_noticed_comes_first_and_voids_alike(build: Build) -> None:
    moved = Notice("heads_apart", Weight.VOID, "the heads moved 40 blocks apart", "", "")
    analysis = analyse(build.alike(), noticed=[moved])
    assert analysis.notices == (moved,)
    assert {(c.verdict, c.ratio, c.reason) for c in analysis.comparisons} == {(Verdict.INVALID, None, moved.saw)}
    assert not analysis.valid
