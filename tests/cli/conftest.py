"""The command as a user runs it: a process of its own, an empty home, a working directory of its own."""

import http.server
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

RPCBENCH = str(Path(sys.executable).with_name("rpcbench"))


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    def refused(self, code, *words):
        """One sentence on stderr with these words in it, this exit code, no traceback, no answer."""
        assert self.code == code, self.err
        assert "Traceback" not in self.err
        assert "internal error" not in self.err
        sentence = " ".join(self.err.split())
        for word in words:
            assert word in sentence, sentence
        return sentence


@pytest.fixture
def environment(tmp_path):
    """Nothing of the developer's own set-up."""
    return {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"], "NO_COLOR": "1", "COLUMNS": "100"}


@pytest.fixture
def rpcbench(tmp_path, environment):
    """Run the command to its end and return what it said."""

    def run(*words, timeout=50, **extra_environment):
        done = subprocess.run(  # noqa: PLW1510  the exit code is what is tested
            [RPCBENCH, *map(str, words)],
            cwd=tmp_path, env=environment | extra_environment, capture_output=True, text=True, timeout=timeout,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return Result(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def listener():
    """A server that must not be asked: the list of requests that reached it."""
    reached = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            reached.append(self.path)
            self.send_error(500)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", reached
    server.shutdown()
    thread.join()
    server.server_close()
