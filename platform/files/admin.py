"""Stored files and uploads in the operators' admin: reading, and taking down."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from backoffice.acts import Act, Acting
from backoffice.filters import PeriodFilter
from backoffice.pages import OfAnAccount, ReadOnly
from backoffice.theme import action, display
from files.models import StoredFile, Upload
from files.services import outputs, uploads


@admin.register(StoredFile)
class StoredFileAdmin(OfAnAccount):
    """Taking a file down deletes its bytes: from then on links to it answer 410."""

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


class TakeDown(Act):
    title = "Take this file down"
    explanation = (
        "Its bytes are deleted: links to it say that it is gone, and models are not given it any "
        "more. Messages that it goes with still show its name."
    )
    dangerous = True
    record: Upload

    def carry_out(self) -> str:
        return "Taken down." if uploads.take_down(upload=self.record) else ""


@admin.register(Upload)
class UploadAdmin(ReadOnly, OfAnAccount, Acting):
    """The uploads of users. Operators do not see their content."""

    list_display = ("id", "account", "name", "media_type", "size", "state", "created_at")
    list_filter = (PeriodFilter, ("taken_down_at", admin.EmptyFieldListFilter))
    ordering = ("-pk",)
    fields = (
        "id",
        "account",
        "name",
        "media_type",
        "size",
        "state",
        "created_at",
        "expires_at",
        "taken_down_at",
    )
    readonly_fields = ("state",)
    actions_detail = ("take_down",)

    @display(
        description="state",
        label={"attached": "success", "waiting": "info", "taken down": "danger"},
    )
    def state(self, upload: Upload) -> str:
        if upload.taken_down_at is not None:
            return "taken down"
        return "attached" if upload.expires_at is None else "waiting"

    @action(description="Take down", icon="delete", permissions=["act"])
    def take_down(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, TakeDown)
