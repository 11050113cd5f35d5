"""Embedded nodes for callers: `EmbeddedNode` in a process of its own, `serve_forever` in this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from rpcbench.errors import RpcbenchError, UsageError
from rpcbench.sim.spec import PERSONALITIES, Failure, Faults, SimSpec

__all__ = ["PERSONALITIES", "EmbeddedNode", "Failure", "Faults", "SimSpec", "serve_forever"]

_STOP_TIMEOUT_S = 3.0
_ADMIN_TIMEOUT_S = 10.0


class EmbeddedNode:
    """A node in a process of its own, from `with` to the end of its block.

    It also ends when this process does, in whatever way: it watches the pipe that is its standard input.
    """

    def __init__(self, spec: SimSpec) -> None:
        self.spec = spec
        self.url = ""
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> EmbeddedNode:
        root = str(Path(__file__).resolve().parents[2])
        search_path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rpcbench.sim.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": search_path},
            text=True,
            start_new_session=True,  # Ctrl-C is for the run; the node stays until the run has ended
        )
        try:
            self.url = self._introduce(self._process)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The process that serves, for whoever watches processes."""
        assert self._process is not None
        return self._process.pid

    def stats(self, *, ids: bool = False) -> dict[str, Any]:
        """What the node has counted; with `ids`, also every request id and how often it came."""
        return self._admin("GET", "/_sim?ids=1" if ids else "/_sim")

    def set(self, **faults: Any) -> None:
        """Switch some of the `Faults`, by field name; the others stay. Raises UsageError for what there is not."""
        self._admin("POST", "/_sim", json.dumps(faults))

    def reset_counts(self) -> None:
        """Count from nought."""
        self._admin("DELETE", "/_sim")

    def stop(self) -> None:
        """End the process; safe to call twice."""
        if self._process is None:
            return
        process, self._process = self._process, None
        assert process.stdin is not None
        assert process.stdout is not None
        process.terminate()
        try:
            process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        try:
            process.stdin.close()
        except BrokenPipeError:
            return

    def _introduce(self, process: subprocess.Popen[str]) -> str:
        """Tell the child what to be, and hear where it listens."""
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(self.spec.to_json() + "\n")
            process.stdin.flush()
            heard = json.loads(process.stdout.readline())
        except (BrokenPipeError, ValueError):
            raise RpcbenchError(
                "the embedded node ended before it listened; its own message is above. "
                "Run `rpcbench simulate` to see whether it starts at all"
            ) from None
        if "error" in heard:
            raise UsageError(heard["error"])
        return str(heard["url"])

    def _admin(self, method: str, target: str, body: str | None = None) -> dict[str, Any]:
        import http.client

        host, _, port = self.url.removeprefix("http://").rpartition(":")
        connection = http.client.HTTPConnection(host.strip("[]"), int(port), timeout=_ADMIN_TIMEOUT_S)
        try:
            connection.request(method, target, body)
            answer: dict[str, Any] = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError):
            raise RpcbenchError("the embedded node does not answer any more") from None
        finally:
            connection.close()
        if "error" in answer:
            raise UsageError(answer["error"])
        return answer


def serve_forever(spec: SimSpec, announce: Callable[[str], None]) -> None:
    """Serve in this process until SIGINT or SIGTERM; `announce` hears the base URL once it listens."""
    from rpcbench.sim.serving import serve

    serve(spec, announce)
