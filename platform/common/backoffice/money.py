"""Money on the operators' pages: nano-USD inside, US dollars before their eyes."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Model
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminTextInputWidget

from common.backoffice.theme import display
from common.money import NUSD_PER_USD, usd_text, whole_cents

MAX_USD = 1_000_000


def usd_column(name: str, title: str | None = None) -> Callable[[Any, Model], str | None]:
    """A column or read-only field of a page, for a field in nano-USD."""

    @display(description=title or name.replace("_", " "), ordering=name)
    def column(_: Any, row: Model) -> str | None:
        amount = getattr(row, name)
        return None if amount is None else usd_text(amount)

    return column


class UsdField(forms.CharField):
    """An amount typed in US dollars, in whole cents; its value is nano-USD."""

    widget = UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal", "placeholder": "0.00"})

    def __init__(self, *, at_least: int = 0, **options: Any) -> None:
        self.at_least = at_least
        super().__init__(**{"empty_value": None, **options})

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, int):
            return value
        return usd_text(value).replace("$", "").replace(",", "")

    def to_python(self, value: Any) -> int | None:  # type: ignore[override]
        if isinstance(value, int):  # what a form begins with
            return value
        text = super().to_python(value)
        if text is None:
            return None
        try:
            amount = whole_cents(text)
        except ValueError as error:
            raise ValidationError(str(error)) from None
        if not self.at_least * NUSD_PER_USD <= amount <= MAX_USD * NUSD_PER_USD:
            raise ValidationError(f"Give {self.at_least:,} to {MAX_USD:,} US dollars.")
        return amount


class UsdFields:
    """A page or a part of it whose `usd_fields` are typed in US dollars."""

    usd_fields: tuple[str, ...] = ()

    def formfield_for_dbfield(
        self, db_field: models.Field[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> forms.Field | None:
        if db_field.name in self.usd_fields:
            label = f"{str(db_field.verbose_name).capitalize()} (USD)"
            return UsdField(label=label, required=not db_field.null)
        return super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc, no-any-return]
