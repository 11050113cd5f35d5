"""Two real nodes with one chain and nothing between them: no winner may be named.

There are just as many rounds as a verdict needs at all with so many calls, so that every one of them would have to
point the same way by chance: once in 256 runs for starknet-devnet, once in 512 for anvil. That this number of rounds
does find a difference where there is one is shown in test_slowed.py.
"""

import pytest

from tests.real.compared import compare

pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize(("node", "scenario", "rounds"), [("anvil", "eth-mixed", 9), ("devnet", "mixed", 8)])
def test_no_winner_where_there_is_no_difference(node, scenario, rounds, request, tmp_path):
    words = ("-s", scenario, "--rounds", rounds, "-d", "400ms", "--warmup", "300ms", "-c", 2, "--noise", "5%")
    compared = compare(request.getfixturevalue(node), (0, 0), *words, home=tmp_path)
    assert compared.said.code == 0, compared.said.err
    assert len(compared.medians) > 1
    assert compared.medians.ratio.notna().all(), compared.medians.reason
    assert set(compared.medians.verdict) <= {"same", "undecided"}, compared.medians
