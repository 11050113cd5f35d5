"""Lengths of time, read and written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpcbench.config.durations import format_duration, parse_duration_ns
from rpcbench.errors import SpecError

WEEK_NS = 7 * 24 * 3600 * 10**9


@pytest.mark.parametrize(
    ("text", "duration_ns"),
    [
        ("500ms", 500_000_000),
        ("3s", 3_000_000_000),
        ("1m30s", 90_000_000_000),
        ("1.5s", 1_500_000_000),
        ("2", 2_000_000_000),
        ("0.25", 250_000_000),
        ("2h", 7_200_000_000_000),
        ("10us", 10_000),
        (" 7ns ", 7),
    ],
)
def test_durations_are_read(text: str, duration_ns: int) -> None:
    assert parse_duration_ns(text) == duration_ns


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("soon", "'soon' is no duration; write 500ms, 3s or 1m30s"),
        ("", "is no duration"),
        ("3 s", "is no duration"),
        ("1s1m", "is no duration"),
        ("1s1s", "is no duration"),
        ("0", "is zero; write one above zero"),
        ("0s", "is zero; write one above zero"),
        ("0.1ns", "is zero"),
        ("-1s", "is negative; write one above zero"),
        ("8000h", "is longer than a week"),
    ],
)
def test_nonsense_is_refused_with_what_would_be_right(text: str, words: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_duration_ns(text)
    assert words in str(caught.value)


def test_zero_is_let_through_where_it_means_something() -> None:
    assert parse_duration_ns("0s", least_ns=0) == 0


@given(st.integers(0, WEEK_NS))
def test_what_is_written_reads_back_the_same(duration_ns: int) -> None:
    assert parse_duration_ns(format_duration(duration_ns), least_ns=0) == duration_ns


def test_durations_are_written_as_people_write_them() -> None:
    texts = ["0s", "500ms", "1.5s", "3s", "1m30s", "1h"]
    assert [format_duration(parse_duration_ns(text, least_ns=0)) for text in texts] == texts
