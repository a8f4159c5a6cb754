"""The catalog in the operator's admin: models can be switched off and renamed, prices only added.

The other fields of a model come from the price list (catalog/seeds.py) with every deployment.
"""

from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
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
from common.backoffice.pages import Page
from common.backoffice.theme import TabularInline, action


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
    """Of tokens in micro-USD per million, of pictures in nano-USD each."""

    list_display = ("model", "valid_from", *TOKEN_PRICE, *IMAGE_PRICE)
    list_filter = (("model", RelatedDropdownFilter),)
    search_fields = ("model__id",)
    actions_detail = ("new_version",)

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
