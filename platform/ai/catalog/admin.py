"""The catalog in the operators' admin: models can be switched off and renamed, prices only added.

The other fields of a model come from the price list (ai/catalog/seeds.py) with every deployment.
"""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Field, OuterRef, QuerySet, Subquery
from django.db.models.functions import Now
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from unfold.contrib.filters.admin import (
    BooleanRadioFilter,
    ChoicesDropdownFilter,
    RelatedDropdownFilter,
)

from admin_ui.money import UsdField, usd_column
from admin_ui.pages import Page
from admin_ui.theme import TabularInline, action, display
from ai.catalog.models import (
    CACHED_INPUT,
    IMAGE_PRICE,
    MAX_IMAGE_USD,
    MAX_SPEECH_USD,
    MAX_TOKEN_USD,
    MAX_UNIT_USD,
    OF_THE_RIGHT_KIND,
    RATES,
    SPEECH_PRICE,
    AIModel,
    Alias,
    PriceVersion,
    RetiredModel,
)
from ai.catalog.rates_form import RatesField
from common.money import usd_text

_NUSD_PER_MICRO_USD = 1000
_SHOWN = tuple(f"{name}_usd" for name in RATES)


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


def _in_force() -> Subquery:
    """The id of the price version in force for the row's model."""
    started = PriceVersion.objects.filter(
        OF_THE_RIGHT_KIND, model=OuterRef("model"), valid_from__lte=Now()
    )
    return Subquery(started.order_by("-valid_from").values("pk")[:1])


_PER_TOKEN = ("input", CACHED_INPUT, "output", "token_fee")


def _per_million(name: str) -> Any:
    title = name.removeprefix("token_").replace("_", " ")
    return usd_column(name, f"{title} / 1M", unit=_NUSD_PER_MICRO_USD, decimals=2)


_CACHED_INPUT_HELP = (
    "Of input that the provider has read from its cache; at most the price of other input. Empty "
    "where the provider has none: then all input costs the same."
)

# The unit of a rate, and the most US dollars that it can be.
_SOLD_BY = {
    **dict.fromkeys(IMAGE_PRICE, ("picture", MAX_IMAGE_USD)),
    **dict.fromkeys(SPEECH_PRICE, ("hour of audio", MAX_SPEECH_USD)),
    "unit_fee": ("second or asset", MAX_UNIT_USD),
}


def _rate_field(name: str) -> UsdField | RatesField:
    """A rate, or rates by variant, as typed: exact to the last stored digit."""
    label = name.replace("_", " ").capitalize()
    if name == "unit_rates":
        return RatesField(label=f"{label} (USD per second or asset)", at_most=MAX_UNIT_USD)
    if name in _PER_TOKEN:
        return UsdField(
            label=f"{label} (USD per 1,000,000 tokens)",
            at_most=MAX_TOKEN_USD,
            unit=_NUSD_PER_MICRO_USD,
            decimals=6,
            required=False,
            help_text=_CACHED_INPUT_HELP if name == CACHED_INPUT else "",
        )
    unit, at_most = _SOLD_BY[name]
    return UsdField(label=f"{label} (USD per {unit})", at_most=at_most, decimals=9, required=False)


@admin.register(PriceVersion)
class PriceVersionAdmin(Page):
    """A version can be withdrawn until it is in force, a version of the price list too: it does not
    return."""

    list_display = ("model", "state", "valid_from", *_SHOWN)
    list_filter = (("model", RelatedDropdownFilter),)
    search_fields = ("model__id",)
    actions_detail = ("new_version",)

    input_usd, cached_input_usd, output_usd, token_fee_usd = map(_per_million, _PER_TOKEN)
    image_low_usd, image_standard_usd, image_high_usd = (
        usd_column(name, name.removeprefix("image_"), decimals=3) for name in IMAGE_PRICE[:3]
    )
    image_fee_usd = usd_column("image_fee", decimals=3)
    speech_hour_usd, speech_fee_usd = (usd_column(name, decimals=3) for name in SPEECH_PRICE)
    unit_fee_usd = usd_column("unit_fee", decimals=3)

    @display(description="unit rates")
    def unit_rates_usd(self, price: PriceVersion) -> str | None:
        if price.unit_rates is None:
            return None
        return ", ".join(
            f"{variant} {usd_text(rate)}" for variant, rate in price.unit_rates.items()
        )

    @display(description="state", label={"in force": "success"})
    def state(self, price: PriceVersion) -> str:
        if price.valid_from > timezone.now():
            return f"from {price.valid_from:%Y-%m-%d}"
        return "in force" if price.pk == price.in_force else "past"  # type: ignore[attr-defined]

    def get_queryset(self, request: HttpRequest) -> QuerySet[PriceVersion]:
        prices: QuerySet[PriceVersion] = super().get_queryset(request)
        return prices.annotate(in_force=_in_force())

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        if obj:
            return ("model", "state", "valid_from", *_SHOWN)
        return ("model", "valid_from", *RATES)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("state", *_SHOWN) if obj else ()

    def formfield_for_dbfield(
        self, db_field: Field[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> Any:
        if db_field.name in RATES:
            return _rate_field(db_field.name)
        if db_field.name == "valid_from":
            kwargs["help_text"] = "UTC. Until a minute before, the price can be withdrawn."
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Only a version that is not in force yet, on a page of its own."""
        permitted = super().has_delete_permission(request, obj)
        return permitted and obj is not None and obj.can_be_withdrawn

    def has_price_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return self.has_add_permission(request)

    @action(
        description="New price from this one",
        icon="content_copy",
        permissions=["price"],
    )
    def new_version(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The form of a new version, filled in with the rates of this one."""
        price = self.get_object(request, object_id)
        if price is None:
            raise Http404
        rates = {
            name: _rate_field(name).prepare_value(getattr(price, name))
            for name in RATES
            if getattr(price, name) is not None
        }
        query = urlencode({"model": price.model_id, **rates})
        return redirect(f"{reverse('admin:catalog_priceversion_add')}?{query}")


@admin.register(RetiredModel)
class RetiredModelAdmin(Page):
    search_fields = ("name",)
