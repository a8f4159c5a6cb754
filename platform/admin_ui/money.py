"""Money on the operators' pages: nano-USD in the database, US dollars on the page."""

import re
from collections.abc import Callable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Model
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminTextInputWidget

from admin_ui.theme import display
from common.money import NUSD_PER_USD, exact_nusd, usd_text

MAX_USD = 1_000_000
# As wide as a digit, so that the points of a column are aligned.
_FIGURE_SPACE = "\u2007"


def usd_column(
    name: str, title: str | None = None, *, unit: int = 1, decimals: int = 9
) -> Callable[[Any, Model], str | None]:
    """A column or read-only field of a page, for a field that counts in `unit` nano-USD.

    Its name on the page is `..._usd`; admin_ui/style.css aligns it by that name. It shows at
    least `decimals` decimals, and more where an amount has them.
    """

    @display(description=title or name.replace("_", " "), ordering=name)
    def column(_: Any, row: Model) -> str | None:
        amount = getattr(row, name)
        return None if amount is None else aligned(amount * unit, decimals)

    return column


def aligned(nusd: int, decimals: int = 9) -> str:
    """An amount whose point is aligned with the others of its column."""
    text = usd_text(nusd)
    return text + _FIGURE_SPACE * (decimals - len(text.partition(".")[2]))


_WRITTEN = re.compile(r"[-+]?[0-9]*(\.[0-9]*)?", re.ASCII)


class UsdField(forms.CharField):
    """An amount typed in US dollars with at most `decimals` decimals; its value is counted in
    `unit` nano-USD."""

    widget = UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal", "placeholder": "0.00"})

    def __init__(
        self,
        *,
        at_least: int = 0,
        at_most: int = MAX_USD,
        unit: int = 1,
        decimals: int = 2,
        **options: Any,
    ) -> None:
        self.at_least, self.at_most = at_least, at_most
        self.unit, self.decimals = unit, decimals
        super().__init__(**{"empty_value": None, **options})

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, int):
            return value
        return usd_text(value * self.unit).replace("$", "").replace(",", "")

    def to_python(self, value: Any) -> int | None:  # type: ignore[override]
        if isinstance(value, int):  # the initial value of a form
            return value
        text = super().to_python(value)
        if text is None:
            return None
        if not _WRITTEN.fullmatch(text):  # Python reads 1_5 as 15
            raise ValidationError("Write an amount like 12.50.")
        try:
            amount = exact_nusd(text, decimals=self.decimals)
        except ValueError as error:
            raise ValidationError(str(error)) from None
        if not self.at_least * NUSD_PER_USD <= amount <= self.at_most * NUSD_PER_USD:
            raise ValidationError(f"Give {self.at_least:,} to {self.at_most:,} US dollars.")
        return amount // self.unit


class UsdFields:
    """A page or inline form whose `usd_fields` are typed in US dollars."""

    usd_fields: tuple[str, ...] = ()

    def formfield_for_dbfield(
        self, db_field: models.Field[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> forms.Field | None:
        if db_field.name in self.usd_fields:
            label = f"{str(db_field.verbose_name).capitalize()} (USD)"
            return UsdField(label=label, required=not db_field.null)
        return super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc, no-any-return]
