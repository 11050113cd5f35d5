"""Results that hold nothing, known by their digest: what a node answers that has no data, or does not look for any."""

from __future__ import annotations

import xxhash

_EMPTY = ("null", "[]", "{}", '""', '"0x"', '{"events":[]}', '{"events":[],"continuation_token":null}')


def _spellings(result: str) -> set[str]:
    """As encoders write it: compact, with a blank behind colons and commas, or within brackets."""
    spaced = result.replace(":", ": ").replace(",", ", ")
    return {result, spaced, result.replace("[]", "[ ]"), spaced.replace("[]", "[ ]")}


EMPTY_DIGESTS: frozenset[int] = frozenset(
    xxhash.xxh3_64_intdigest(spelling.encode()) for result in _EMPTY for spelling in _spellings(result)
)
