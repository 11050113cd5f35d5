"""The process behind an `EmbeddedNode`: reads a spec from standard input, says where it listens, serves."""

from __future__ import annotations

import json
import os
import sys

from rpcbench.errors import UsageError
from rpcbench.sim.serving import serve
from rpcbench.sim.spec import spec_from_json


def main() -> None:
    """Serve what the first line of standard input describes."""
    owner = os.getppid()  # asked while it must be there, since it waits for what `tell` says

    def tell(**what: str) -> None:
        sys.stdout.write(json.dumps(what) + "\n")
        sys.stdout.flush()

    try:
        serve(spec_from_json(sys.stdin.readline()), lambda url: tell(url=url), owner=owner)
    except UsageError as error:
        tell(error=str(error))
    except BrokenPipeError:
        return  # the owner has gone before it could be told


if __name__ == "__main__":
    main()
