"""The rules for passwords."""

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from accounts.models import User
from common.errors import ValidationFailed
from common.titles import shows_something


def check_password_rules(password: str, user: User, *, field: str = "password") -> None:
    """Raises ValidationFailed, naming `field`, for a password that is too weak for `user`."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise ValidationFailed.of(field, " ".join(error.messages)) from None


class VarietyValidator:
    """Refuses a password that repeats one character, or that has no visible one."""

    message = (
        "This password is one character again and again, or only spaces. "
        "Choose a password with different characters."
    )

    def validate(self, password: str, user: User | None = None) -> None:
        if len(set(password.casefold())) < 2 or not shows_something(password):
            raise ValidationError(self.message, code="password_without_variety")

    def get_help_text(self) -> str:
        return "Your password cannot be one character again and again, or only spaces."
