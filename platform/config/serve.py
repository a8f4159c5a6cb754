"""`python -m config.serve --host HOST --port PORT`: the web process, in a container, under
`make run`, in tests and benchmarks. Other options are uvicorn's, and come after those that stand
here.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import environ
from uvicorn.main import main as uvicorn

from common.shutdown import SERVER_SECONDS, drain_seconds

APPLICATION = "config.asgi:application"


def options() -> tuple[str, ...]:
    """The options of uvicorn that every web process has. Raises ValueError for a DRAIN_SECONDS that
    is no number."""
    # Longer than running calls have, so that a stream which is stopped gets its last frames.
    graceful = drain_seconds(os.environ) + SERVER_SECONDS
    return (
        *("--loop", "uvloop", "--http", "config.http:HttpProtocol"),
        *("--ws", "config.websocket:WebSocketProtocol", "--ws-max-size", "65536"),
        *("--ws-per-message-deflate", "false"),
        *("--no-server-header", "--no-access-log", "--no-proxy-headers"),
        *("--timeout-graceful-shutdown", str(graceful)),
    )


def command(arguments: Sequence[str]) -> list[str]:
    """The arguments of uvicorn for those of this program."""
    parser = argparse.ArgumentParser(prog="python -m config.serve", description=__doc__)
    parser.add_argument("--application", default=APPLICATION, help="another ASGI application")
    known, others = parser.parse_known_args(arguments)
    return [known.application, *options(), *others]


if __name__ == "__main__":
    environ.Env.read_env(Path(__file__).parents[2] / ".env")
    uvicorn(command(sys.argv[1:]), prog_name="uvicorn")
