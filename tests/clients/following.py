"""A program that follows a stream as the documentation recommends, until its last event."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from tests.clients.environments import PROGRAMS
from tests.environment import inherited

FOLLOWERS = PROGRAMS / "followers"
TIMEOUT = 90  # seconds


class Stream(NamedTuple):
    """A stream that one user may read, under the URL of its app (`…/api/council`). It ends with the
    first event of the type `last_type`."""

    app_url: str
    session_id: UUID
    last_type: str
    token: str


def followed_in_python(stream: Stream, folder: Path) -> dict[str, Any]:
    """What the program has seen, which is a user of the package `websockets`: its `events`, how
    many of them came `live`, and how many `sockets` it opened for that."""
    variables = {
        "APP_URL": stream.app_url,
        "SESSION": str(stream.session_id),
        "LAST_TYPE": stream.last_type,
        "TOKEN": stream.token,
    }
    done = subprocess.run(
        [sys.executable, FOLLOWERS / "follow.py"],
        cwd=folder,
        env=inherited() | variables,
        stdin=subprocess.DEVNULL,
        check=False,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen
