"""The catalog in the operator's admin: models can be switched off and renamed, prices only added.

The other fields of a model come from the price list (catalog/seeds.py) with every deployment.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Field
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from unfold.contrib.filters.admin import (
    BooleanRadioFilter,
    ChoicesDropdownFilter,
    RelatedDropdownFilter,
)

from catalog.models import (
    IMAGE_PRICE,
    TOKEN_PRICE,
    AIModel,
    Alias,
    PriceVersion,
    RetiredModel,
)
from common.backoffice.money import usd_column
from common.backoffice.pages import Page
from common.backoffice.theme import TabularInline, action, display
from common.money import usd_text

_NUSD_PER_MICRO_USD = 1000
_SHOWN = tuple(f"shown_{name}" for name in (*TOKEN_PRICE, *IMAGE_PRICE))


def _per_million(name: str) -> Callable[[Any, PriceVersion], str | None]:
    @display(description=name.replace("_", " "), ordering=name)
    def column(_: Any, price: PriceVersion) -> str | None:
        rate = getattr(price, name)
        return None if rate is None else f"{usd_text(rate * _NUSD_PER_MICRO_USD)} / 1M"

    return column


class AliasInline(TabularInline[Any, Any]):
    model = Alias
    extra = 0


@admin.register(AIModel)
class AIModelAdmin(Page):
    list_display = ("id", "modality", "provider", "free", "enabled")
    list_filter = (
        ("modality", ChoicesDropdownFilter),
        "provider",
        ("free", BooleanRadioFilter),
        ("enabled", BooleanRadioFilter),
    )
    search_fields = ("id", "display_name")
    inlines = (AliasInline,)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        names = [field.name for field in AIModel._meta.fields]
        return [name for name in names if name != "enabled"] if obj else []


@admin.register(PriceVersion)
class PriceVersionAdmin(Page):
    """Shown in US dollars; typed as they are stored, because a rate may be finer than a cent."""

    list_display = ("model", "valid_from", *_SHOWN)
    list_filter = (("model", RelatedDropdownFilter),)
    search_fields = ("model__id",)
    actions_detail = ("new_version",)

    shown_input, shown_output, shown_token_fee = map(_per_million, TOKEN_PRICE)
    shown_image_low, shown_image_standard, shown_image_high, shown_image_fee = map(
        usd_column, IMAGE_PRICE
    )

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        rates = _SHOWN if obj else (*TOKEN_PRICE, *IMAGE_PRICE)
        return ("model", "valid_from", *rates)

    def formfield_for_dbfield(
        self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> Any:
        if db_field.name in TOKEN_PRICE:
            kwargs["help_text"] = "Micro-USD per million tokens: 2500000 is $2.50 per million."
        elif db_field.name in IMAGE_PRICE:
            kwargs["help_text"] = "Nano-USD per picture: 40000000 is $0.04."
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_price_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return self.has_add_permission(request)

    @action(
        description="New price from this one",
        icon="content_copy",
        permissions=["price"],
    )
    def new_version(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The form of a new version with this one's rates in it."""
        price = self.get_object(request, object_id)
        if price is None:
            raise Http404
        rates = {name: getattr(price, name) for name in (*TOKEN_PRICE, *IMAGE_PRICE)}
        given = {name: rate for name, rate in rates.items() if rate is not None}
        query = urlencode({"model": price.model_id, **given})
        return redirect(f"{reverse('admin:catalog_priceversion_add')}?{query}")


@admin.register(RetiredModel)
class RetiredModelAdmin(Page):
    search_fields = ("name",)
