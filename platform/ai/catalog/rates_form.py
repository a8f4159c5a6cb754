"""Rates by variant on the operators' pages: one line for each, in US dollars."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextareaWidget

from admin_ui.money import UsdField


class RatesField(forms.CharField):
    """Lines like `720p+audio 0.40`: a variant, and US dollars with at most nine decimals. Its value
    is nano-USD by variant."""

    widget = UnfoldAdminTextareaWidget(attrs={"rows": 4, "placeholder": "720p+audio 0.40"})

    def __init__(self, *, at_most: int, **options: Any) -> None:
        self._amount = UsdField(at_most=at_most, decimals=9)
        super().__init__(**{"empty_value": None, "required": False, **options})

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return "\n".join(
            f"{variant} {self._amount.prepare_value(rate)}" for variant, rate in value.items()
        )

    def to_python(self, value: Any) -> dict[str, int] | None:  # type: ignore[override]
        if isinstance(value, Mapping):  # the initial value of a form
            return dict(value)
        text = super().to_python(value)
        if text is None:
            return None
        rates: dict[str, int] = {}
        for line in text.splitlines():
            variant, amount = self._read(line)
            if variant in rates:
                raise ValidationError(f"Give {variant} once.")
            rates[variant] = amount
        return rates

    def _read(self, line: str) -> tuple[str, int]:
        words = line.split()
        if len(words) != 2:
            raise ValidationError("Write a variant and an amount on each line, like 720p 0.40.")
        amount: int = self._amount.clean(words[1])
        return words[0], amount
