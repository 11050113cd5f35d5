"""At which path the nodes are asked: for Starknet the highest specification version that all of them serve.

A node's root path serves whatever version its maker or operator chose, so two nodes may differ there without a sign.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from urllib.parse import urlsplit

from rpcbench.protocol.starknet import VERSIONED_PATHS, spec_family
from rpcbench.survey.interview import Interview, ask_each
from rpcbench.survey.trouble import Trouble


def has_no_path(interview: Interview) -> bool:
    """Whether the node's URL leaves the path to us."""
    return urlsplit(interview.asker.node.url).path in ("", "/")


async def choose_paths(interviews: Sequence[Interview]) -> None:
    """Point every Starknet node that was named without a path at a versioned one, and learn its spec version there.

    A path in the user's URL is kept. A node without versioned paths is asked at its root. Where no version suits all,
    each node gets the highest that it serves, and comparing the spec versions will tell. One question a node where
    all serve the newest version, six at most.
    """
    free = [interview for interview in interviews if has_no_path(interview)]
    fixed = await ask_each((interview for interview in interviews if not has_no_path(interview)), Interview.ask_spec)
    for path in VERSIONED_PATHS:
        free = await ask_each(free, partial(_probe, path=path))
        if _highest(free, fixed) is not None:
            break
    rooted = await ask_each((interview for interview in free if not interview.served), Interview.ask_spec)
    versioned = [interview for interview in free if interview.served]
    common = _highest(versioned, [*fixed, *rooted]) or _highest(versioned, ())
    for interview in versioned:
        path = common or max(interview.served, key=_rank)
        interview.spec_version = interview.served[path]
        interview.asker.node = replace(interview.asker.node, url=_at(interview, path))


async def _probe(interview: Interview, path: str) -> None:
    """Note the spec version at `path`, if the node serves there the version that the path names."""
    try:
        spec = await interview.spec_at(_at(interview, path))
    except Trouble as trouble:
        if trouble.another_may_do:
            return
        raise
    if spec_family(spec) == _family(path):
        interview.served[path] = spec


def _highest(versioned: Collection[Interview], settled: Collection[Interview]) -> str | None:
    """The highest path that all of `versioned` serve and whose version all of `settled` speak already."""
    for path in VERSIONED_PATHS:
        served_by_all = all(path in interview.served for interview in versioned)
        if served_by_all and all(spec_family(i.spec_version or "") == _family(path) for i in settled):
            return path
    return None


def _family(path: str) -> str:
    """`0.10` for /rpc/v0_10."""
    return path.rpartition("/v")[2].replace("_", ".")


def _rank(path: str) -> int:
    return -VERSIONED_PATHS.index(path)


def _at(interview: Interview, path: str) -> str:
    return urlsplit(interview.asker.node.url)._replace(path=path).geturl()
