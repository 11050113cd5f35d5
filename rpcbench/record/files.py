"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import BinaryIO

from rpcbench.errors import ResultsError


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Have `write` fill a temporary file, then put it in place of `path` in one step.

    Raises ResultsError, and leaves whatever was at `path` as it was, when the disk is full or refuses.
    """
    partial = path.with_name(f".{path.name}.part")
    try:
        with uninterrupted():
            with partial.open("wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ResultsError(f"cannot write {path}: {in_words(error)}") from error


def append_line(path: Path, line: str) -> None:
    """Add one line in a single write, so that lines of runs that end together do not mix. Raises ResultsError."""
    try:
        with uninterrupted():
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                os.write(descriptor, line.encode() + b"\n")
            finally:
                os.close(descriptor)
    except OSError as error:
        raise ResultsError(f"cannot write {path}: {in_words(error)}") from error


def in_words(error: OSError) -> str:
    """What the system refused, and what to do about it."""
    advice = {
        errno.ENOSPC: "the disk is full; free some space, what was finished is kept",
        errno.EDQUOT: "the disk quota is used up; free some space, what was finished is kept",
        errno.EACCES: "permission denied; choose another directory with --output",
        errno.EROFS: "the file system is read-only; choose another directory with --output",
        errno.ENOTDIR: "a part of the path is a file, not a directory; choose another with --output",
        errno.EEXIST: "a file of that name is in the way; choose another directory with --output",
    }
    return advice.get(error.errno or 0, error.strerror or type(error).__name__)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back until the block is left, then let it through."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread ever sees KeyboardInterrupt
        return
    held: list[tuple[int, FrameType | None]] = []
    previous = signal.signal(signal.SIGINT, lambda number, frame: held.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        if held and callable(previous):
            previous(*held[0])
