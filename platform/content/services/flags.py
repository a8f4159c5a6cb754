"""Sets flags. Each process knows the change within seconds (`common.snapshots.MAX_AGE`)."""

from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.db import transaction
from django.db.models.functions import Now

from common.ids import as_uuid
from content.errors import TooManyUsers, UnknownAccount
from content.flags import FLAGS
from content.models import FlagOverride, FlagRecord
from content.types import MAX_USERS


def add_missing_records() -> None:
    """Add the rows of flags that have none. Rows of flags that are not defined any more stay."""
    FlagRecord.objects.bulk_create([FlagRecord(name=name) for name in FLAGS], ignore_conflicts=True)


def set_for_everyone(*, flag: FlagRecord, is_on: bool | None) -> bool:
    """Set the flag for everyone; None: back to its default. Did that change anything?"""
    return _set(flag, is_on, plan_id=None, user_id=None)


def set_for_plan(*, flag: FlagRecord, plan: str, is_on: bool | None) -> bool:
    """Set the flag for the users of a plan, or remove what was set. Did that change anything?"""
    return _set(flag, is_on, plan_id=plan, user_id=None)


@transaction.atomic
def set_for_user(*, flag: FlagRecord, user_id: UUID, is_on: bool | None) -> bool:
    """Set the flag for one user, or remove what was set. Did that change anything?

    Raises TooManyUsers.
    """
    changed = _set(flag, is_on, plan_id=None, user_id=user_id)
    if flag.overrides.exclude(user=None).count() > MAX_USERS:
        raise TooManyUsers
    return changed


@transaction.atomic
def set_share(*, flag: FlagRecord, percent: int | None) -> bool:
    """Switch the flag on for a share of all users, or remove the share. Did that change
    anything?"""
    _lock(flag)
    shares = flag.overrides.filter(percent__isnull=False)
    if percent is None:
        deleted, _ = shares.delete()
        return bool(deleted)
    if shares.filter(percent=percent).exists():
        return False
    shares.delete()
    FlagOverride.objects.create(flag=flag, percent=percent, is_on=True)
    return True


def find_account(text: str) -> AbstractBaseUser:
    """The account of that address or id. Raises UnknownAccount."""
    users = get_user_model()._default_manager
    term = text.strip()
    wanted = as_uuid(term)
    found = users.filter(pk=wanted) if wanted else users.filter(email=term.lower())
    account = found.first()
    if account is None:
        raise UnknownAccount
    return account


@transaction.atomic
def _set(flag: FlagRecord, is_on: bool | None, **target: Any) -> bool:
    _lock(flag)
    rows = flag.overrides.filter(percent=None, **target)
    if is_on is None:
        deleted, _ = rows.delete()
        return bool(deleted)
    if rows.filter(is_on=is_on).exists():
        return False
    if not rows.update(is_on=is_on, changed_at=Now()):
        FlagOverride.objects.create(flag=flag, is_on=is_on, **target)
    return True


def _lock(flag: FlagRecord) -> None:
    """Two operators who change one flag take turns."""
    FlagRecord.objects.select_for_update(no_key=True).get(pk=flag.pk)
