"""Changes a user's preferences for a model."""

from typing import Unpack

from accounts.models import ModelPreference, User
from accounts.types import PreferenceChanges


def set_preference(
    *, user: User, model: str, **changes: Unpack[PreferenceChanges]
) -> tuple[ModelPreference, bool]:
    """Change the preferences in `changes` for that model, a key of the catalog. Were they the
    user's first for the model?"""
    return ModelPreference.objects.update_or_create(account=user, model=model, defaults=changes)
