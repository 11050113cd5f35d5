"""Replies to the same calls: as large, as full, failing in the same way, or else a notice."""

import numpy as np
import pytest
import xxhash

from rpcbench.analysis.analyse import analyse
from rpcbench.model.samples import Status
from rpcbench.model.verdict import Weight
from tests.analysis.conftest import Build

ROUNDS = range(1, 4)
PAIR = ("juno", "pathfinder")


def run_of(build, juno, pathfinder):
    return build.run({(r, n): rows for r in ROUNDS for n, rows in zip(PAIR, (juno, pathfinder), strict=True)})


def noticed(run, kind):
    return [n for n in analyse(run).notices if n.kind == kind]


class TestSizes:
    @pytest.mark.parametrize(
        ("sizes", "weight"),
        [
            ((5_000, 9_900), None),
            ((5_000, 10_100), Weight.WARNING),
            ((50_500, 5_000), Weight.VOID),
            ((200, 999), None),
            ((90, 1_200), Weight.VOID),
        ],
    )
    def test_by_what_factor(self, build: Build, sizes, weight) -> None:
        run = run_of(build, *(build.rows([2.0] * 400, bytes_in=size) for size in sizes))
        assert [n.weight for n in noticed(run, "sizes_differ")] == ([weight] if weight else [])

    def test_the_sentence_names_the_larger(self, build: Build) -> None:
        run = run_of(build, build.rows([2.0] * 400, bytes_in=12_000), build.rows([2.0] * 400, bytes_in=4_000))
        assert noticed(run, "sizes_differ")[0].saw == (
            "juno's replies to getBlock are 3.0 times as large as pathfinder's to the same calls "
            "(12,000 bytes against 4,000 at the median)"
        )

    def test_other_calls_are_not_held_against_each_other(self, build: Build) -> None:
        """The faster node came to more calls, large ones; the calls that both were asked weigh the same."""
        few = build.rows([2.0] * 100, bytes_in=2_000)
        many = np.concatenate([few, build.rows([2.0] * 300, ids=range(100, 400), bytes_in=90_000)])
        assert noticed(run_of(build, few, many), "sizes_differ") == []

    def test_a_few_large_replies_are_not_the_rule(self, build: Build) -> None:
        one, two = build.rows([2.0] * 400, bytes_in=2_000), build.rows([2.0] * 400, bytes_in=2_000)
        two["bytes_in"][:100] = 90_000
        assert noticed(run_of(build, one, two), "sizes_differ") == []

    def test_replies_with_nothing_in_them_are_told_elsewhere(self, build: Build) -> None:
        one, two = build.rows([2.0] * 400, bytes_in=2_000), build.rows([2.0] * 400, bytes_in=2_000)
        two["bytes_in"][:300], two["digest"][:300] = 40, digest(b"[]")
        run = run_of(build, one, two)
        assert noticed(run, "sizes_differ") == []
        assert noticed(run, "empty_replies")

    def test_refusals_have_no_size(self, build: Build) -> None:
        one, two = build.rows([2.0] * 400, bytes_in=2_000), build.rows([2.0] * 400, bytes_in=90)
        two["status"] = Status.RPC_ERROR
        assert noticed(run_of(build, one, two), "sizes_differ") == []


def digest(result):
    return xxhash.xxh3_64_intdigest(result)


class TestEmpty:
    @pytest.mark.parametrize("result", [b"[]", b"{}", b'""', b'"0x"', b'{"events":[]}', b'{"events": []}', b"[ ]"])
    def test_nothing_where_the_other_has_data(self, build: Build, result) -> None:
        one, two = build.rows([2.0] * 400), build.rows([2.0] * 400)
        two["digest"][:8] = digest(result)
        (notice,) = noticed(run_of(build, one, two), "empty_replies")
        assert notice.saw == (
            "pathfinder has nothing (null or empty) for 8 of 400 getBlock calls, 2 %, for which juno has data"
        )
        assert (notice.weight, notice.node) == (Weight.VOID, "pathfinder")

    def test_a_few_are_a_warning(self, build: Build) -> None:
        one, two = build.rows([2.0] * 400), build.rows([2.0] * 400)
        one["digest"][:4] = digest(b"[]")
        (notice,) = noticed(run_of(build, one, two), "empty_replies")
        assert (notice.weight, notice.node) == (Weight.WARNING, "juno")

    def test_null_counts(self, build: Build) -> None:
        one, two = build.rows([2.0] * 400), build.rows([2.0] * 400)
        two["status"][:2] = Status.NULL_RESULT
        (notice,) = noticed(run_of(build, one, two), "empty_replies")
        assert notice.weight is Weight.WARNING

    def test_nothing_on_both_is_an_answer(self, build: Build) -> None:
        rows = build.rows([2.0] * 400)
        rows["digest"][:200] = digest(b"[]")
        assert noticed(run_of(build, rows, rows), "empty_replies") == []

    def test_another_result_is_not_nothing(self, build: Build) -> None:
        one, two = build.rows([2.0] * 400), build.rows([2.0] * 400)
        two["digest"][:100] = digest(b'"0x0"')
        assert noticed(run_of(build, one, two), "empty_replies") == []

    def test_what_is_void_for_other_reasons_is_told_once(self, build: Build) -> None:
        one, two = build.rows([2.0] * 400), build.rows([2.0] * 400)
        two["status"] = Status.NULL_RESULT
        run = run_of(build, one, two)
        assert noticed(run, "empty_replies") == []
        assert noticed(run, "unanswered")


class TestErrors:
    def failing(self, build, count, status, code=0):
        rows = build.rows([2.0] * 2_000)
        rows["status"][:count], rows["code"][:count] = status, code
        return rows

    def test_other_classes(self, build: Build) -> None:
        one, two = self.failing(build, 12, Status.TIMEOUT), self.failing(build, 12, Status.RPC_ERROR, -32603)
        (notice,) = noticed(run_of(build, one, two), "errors_differ")
        assert notice.saw == (
            "juno and pathfinder fail getBlock in different ways: rpc_error[-32603] 0 of 6,000 against 36 of 6,000 "
            "and timeout 36 of 6,000 against 0 of 6,000"
        )
        assert notice.weight is Weight.WARNING

    def test_the_same_class_as_often(self, build: Build) -> None:
        one, two = self.failing(build, 12, Status.TIMEOUT), self.failing(build, 17, Status.TIMEOUT)
        assert noticed(run_of(build, one, two), "errors_differ") == []

    def test_as_often_for_what_each_was_sent(self, build: Build) -> None:
        """A closed loop sends the faster node more."""
        one = self.failing(build, 18, Status.TIMEOUT)
        two = np.concatenate([one, one, one])
        assert noticed(run_of(build, one, two), "errors_differ") == []

    def test_a_handful_is_chance(self, build: Build) -> None:
        one, two = self.failing(build, 0, Status.OK), self.failing(build, 4, Status.NETWORK)
        assert noticed(run_of(build, one, two), "errors_differ") == []

    def test_what_is_void_for_its_failures_is_told_once(self, build: Build) -> None:
        one, two = self.failing(build, 0, Status.OK), self.failing(build, 400, Status.NETWORK)
        assert noticed(run_of(build, one, two), "errors_differ") == []
