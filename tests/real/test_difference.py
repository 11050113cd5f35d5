"""2 ms are put between two real nodes, and 2 ms must be measured.

The truth is the proxies' own account of the same requests: the 2 ms, and what the nodes themselves take longer. For a
node that is asked less often is slower to answer: it, or the machine, has to wake up first. That comes to 0.1 to
0.2 ms when the other is not held at all; so here both are, by 2 and by 4 ms, which leaves some hundredths.
"""

from statistics import median

import pandas as pd
import pytest
from scipy import stats

from tests.real.compared import NODES, Compared, compare

pytestmark = pytest.mark.timeout(120)

ROUNDS = 10
# A 95 % interval misses the truth once in twenty runs. A test may not, so it asks for the wider 99.9 % interval of
# the same rounds; that the intervals are what they should be is tested in test_slowed.py.
WIDER = stats.t.ppf(0.9995, ROUNDS - 1) / stats.t.ppf(0.975, ROUNDS - 1)


@pytest.mark.parametrize(("node", "scenario"), [("anvil", "eth-blocks"), ("devnet", "getBlockWithTxs")])
def test_the_measured_difference_is_the_true_one(node, scenario, request, tmp_path):
    words = ("-s", scenario, "--rounds", ROUNDS, "-d", "400ms", "--warmup", "300ms", "-c", 2)
    compared = compare(request.getfixturevalue(node), (2, 4), *words, home=tmp_path)
    assert compared.said.code == 0, compared.said.err
    ((_, said),) = compared.medians.iterrows()
    assert said.verdict == "slower"

    base, other = (by_round(compared, node) for node in NODES)
    apart = other - base
    assert apart.hold_ms.median() == pytest.approx(2, abs=0.1), "this machine is too busy to hold replies exactly"
    half_ms = (said.difference_high_ms - said.difference_low_ms) / 2
    assert said.difference_ms == pytest.approx(apart.stay_ms.mean(), abs=half_ms * WIDER)
    # Both accounts are of the same requests, so that what a busy machine does to a round is in both.
    assert (apart.latency_ms - apart.stay_ms).median() == pytest.approx(0, abs=0.1)


def by_round(compared: Compared, node: str) -> pd.DataFrame:
    """Medians of a node's rounds: what rpcbench recorded, and what the proxy saw of the same requests."""
    table = compared.table("requests")
    mine = table[(table.phase == "measure") & (table.node == node)]
    rounds = mine.groupby("round").latency_ms.median().to_frame()
    for time in ("hold_ms", "stay_ms"):
        rounds[time] = [median(getattr(told, time) for told in seen) for seen in compared.rounds(node)]
    assert len(rounds) == ROUNDS
    return rounds
