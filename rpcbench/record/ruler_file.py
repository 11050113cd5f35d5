"""The last calibration, kept in the user's cache: it holds for one machine, one Python and one version of rpcbench."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from rpcbench import __version__
from rpcbench.errors import ResultsError
from rpcbench.model.ruler import Ruler
from rpcbench.record.files import write_whole


class _RulerFile(BaseModel):
    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="constants")

    version: Literal[1] = 1
    host: str
    python: str
    rpcbench: str
    ruler: Ruler


def keep_ruler(ruler: Ruler) -> Path:
    """Write `ruler` where later runs find it. Raises ResultsError."""
    path = _path()
    if path is None:
        raise ResultsError("cannot keep the calibration: there is no home directory; set XDG_CACHE_HOME to one to use")
    kept = _RulerFile(host=_host(), python=platform.python_version(), rpcbench=__version__, ruler=ruler)
    text = kept.model_dump_json(indent=1)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda f: f.write(text.encode()))
    except (OSError, ResultsError):
        raise ResultsError(
            f"cannot keep the calibration in {path}; set XDG_CACHE_HOME to a directory that can be written"
        ) from None
    return path


def known_ruler() -> tuple[Ruler | None, str]:
    """The kept ruler if it holds here and now; else None, and why one that is there does not."""
    path = _path()
    if path is None:
        return None, ""
    try:
        kept = _RulerFile.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None, ""
    except (OSError, ValidationError):
        return None, f"the calibration in {path} cannot be read"
    here = {"host": _host(), "python": platform.python_version(), "rpcbench": __version__}
    differing = [f"{name} {getattr(kept, name)}" for name, value in here.items() if getattr(kept, name) != value]
    if differing:
        return None, f"the calibration of {kept.ruler.measured_utc[:10]} was made with {', '.join(differing)}"
    return kept.ruler, ""


def _path() -> Path | None:
    """Under XDG_CACHE_HOME, else under ~/.cache."""
    cache, home = os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME")
    if not cache and not home:
        return None
    return (Path(cache) if cache else Path(str(home)) / ".cache") / "rpcbench" / "ruler.json"


def _host() -> str:
    return f"{platform.node()} ({platform.system()} {platform.machine()}, {os.cpu_count()} CPUs)"
