"""Fields of people: passwords, names and preferences."""

import unicodedata
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from django.core.validators import RegexValidator
from rest_framework.serializers import ValidationError

from accounts.pictures import validate_picture_url
from common.fields import FlagField, IdField, TextField
from common.locales import LANGUAGE_TAG

# Control characters, and the separators of lines and paragraphs: a name is one line.
_NOT_IN_A_NAME = ("Cc", "Zl", "Zp")


class PasswordField(TextField):
    """A password as typed. The bound limits the work of hashing it."""

    def __init__(self) -> None:
        super().__init__(max_length=1024, trim_whitespace=False)


class DeviceIdField(IdField):
    """A UUID that the client generates once, keeps and keeps secret."""

    def __init__(self) -> None:
        super().__init__(
            required=False,
            help_text="A random UUID that the client keeps. Wrong passwords that are tried "
            "elsewhere do not delay a device from which the account was signed in to before.",
        )


class CookieField(FlagField):
    """Does a page of ours want its refresh token in a cookie?"""

    def __init__(self) -> None:
        super().__init__(
            default=False,
            help_text="For pages of the service itself: the refresh token comes in a cookie that "
            "scripts cannot read, and `refresh_token` of the answer is null.",
        )


class NameField(TextField):
    """A person's name, in one line; may be empty."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=200, allow_blank=True, **options)

    def to_internal_value(self, data: Any) -> str:
        name = super().to_internal_value(data)
        if any(unicodedata.category(character) in _NOT_IN_A_NAME for character in name):
            raise ValidationError("A name has no control characters.")
        return name


class AvatarUrlField(TextField):
    """The https address of a picture; empty for none."""

    def __init__(self, **options: Any) -> None:
        checks = [validate_picture_url]
        super().__init__(max_length=500, allow_blank=True, validators=checks, **options)


class LocaleField(TextField):
    """A BCP 47 language tag like `en` or `pt-BR`; empty for none."""

    def __init__(self, **options: Any) -> None:
        shape = RegexValidator(LANGUAGE_TAG, "Write a language tag like en or pt-BR.")
        super().__init__(max_length=35, allow_blank=True, validators=[shape], **options)


class TimezoneField(TextField):
    """A name of the IANA database, like `Europe/Lisbon`."""

    def to_internal_value(self, data: Any) -> str:
        name = super().to_internal_value(data)
        if name not in _timezones():
            raise ValidationError("Write a time zone of the IANA database, like Europe/Lisbon.")
        return name


@cache
def _timezones() -> frozenset[str]:
    return frozenset(available_timezones())
