"""The draws that the standard library lacks, against what they should give."""

import random
from collections import Counter

import pytest

from rpcbench.plan.distributions import picker, zipf_rank

DRAWS = 20_000


@pytest.mark.parametrize("s", [0.5, 1.0, 1.1, 2.5])
def test_zipf_ranks_come_in_proportion(s: float) -> None:
    n, rng, rank = 10, random.Random(1), zipf_rank(s)
    counts = Counter(rank(rng, n) for _ in range(DRAWS))
    whole = sum(k**-s for k in range(1, n + 1))
    for k in range(1, n + 1):
        share = k**-s / whole
        assert counts[k] / DRAWS == pytest.approx(share, abs=5 * (share / DRAWS) ** 0.5)


@pytest.mark.parametrize("s", [0.01, 1.0, 1.000001, 10.0])
@pytest.mark.parametrize("n", [1, 2, 50_000_000])
def test_zipf_ranks_stay_in_range(s: float, n: int) -> None:
    rng, rank = random.Random(2), zipf_rank(s)
    assert all(1 <= rank(rng, n) <= n for _ in range(500))


def test_picks_come_in_proportion() -> None:
    rng, pick = random.Random(3), picker([3.0, 1.0])
    counts = Counter(pick(rng) for _ in range(DRAWS))
    assert set(counts) == {0, 1}
    assert counts[0] / DRAWS == pytest.approx(0.75, abs=0.02)


@pytest.mark.parametrize("s", [0.5, 1.0, 1.1, 3.0, 10.0])
def test_the_highest_chance_there_is_gives_the_last_rank_and_none_beyond(s: float) -> None:
    class Highest(random.Random):
        """Proposes as far out as possible, and accepts."""

        def __init__(self) -> None:
            super().__init__()
            self.turn = 0

        def random(self) -> float:
            self.turn += 1
            return 1 - 2**-53 if self.turn % 2 else 0.0

    assert all(1 <= zipf_rank(s)(Highest(), n) <= n for n in range(1, 400))
