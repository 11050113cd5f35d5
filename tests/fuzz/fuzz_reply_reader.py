"""Fuzzing of the HTTP reader, guided by coverage: `make fuzz`. Not collected by pytest.

Whatever the bytes and however they are split, nothing may raise, every reply is judged once, its count of bytes stays
below the cap, and another split gives the same replies.
"""

import sys

import atheris

with atheris.instrument_imports():
    from rpcbench.engine.reply_body import Bodies
    from rpcbench.engine.reply_reader import BatchReplyReader, ReplyReader
    from rpcbench.model.workload import Call
    from rpcbench.protocol.classify import Reply

CAP = 4_096
SINGLE, BATCH = 1, 2
BODIES = Bodies([Call(SINGLE, 0, b""), Call(BATCH, 0, b"", batch=2)], CAP)


def replies(data: bytes, cuts: list[int], call: int) -> list[Reply]:
    """All replies in `data`, up to the one that ends the connection."""
    reader: ReplyReader = BatchReplyReader(BODIES) if call == BATCH else ReplyReader(BODIES)
    found = []
    start = 0
    for end in [*cuts, len(data)]:
        piece, start = data[start:end], end
        reply = reader.feed(memoryview(piece), call) if piece else None
        if reply is not None:
            found.append(reply)
            assert reader.received <= CAP + len(piece)
            if not reader.keep_alive:
                return found
    last = reader.end()
    return found if last is None else [*found, last]


def one_input(data: bytes) -> None:
    """What libFuzzer calls."""
    provider = atheris.FuzzedDataProvider(data)
    call = provider.PickValueInList([SINGLE, BATCH])
    cuts = sorted(provider.ConsumeIntListInRange(4, 0, 200))
    stream = provider.ConsumeBytes(provider.remaining_bytes())
    first = replies(stream, [min(cut, len(stream)) for cut in cuts], call)
    by_byte = replies(stream, list(range(1, len(stream))), call)
    # More than was asked for ends a connection, and only a split that shows it in time can tell it from a next reply.
    assert first[:1] == by_byte[:1], (first, by_byte)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
