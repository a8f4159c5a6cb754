"""What belongs to an id: a call's charge, job, reply and others share one, or know each other.

Each app registers how its own records are found. It gives ids, states and codes, never a text of
users.
"""

from collections.abc import Callable, Iterable
from uuid import UUID

from msgspec import Struct


class Related(Struct, frozen=True):
    """A record with a page in the admin. `model` is like `jobs.job`, and `key` its primary key."""

    what: str
    model: str
    key: UUID
    state: str = ""


Finder = Callable[[UUID], Iterable[Related]]
_finders: list[Finder] = []


def register(finder: Finder) -> None:
    """Register a search by an id, which reads one row by its primary key."""
    _finders.append(finder)


def find_related(wanted: UUID) -> list[Related]:
    """The records that have that id, or that have a call of that id."""
    return [found for finder in _finders for found in finder(wanted)]
