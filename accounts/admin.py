"""Accounts and keys in the admin. Passwords, digests and token ids are never shown."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.models import ApiKey, User
from accounts.services import api_keys

admin.site.unregister(Group)


@admin.register(User)
class UserAdmin(admin.ModelAdmin[User]):
    """Accounts come from signing up and are suspended, not deleted: their charges stay."""

    list_display = ("email", "name", "status", "email_verified", "is_staff", "created_at")
    list_filter = ("status", "is_staff")
    search_fields = ("email", "name", "id")
    ordering = ("-created_at",)
    fields = (
        "id",
        "email",
        "name",
        "avatar_url",
        "email_verified",
        "status",
        "is_staff",
        "is_superuser",
        "token_version",
        "last_login",
        "created_at",
    )
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}
    readonly_fields = ("id", "email", "token_version", "last_login", "created_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False


@admin.register(ApiKey)
class ApiKeyAdmin(admin.ModelAdmin[ApiKey]):
    """Keys are read here and can be revoked; only their owners make and change them."""

    list_display = ("name", "hint", "account", "created_at", "last_used_at", "revoked_at")
    list_select_related = ("account",)
    search_fields = ("name", "hint", "account__email")
    ordering = ("-created_at",)
    exclude = ("digest",)
    actions = ("revoke",)

    @admin.action(description="Revoke the selected keys", permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        for key in queryset.select_related("account"):
            api_keys.revoke_key(user=key.account, key_id=key.pk)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [field.name for field in ApiKey._meta.fields if field.name != "digest"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False
