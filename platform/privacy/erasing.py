"""Deletes and anonymises the rows of an account in batches, and may be stopped between any two."""

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

from django.db import transaction
from django.db.models import Model, QuerySet

from accounts.models import User
from common import ownership
from common.ownership import Anonymise, Delete, Owned, Rewrite, Rewriting
from privacy import plan
from privacy.errors import TimeIsUp
from privacy.models import Deletion
from privacy.rows import rows_of

BATCH = 200


def erase(deletion: Deletion, *, seconds: float) -> None:
    """Delete and anonymise all rows but that of the user. What an earlier call has done is not done
    again.

    Raises TimeIsUp after so many seconds, and StorageUnavailable.
    """
    user, entries = deletion.account, ownership.entries()
    end = monotonic() + seconds

    def check_time() -> None:
        if monotonic() > end:
            raise TimeIsUp

    # Rows that stay come before anything is deleted; the user comes last, in `erase_user`.
    for entry in entries:
        match entry.on_deletion:
            case Rewrite(rewrite) | Delete(rewrite=rewrite) if rewrite is not None:
                _rewrite(entry, rewrite, deletion, check_time)
            case Anonymise(columns) if entry.model is not User:
                _anonymise(entry, columns, user, check_time)
    for entry, action in plan.deleted(entries):
        _delete(entry, action, user, check_time)


def erase_user(user: User) -> None:
    """Anonymise the row of the user, within the caller's transaction."""
    entry, action = plan.user_entry(ownership.entries())
    _anonymise(entry, action.columns, user, lambda: None)


def is_erased(user: User) -> bool:
    """Is there nothing left that a deletion deletes?"""
    deleted = plan.deleted(ownership.entries())
    return not any(_deletable(entry, action, user).exists() for entry, action in deleted)


def _rewrite(
    entry: Owned, rewrite: Rewriting, deletion: Deletion, check_time: Callable[[], None]
) -> None:
    """Go on after the last mark."""
    for mark in rewrite(deletion.account, deletion.rewritten.get(entry.name, "")):
        deletion.rewritten[entry.name] = mark
        deletion.save(update_fields=["rewritten"])
        check_time()


def _anonymise(
    entry: Owned, columns: Mapping[str, Any], user: User, check_time: Callable[[], None]
) -> None:
    """Overwrite columns of the user's rows."""
    rows, last = rows_of(entry, user).order_by("pk"), None
    while True:
        check_time()
        page = rows if last is None else rows.filter(pk__gt=last)
        keys = list(page.values_list("pk", flat=True)[:BATCH])
        if not keys:
            return
        values = {name: value() if callable(value) else value for name, value in columns.items()}
        entry.model._base_manager.filter(pk__in=keys).update(**values)
        last = keys[-1]


def _delete(entry: Owned, action: Delete, user: User, check_time: Callable[[], None]) -> None:
    while True:
        check_time()
        with transaction.atomic():
            # The newest first: messages refer to older ones, and would take their answers along.
            rows: list[Any] = list(_deletable(entry, action, user).order_by("-pk")[:BATCH])
            if not rows:
                return
            if action.erase is not None:
                action.erase(rows)
            keys = [row.pk for row in rows]
            entry.model._base_manager.filter(pk__in=keys).delete()


def _deletable(entry: Owned, action: Delete, user: User) -> QuerySet[Model]:
    rows = rows_of(entry, user, action.owners)
    return rows if action.unless is None else rows.exclude(action.unless)
