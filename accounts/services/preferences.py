"""Changing how a user wants a model."""

from typing import Unpack

from accounts.models import ModelPreference, User
from accounts.types import PreferenceChanges


def set_preference(
    *, user: User, model: str, **changes: Unpack[PreferenceChanges]
) -> tuple[ModelPreference, bool]:
    """Change what is named in `changes` for that model, a key of the catalog; and was it the first
    that the user said of it?"""
    return ModelPreference.objects.update_or_create(account=user, model=model, defaults=changes)
