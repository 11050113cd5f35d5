"""What both synthetic chains share: how a chain grows with the clock, and hashes that tell what they are hashes of."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Growth:
    """A chain's head as a function of wall clock, so that two processes agree on it without speaking."""

    epoch_unix_s: int
    start_blocks: int
    interval_s: float

    def head(self, unix_s: float) -> int:
        """The highest block that exists at `unix_s`; before the epoch the chain stands still."""
        since_s = unix_s - self.epoch_unix_s
        return self.start_blocks - 1 if since_s < 0 else self.start_blocks + int(since_s / self.interval_s)

    def timestamp(self, number: int) -> int:
        """Unix seconds at which block `number` was, is or will be made."""
        return max(0, int(self.epoch_unix_s + (number - self.start_blocks) * self.interval_s))


class Hashes:
    """Pseudo-random hashes of `bits` that can be looked up without an index.

    The low 48 bits hold the number that was hashed, encrypted under the rest: whoever knows the key can tell which
    block or transaction a hash names without ever having made it.
    """

    def __init__(self, key: bytes, bits: int) -> None:
        self._key = hashlib.blake2b(key, digest_size=16).digest()
        self._mask = (1 << (bits - 48)) - 1

    def of(self, number: int) -> int:
        """The hash of `number`, which is below 2^48."""
        digest = hashlib.blake2b(number.to_bytes(6), key=self._key, digest_size=32).digest()
        top = int.from_bytes(digest) & self._mask
        return top << 48 | (number ^ self._pad(top))

    def number(self, value: int) -> int | None:
        """What `value` is the hash of, None when it is no hash of this kind."""
        top = value >> 48
        if value < 0 or top > self._mask:
            return None
        number = (value ^ self._pad(top)) & 0xFFFF_FFFF_FFFF
        return number if self.of(number) == value else None

    def _pad(self, top: int) -> int:
        return int.from_bytes(hashlib.blake2b(top.to_bytes(26), key=self._key, digest_size=6).digest())


def derived(key: bytes, *parts: object) -> int:
    """256 bits that depend on the key and the parts alone."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), key=key, digest_size=32).digest())
