"""The order in which a deletion goes through the models: what refers to a row goes before the
row."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from django.db.models import CASCADE, SET_NULL, ForeignKey, Model

from accounts.models import User
from common.ownership import Anonymise, Cascade, Delete, Owned

Models = set[type[Model]]


def deleted(entries: Sequence[Owned]) -> list[tuple[Owned, Delete]]:
    """The models whose rows are deleted, in order. Raises ValueError where there is none."""
    left = {
        entry.model: (entry, entry.on_deletion)
        for entry in entries
        if isinstance(entry.on_deletion, Delete)
    }
    going = {entry.model for entry in entries if isinstance(entry.on_deletion, Cascade)}
    order = []
    while left:
        free = [model for model in left if not _referring(model, left, going)]
        if not free:
            raise ValueError(f"These models refer to each other: {sorted(map(str, left))}")
        order += [left.pop(model) for model in free]
    return order


def user_entry(entries: Sequence[Owned]) -> tuple[Owned, Anonymise]:
    """The entry of the users themselves, which comes last: the others find their rows by it."""
    for entry in entries:
        if entry.model is User and isinstance(entry.on_deletion, Anonymise):
            return entry, entry.on_deletion
    raise ValueError("No entry says what becomes of the users.")


def _referring(model: type[Model], left: Iterable[type[Model]], going: Models) -> bool:
    """Does one of the models that are left refer to this one, itself or by rows that are deleted
    together with its own?"""
    return any(model in _targets(other, going) for other in left if other is not model)


def _targets(model: type[Model], going: Models) -> Models:
    """What must not be deleted before the rows of this model: what they refer to, and what the rows
    that are deleted with them do."""
    targets = linked(model, is_required)
    for child in going:
        if model in linked(child, _cascades):
            targets |= linked(child, is_required)
    return targets


def linked(model: type[Model], wanted: Callable[[Any], bool]) -> Models:
    """The targets of such foreign keys of the model."""
    links = [field for field in model._meta.concrete_fields if isinstance(field, ForeignKey)]
    return {cast("type[Model]", link.related_model) for link in links if wanted(link)}


def is_required(link: Any) -> bool:
    """Does the row go, or stay, with what the foreign key refers to?"""
    return link.remote_field.on_delete is not SET_NULL


def _cascades(link: Any) -> bool:
    return link.remote_field.on_delete is CASCADE
