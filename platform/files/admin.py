"""Stored files in the operator's admin: to be looked at, and taken down."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from common.backoffice.filters import PeriodFilter
from common.backoffice.pages import OfAnAccount
from files.models import StoredFile
from files.services import outputs


@admin.register(StoredFile)
class StoredFileAdmin(OfAnAccount):
    """A file is taken down with its bytes: from then on its link says that it is gone."""

    list_display = ("id", "account", "media_type", "size", "created_at", "expires_at")
    list_filter = (PeriodFilter,)
    ordering = ("-pk",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def delete_model(self, request: HttpRequest, obj: StoredFile) -> None:
        outputs.delete(file=obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[StoredFile]) -> None:
        for file in queryset:
            outputs.delete(file=file)
