"""The catalog in the operator's admin: models can be edited, prices only added."""

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


@admin.register(PriceVersion)
class PriceVersionAdmin(admin.ModelAdmin[PriceVersion]):
    list_display = ("model", "valid_from", "input", "output", "token_fee", "image_standard")
    list_filter = ("model",)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


admin.site.register(RetiredModel)
