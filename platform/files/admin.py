"""Stored files in the operator's admin: to be looked at only."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from files.models import StoredFile


@admin.register(StoredFile)
class StoredFileAdmin(admin.ModelAdmin[StoredFile]):
    list_display = ("id", "account_id", "media_type", "size", "created_at", "expires_at")
    list_filter = ("media_type",)
    search_fields = ("id", "account_id")
    ordering = ("-created_at",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
