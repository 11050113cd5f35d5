"""Other load generators, and how to have each send JSON-RPC to a URL for a while over 16 connections."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CONNECTIONS = 16
RUN_S = 1.0  # k6 and wrk refuse less
BODY = '{"jsonrpc":"2.0","id":%d,"method":"starknet_getBlockWithTxs","params":{"block_id":{"block_number":%d}}}'
JSON_POST = ("-m", "POST", "-T", "application/json")

WRK_FIXED = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '%s'
"""
WRK_RANDOM = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local form = '%s'
local id = 0
request = function()
  id = id + 1
  return wrk.format(nil, nil, nil, string.format(form, id, math.random(0, 1000000)))
end
response = function(status, headers, body)
  if status ~= 200 or string.find(body, '"error"', 1, true) then failed = (failed or 0) + 1 end
end
"""
K6_RANDOM = """
import http from "k6/http";
import { check } from "k6";
const headers = { "Content-Type": "application/json" };
export default function () {
  const block_id = { block_number: Math.floor(Math.random() * 1000000) };
  const call = { jsonrpc: "2.0", id: 1, method: "starknet_getBlockWithTxs", params: { block_id } };
  const reply = http.post(__ENV.TARGET, JSON.stringify(call), { headers });
  check(reply, { ok: (r) => r.status === 200 && !r.body.includes('"error"') });
}
"""


@dataclass(frozen=True, slots=True)
class Peer:
    """A program, how much of our work it does, and its command line for a URL and a directory to write files into."""

    program: str
    does: str
    command: Callable[[str, Path], list[str]]

    @property
    def installed(self) -> bool:
        """Whether it is on PATH."""
        return shutil.which(self.program) is not None

    def spend(self, url: str) -> float:
        """Send to `url`; user and system time of the whole process in seconds."""
        with tempfile.TemporaryDirectory() as directory:
            command = self.command(url, Path(directory))
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_utime + usage.ru_stime


def _file(directory: Path, text: str) -> str:
    path = directory / "input"
    path.write_text(text)
    return str(path)


def _wrk(script: str) -> Callable[[str, Path], list[str]]:
    options = ["-t1", f"-c{CONNECTIONS}", f"-d{max(1, round(RUN_S))}s"]
    return lambda url, directory: ["wrk", *options, "-s", _file(directory, script), url]


def _oha(url: str, directory: Path) -> list[str]:
    options = ["--no-tui", "-z", f"{RUN_S * 1000:.0f}ms", "-c", f"{CONNECTIONS}"]
    return ["oha", *options, *JSON_POST, "-D", _file(directory, BODY % (1, 1)), url]


def _hey(url: str, directory: Path) -> list[str]:
    return ["hey", "-z", f"{RUN_S}s", "-c", f"{CONNECTIONS}", *JSON_POST, "-D", _file(directory, BODY % (1, 1)), url]


def _vegeta(url: str, directory: Path) -> list[str]:
    body = directory / "body"
    body.write_text(BODY % (1, 1))
    targets = _file(directory, f"POST {url}\nContent-Type: application/json\n@{body}\n")
    options = [f"-duration={RUN_S}s", "-rate=0", f"-workers={CONNECTIONS}", f"-max-workers={CONNECTIONS}"]
    return ["vegeta", "attack", *options, f"-targets={targets}", "-output=/dev/null"]


def _k6(url: str, directory: Path) -> list[str]:
    script = directory / "script.js"
    script.write_text(K6_RANDOM)
    options = ["--quiet", "--vus", f"{CONNECTIONS}", "--duration", f"{RUN_S}s", "-e", f"TARGET={url}"]
    return ["k6", "run", *options, str(script)]


PEERS = (
    Peer("wrk", "fixed body, reply not read", _wrk(WRK_FIXED % (BODY % (1, 1)))),
    Peer("wrk", "Lua: random block, error scan", _wrk(WRK_RANDOM % BODY)),
    Peer("oha", "fixed body", _oha),
    Peer("hey", "fixed body", _hey),
    Peer("vegeta", "fixed body", _vegeta),
    Peer("k6", "script: random block, error scan", _k6),
)
