"""Passwords: what they must be."""

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from accounts.models import User
from common.errors import ValidationFailed


def check_password_rules(password: str, user: User, *, field: str = "password") -> None:
    """Raises ValidationFailed, naming `field`, for a password that is too weak for `user`."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise ValidationFailed.of(field, " ".join(error.messages)) from None
