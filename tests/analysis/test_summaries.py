import math

import numpy as np
import pytest

from rpcbench.analysis.analyse import analyse
from rpcbench.model.samples import Status
from tests.analysis.conftest import Build


def test_figures_of_a_call_over_all_rounds(build: Build) -> None:
    run = build.run(
        {
            (1, "juno"): build.rows(np.arange(1.0, 201.0), lag_ms=0.5),
            (2, "juno"): build.rows(np.arange(201.0, 402.0), lag_ms=0.5),
        },
        nodes=("juno",),
    )
    (s,) = analyse(run).summaries
    assert (s.node, s.call, s.requests, s.answered, s.errors, s.bytes_in) == ("juno", "getBlock", 401, 401, {}, 40_100)
    assert s.rate_per_s == 401 / 2
    q = s.latency_ms
    assert (q.mean, q.p50, q.p90, q.p95, q.p99, q.max) == pytest.approx((201, 201, 361, 381, 397, 401))
    assert s.service_ms.p50 == pytest.approx(200.5)


def test_warm_up_enters_no_figure(build: Build) -> None:
    measured = build.rows([2.0] * 10)
    run = build.run({(0, "juno"): build.rows([900.0] * 50), (1, "juno"): measured}, nodes=("juno",))
    (s,) = analyse(run).summaries
    assert (s.requests, s.latency_ms.max, s.rate_per_s) == (10, 2.0, 10.0)


def test_failures_never_flatter_a_latency(build: Build) -> None:
    good, bad = build.rows([10.0] * 6), build.rows([0.1] * 100, status=Status.RPC_ERROR, code=-32602)
    (s,) = analyse(build.run({(1, "juno"): np.concatenate([good, bad])}, nodes=("juno",))).summaries
    assert (s.requests, s.answered, s.errors) == (106, 6, {"rpc_error[-32602]": 100})
    assert (s.latency_ms.p50, s.service_ms.p50, s.rate_per_s) == (10.0, 10.0, 6.0)


def test_every_failure_is_in_exactly_one_class(build: Build) -> None:
    failures = [
        (Status.RPC_ERROR, -32602, 5),
        (Status.RPC_ERROR, 24, 1),
        (Status.HTTP_ERROR, 502, 4),
        (Status.RATE_LIMITED, 429, 3),
        (Status.TIMEOUT, 0, 2),
        (Status.NETWORK, 0, 1),
        (Status.BAD_REPLY, 0, 1),
        (Status.NULL_RESULT, 0, 1),
    ]
    trials = {
        (number, "juno"): np.concatenate([build.rows([1.0] * n, status=s, code=c) for s, c, n in failures])
        for number in (1, 2)
    }
    (s,) = analyse(build.run(trials, nodes=("juno",))).summaries
    assert list(s.errors.items()) == [
        ("rpc_error[-32602]", 10),
        ("http_error[502]", 8),
        ("rate_limited[429]", 6),
        ("timeout", 4),
        ("bad_reply", 2),
        ("network", 2),
        ("null_result", 2),
        ("rpc_error[24]", 2),
    ]
    assert s.answered + sum(s.errors.values()) == s.requests


def test_a_revert_is_an_answer(build: Build) -> None:
    rows = np.concatenate([build.rows([1.0] * 6), build.rows([3.0] * 6, status=Status.REVERTED, code=3)])
    (s,) = analyse(build.run({(1, "juno"): rows}, nodes=("juno",))).summaries
    assert (s.answered, s.errors, s.latency_ms.p50) == (12, {}, 2.0)


def test_calls_are_kept_apart_and_share_the_time(build: Build) -> None:
    rows = np.concatenate([build.rows([1.0] * 10), build.rows([5.0] * 30, call=1)])
    run = build.run({(1, "juno"): rows}, calls=("getBlock", "getEvents"), nodes=("juno",))
    block, events = analyse(run).summaries
    assert (block.call, block.requests, block.rate_per_s, block.latency_ms.max) == ("getBlock", 10, 10.0, 1.0)
    assert (events.call, events.requests, events.rate_per_s, events.latency_ms.max) == ("getEvents", 30, 30.0, 5.0)


def test_bytes_do_not_overflow(build: Build) -> None:
    run = build.run({(1, "juno"): build.rows([1.0] * 3, bytes_in=2**32 - 1)}, nodes=("juno",))
    assert analyse(run).summaries[0].bytes_in == 3 * (2**32 - 1)


def test_a_call_that_was_never_sent_has_no_figures(build: Build) -> None:
    run = build.run({(1, "juno"): build.rows([1.0] * 10)}, calls=("getBlock", "getEvents"), nodes=("juno",))
    s = analyse(run).summaries[1]
    assert (s.requests, s.answered, s.rate_per_s) == (0, 0, 0.0)
    assert math.isnan(s.latency_ms.p50)
