"""Text that others wrote: node names, error messages, client versions.

It reaches every report, so it is tamed once, when the document is made: no control characters (a terminal would obey
them), no direction marks (they reorder a line), one line, bounded length. Escaping for a format is its renderer's job.
"""

from __future__ import annotations

import unicodedata

_LIMIT = 400
_UNPRINTABLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def tame(text: str, limit: int = _LIMIT) -> str:
    """`text` on one line, without characters that act instead of being read, cut at `limit`."""
    shown = "".join(_shown(c) for c in text[: limit * 4])
    line = " ".join(shown.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _shown(character: str) -> str:
    if character in "\t\n\r\v\f\x85\u2028\u2029":
        return " "
    return "\N{REPLACEMENT CHARACTER}" if unicodedata.category(character) in _UNPRINTABLE else character
