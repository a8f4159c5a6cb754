"""Reads the rows that an account owns (`common.ownership`)."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Model, Q, QuerySet

from accounts.models import User
from common.ownership import Owned


def rows_of(entry: Owned, user: User) -> QuerySet[Model]:
    """The user's rows, each once: no lookup to an owner goes to several rows."""
    wanted = entry.key(user)
    owned = Q()
    for owner in entry.owners:
        owned |= Q(**{owner: wanted})
    return entry.model._base_manager.filter(owned)


def exported_rows(entry: Owned, user: User, *, chunk: int) -> Iterator[dict[str, Any]]:
    """What an export has of the user's rows, the oldest first. The database sends `chunk` of them
    at a time; within a transaction none of it is read twice."""
    rows = rows_of(entry, user).order_by("pk").values(*entry.columns)
    return rows.iterator(chunk_size=chunk)
