"""A program that follows a council as the documentation recommends, until it is completed."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.clients.environments import PROGRAMS
from tests.environment import inherited

FOLLOWERS = PROGRAMS / "followers"
TIMEOUT = 90  # seconds


def followed_in_python(url: str, session_id: UUID, token: str, folder: Path) -> dict[str, Any]:
    """What the program has seen, which is a user of the package `websockets`: its `events`, how
    many of them came `live`, and how many `sockets` it opened for that."""
    variables = {"BASE_URL": url, "SESSION": str(session_id), "TOKEN": token}
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
