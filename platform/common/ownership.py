"""What an account owns: for each model, whose its rows are, what an export contains of them, and
what the deletion of the account's data does to them.

Each app registers its models when it is ready (`AppConfig.ready`). `privacy/tests` fail for a
model with an owner that is not registered, and for a column that its entry does not name.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

from django.db.models import Model, Q


class StoredBytes(NamedTuple):
    """The file of a row: its path in a storage of Django's STORAGES, and its name for people."""

    storage: str
    path: str
    name: str


# Called with a user, removes from rows that stay what tells who it was. It may be called again.
# After each part that is done it yields a mark; a later call gets the last one, the first call "",
# and goes on after that part.
Rewriting = Callable[[Any, str], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete the rows, in batches, but for those that `unless` describes. `erase` is called with
    each batch before: it deletes what the rows stand for outside the database, and may be called
    again for the same rows.

    Where rows are the user's by several lookups, `owners` are those whose rows are deleted.
    `rewrite` comes before anything is deleted, for what stays: rows that are the user's by other
    lookups, and what others were told of those that are deleted."""

    erase: Callable[[Sequence[Any]], None] | None = None
    unless: Q | None = None
    owners: tuple[str, ...] = ()
    rewrite: Rewriting | None = None


@dataclass(frozen=True, slots=True)
class Cascade:
    """The rows are deleted together with the row that they belong to, by their foreign key."""


@dataclass(frozen=True, slots=True)
class Anonymise:
    """Keep the rows, and overwrite these columns. A value that can be called is called once for
    each batch of rows."""

    columns: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Keep the rows, without what tells who the user was."""

    rewrite: Rewriting


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep the rows as they are. `why` says what they are needed for."""

    why: str


OnDeletion = Delete | Cascade | Anonymise | Rewrite | Keep


@dataclass(frozen=True, slots=True)
class Owned:
    """A model whose rows belong to accounts.

    `owners` are lookups from a row to its user, such as `conversation__account`; a row is the
    user's by any of them. They are compared with what `key` returns for the user, by default its
    id. `exported` and `left_out` name the columns, separated by spaces: together they are all
    columns of the model. Secrets, digests and what only the service needs are left out. `file`
    returns the file of a row, given its exported columns; None where it has none.
    """

    model: type[Model]
    owners: tuple[str, ...]
    on_deletion: OnDeletion
    exported: str = ""
    left_out: str = ""
    key: Callable[[Any], object] = attrgetter("pk")
    file: Callable[[Mapping[str, Any]], StoredBytes | None] | None = None

    @property
    def columns(self) -> list[str]:
        """The columns that an export has, in their order."""
        return self.exported.split()

    @property
    def name(self) -> str:
        """The name of the model in an export, such as `conversations.message`."""
        return self.model._meta.label_lower


Closing = Callable[[Any], bool]

_closings: list[Closing] = []
_entries: dict[type[Model], Owned] = {}


def register(*entries: Owned) -> None:
    """Register models, each once."""
    for entry in entries:
        if entry.model in _entries:
            raise RuntimeError(f"{entry.name} is registered twice.")
        _entries[entry.model] = entry


def entries() -> list[Owned]:
    """The entries of all apps, in the order of their registration."""
    return list(_entries.values())


def register_closing(close: Closing) -> None:
    """Register a function that ends what an app runs, or keeps open elsewhere, for a user whose
    data is to be deleted. It is called again and again until it returns that nothing is left to
    wait for. It is called outside of a transaction."""
    _closings.append(close)


def closings() -> list[Closing]:
    """The functions of all apps that end an account's work."""
    return list(_closings)
