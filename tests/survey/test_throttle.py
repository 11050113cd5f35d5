"""Other people's endpoints are asked slowly, our own at once."""

from __future__ import annotations

import time

import pytest

from rpcbench.model.node import Node
from rpcbench.survey.asker import QUIET_PER_S
from rpcbench.survey.rehearsal import rehearse
from rpcbench.survey.survey import ask
from tests.survey.conftest import Start
from tests.survey.fake_node import FakeNode, devnet, geth
from tests.survey.test_rehearsal import call

MOST_OF_A_SECOND = 0.7  # arrivals are stamped by another thread, on a busy machine well after they were sent


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Node, "is_local", property(lambda _: False))


def most_within(fake: FakeNode, window_s: float) -> int:
    times = [seen.at_s for seen in fake.seen]
    return max(sum(start <= at < start + window_s for at in times) for start in times)


@pytest.mark.usefixtures("remote")
def test_a_remote_node_is_asked_a_handful_of_times_a_second(start: Start) -> None:
    one, other = start(devnet(name="one")), start(devnet(name="other"))
    began_s = time.monotonic()
    ask([one.node(), other.node()], None)
    took_s = time.monotonic() - began_s
    assert len(one.seen) == len(other.seen) == 13
    assert most_within(one, MOST_OF_A_SECOND) <= QUIET_PER_S
    assert most_within(other, MOST_OF_A_SECOND) <= QUIET_PER_S
    assert 2 <= took_s < 3.9  # 13 questions at 5 a second; both nodes at the same time


@pytest.mark.usefixtures("remote")
def test_a_remote_node_is_rehearsed_as_slowly(start: Start) -> None:
    fake = start(geth())
    rehearse([fake.node()], [call(id, 0, "eth_chainId") for id in range(QUIET_PER_S + 2)])
    assert len(fake.seen) == QUIET_PER_S + 2
    assert most_within(fake, MOST_OF_A_SECOND) <= QUIET_PER_S


def test_a_local_node_is_not_kept_waiting(start: Start) -> None:
    fake = start(devnet())
    began_s = time.monotonic()
    ask([fake.node()], None)
    assert len(fake.seen) == 13
    assert time.monotonic() - began_s < 2
