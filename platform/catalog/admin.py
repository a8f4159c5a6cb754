"""The catalog in the operator's admin: models can be switched off and renamed, prices only added.

The other fields of a model come from the price list (catalog/seeds.py) with every deployment.
"""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from catalog.models import AIModel, Alias, PriceVersion, RetiredModel


class AliasInline(admin.TabularInline[Alias, AIModel]):
    model = Alias
    extra = 0


@admin.register(AIModel)
class AIModelAdmin(admin.ModelAdmin[AIModel]):
    list_display = ("id", "modality", "provider", "free", "enabled")
    list_filter = ("modality", "provider", "free", "enabled")
    search_fields = ("id", "display_name")
    inlines = (AliasInline,)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        names = [field.name for field in AIModel._meta.fields]
        return [name for name in names if name != "enabled"] if obj else []


@admin.register(PriceVersion)
class PriceVersionAdmin(admin.ModelAdmin[PriceVersion]):
    list_display = ("model", "valid_from", "input", "output", "token_fee", "image_standard")
    list_filter = ("model",)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


admin.site.register(RetiredModel)
