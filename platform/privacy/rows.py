"""Reads the rows that an account owns (`common.ownership`)."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Model, QuerySet

from accounts.models import User
from common.ownership import Owned


def rows_of(entry: Owned, user: User, owners: Sequence[str] = ()) -> QuerySet[Model]:
    """The user's rows, each once: no lookup to an owner goes to several rows. With `owners` only
    those that are the user's by these lookups."""
    rows, wanted = entry.model._base_manager, entry.key(user)
    first, *others = [rows.filter(**{owner: wanted}) for owner in owners or entry.owners]
    if not others:
        return first
    # A union reads each part by its own index; a condition with OR would read the whole table.
    keys = first.values("pk").union(*(other.values("pk") for other in others))
    return rows.filter(pk__in=keys)


def exported_rows(entry: Owned, user: User, *, chunk: int) -> Iterator[dict[str, Any]]:
    """What an export has of the user's rows, the oldest first. The database sends `chunk` of them
    at a time; within a transaction none of it is read twice."""
    rows = rows_of(entry, user).order_by("pk").values(*entry.columns)
    return rows.iterator(chunk_size=chunk)
