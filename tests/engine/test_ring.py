"""Rows through shared memory: in order, none lost, none twice, however slow the reader."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rpcbench.engine.ring import ROW_BYTES, RingReader, RingWriter, new_ring_memory

CAPACITY = 8


@pytest.fixture(scope="module")
def memory():
    memory = new_ring_memory(CAPACITY)
    yield memory
    memory.close()
    memory.unlink()


def row(n: int) -> bytes:
    return struct.pack("<q", n) * (ROW_BYTES // 8)


def numbers(rows: bytes) -> list[int]:
    return [struct.unpack_from("<q", rows, at)[0] for at in range(0, len(rows), ROW_BYTES)]


@given(steps=st.lists(st.sampled_from(["append", "append 5", "append 20", "publish", "drain"]), max_size=40))
@settings(max_examples=150, deadline=None)
def test_rows_arrive_once_and_in_order(memory, steps):
    reader, writer = RingReader(memory, CAPACITY), RingWriter(memory, CAPACITY)
    reader.reset()
    written, read = 0, []
    for step in steps:
        if step == "publish":
            writer.publish(written)
        elif step == "drain":
            read += numbers(reader.drain())
        else:
            for _ in range(int(step.removeprefix("append") or 1)):
                writer.append(row(written))
                written += 1
        assert writer.appended == written
    leftover = writer.finish(written)
    read += numbers(reader.drain(finished=True)) + numbers(leftover)
    assert read == list(range(written))
    assert reader.started == written
    writer.release()
    reader.release()


def test_a_row_is_read_one_call_after_it_was_told_of(memory):
    reader, writer = RingReader(memory, CAPACITY), RingWriter(memory, CAPACITY)
    reader.reset()
    writer.append(row(1))
    writer.publish(1)
    assert reader.drain() == b""
    assert numbers(reader.drain()) == [1]
    writer.release()
    reader.release()


def test_the_start_is_told(memory):
    reader, writer = RingReader(memory, CAPACITY), RingWriter(memory, CAPACITY)
    reader.reset()
    assert reader.origin_ns == 0
    writer.begin(123, 456)
    assert (reader.origin_ns, reader.origin_unix_ns) == (123, 456)
    reader.reset()
    assert reader.origin_ns == 0
    writer.release()
    reader.release()
