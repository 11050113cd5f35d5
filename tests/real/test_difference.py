"""2 ms are put between two real nodes, and 2 ms must be measured.

Both nodes are held, by 2 and by 4 ms, so that hardly anything but the hold differs: a node that is asked half as
often takes a little longer to answer (0.1 to 0.2 ms where the other is not held at all, a few hundredths here), and
a client that slept longer takes longer to wake.
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
def test_the_measured_difference_is_the_hold(node, scenario, request, tmp_path):
    words = ("-s", scenario, "--rounds", ROUNDS, "-d", "400ms", "--warmup", "300ms", "-c", 2)
    compared = compare(request.getfixturevalue(node), (2, 4), *words, home=tmp_path)
    assert compared.said.code == 0, compared.said.err
    ((_, said),) = compared.medians.iterrows()
    assert said.verdict == "slower"

    half_ms = (said.difference_high_ms - said.difference_low_ms) / 2
    base, other = (by_round(compared, node) for node in NODES)
    held_ms = (other.hold_ms - base.hold_ms).mean()
    assert held_ms == pytest.approx(2, abs=0.25), "this machine is too busy for the proxies to hold as they should"
    assert said.difference_ms == pytest.approx(held_ms, abs=half_ms * WIDER)

    # Round by round the two accounts are of the same requests, so that what a busy machine does to them cancels.
    own_ms = (other.latency_ms - base.latency_ms) - (other.stay_ms - base.stay_ms)
    assert own_ms.median() == pytest.approx(0, abs=0.1), "rpcbench and the proxies saw two different differences"


def by_round(compared: Compared, node: str) -> pd.DataFrame:
    """Medians of a node's rounds: what rpcbench recorded, and what the proxy saw of the same requests."""
    table = compared.table("requests")
    mine = table[(table.phase == "measure") & (table.node == node)]
    rounds = mine.groupby("round").latency_ms.median().to_frame()
    for time in ("hold_ms", "stay_ms"):
        rounds[time] = [median(getattr(told, time) for told in seen) for seen in compared.rounds(node)]
    assert len(rounds) == ROUNDS
    return rounds
