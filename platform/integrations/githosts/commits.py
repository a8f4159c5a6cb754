"""Commits of ours among those of a branch."""

from collections.abc import Iterable
from typing import Final
from uuid import UUID

# The newest commits of a branch that are looked through.
RECENT: Final = 100


def find_commit(commits: Iterable[tuple[str, str]], *, commit: str, key: UUID) -> str | None:
    """The id of the one that was written as `key`, or that has the id `commit`, of commits with
    their ids and messages."""
    trailer = f"Apply-Id: {key}"
    return next((sha for sha, message in commits if sha == commit or trailer in message), None)
