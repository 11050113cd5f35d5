"""What can go wrong, in the user's words. Every type knows its exit code.

An error here is a sentence for the person at the terminal: what happened, then what to do.
A failed request is not an error but data (`rpcbench.model.samples.Status`).
"""

from __future__ import annotations

from typing import ClassVar

EXIT_OK = 0
EXIT_INTERNAL = 1
EXIT_USAGE = 2
EXIT_THRESHOLD = 3
EXIT_INVALID = 4
EXIT_INTERRUPTED = 130


class RpcbenchError(Exception):
    """Base of everything rpcbench raises on purpose; `str(error)` is fit to print."""

    exit_code: ClassVar[int] = EXIT_INTERNAL


class UsageError(RpcbenchError):
    """The command line asks for something that cannot be; nothing was sent."""

    exit_code = EXIT_USAGE


class SpecError(UsageError):
    """A scenario, a nodes file or a threshold is wrong: the sentence names file, line and field."""


class NodesError(RpcbenchError):
    """The nodes cannot be compared as they are now: unreachable, other chain, other spec, too far behind."""

    exit_code = EXIT_INVALID


class EngineError(RpcbenchError):
    """The load generator itself failed, so what it measured says nothing about the node."""

    exit_code = EXIT_INVALID


class ResultsError(RpcbenchError):
    """A results file cannot be read or written; the sentence carries its path."""


class InterruptedRunError(RpcbenchError):
    """The person stopped the run; what was finished is kept."""

    exit_code = EXIT_INTERRUPTED
