"""Serializer fields shared by the `/api` serializers."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from common.money import NUSD_PER_USD, usd, whole_cents
from common.titles import one_line, shows_something


class TextField(serializers.CharField):
    """Text that must be sent as text: DRF's own CharField also takes numbers."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class PromptField(TextField):
    """A prompt: a text without any visible character becomes an empty one."""

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if shows_something(text):
            return text
        if not self.allow_blank:
            self.fail("blank")
        return ""


class TitleField(TextField):
    """A title: one line, without invisible characters."""

    def to_internal_value(self, data: Any) -> str:
        title = one_line(super().to_internal_value(data))
        if not title and not self.allow_blank:
            self.fail("blank")
        return title


class IdField(serializers.UUIDField):
    """An id that must be sent as text: DRF's own field also takes numbers."""

    def to_internal_value(self, data: Any) -> UUID:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class WholeNumberField(serializers.IntegerField):
    """A number that must be sent as one: DRF's own field also takes texts and 1.0."""

    def to_internal_value(self, data: Any) -> int:
        if type(data) is not int:
            self.fail("invalid")
        return super().to_internal_value(data)


class FlagField(serializers.BooleanField):
    """true or false, sent as such: DRF's own field also takes "yes", "0" and the like."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class WordsField(serializers.CharField):
    """Texts of the user, such as a list of words; null where there are none."""

    def __init__(self, **options: Any) -> None:
        super().__init__(read_only=True, allow_null=True, **options)

    def to_representation(self, value: str) -> Any:
        return value or None


class BoundedListField(serializers.ListField):
    """At most `max_length` items: DRF's own field counts them only after it has validated each."""

    default_error_messages = {"max_length": "At most {max_length} can be listed."}

    def __init__(self, *, max_length: int, **options: Any) -> None:
        super().__init__(max_length=max_length, **options)
        self._most = max_length

    def to_internal_value(self, data: Any) -> list[Any]:
        if isinstance(data, list) and len(data) > self._most:
            self.fail("max_length", max_length=self._most)
        return super().to_internal_value(data)


@extend_schema_field({"type": "number", "description": "US dollars."})
class UsdField(serializers.Field[int, int, float, Any]):
    """An amount kept in nano-USD, shown as a JSON number of USD. Read only."""

    def __init__(self, **options: Any) -> None:
        super().__init__(read_only=True, **options)

    def to_representation(self, value: int) -> float:
        return usd(value)


@extend_schema_field({"type": "number", "description": "US dollars, in whole cents."})
class CentsField(serializers.Field[int, Any, float, Any]):
    """An amount sent as a number of USD in whole cents, from `least` to `most` USD; its value is
    nano-USD."""

    def __init__(self, *, least: float, most: float, **options: Any) -> None:
        super().__init__(**options)
        self._least, self._most = least, most

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, str):
            raise serializers.ValidationError("An amount is a number of US dollars.")
        try:
            amount = whole_cents(data)
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from None
        if not self._least * NUSD_PER_USD <= amount <= self._most * NUSD_PER_USD:
            raise serializers.ValidationError(
                f"An amount is from {self._least:,} to {self._most:,} US dollars."
            )
        return amount
