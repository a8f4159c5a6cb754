"""Stored files and uploads in the operators' admin: reading, and taking down."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse

from admin_ui.acts import Act, Acting
from admin_ui.filters import PeriodFilter
from admin_ui.pages import NewestOnly, OfAnAccount, ReadOnly
from admin_ui.theme import action, display
from media.files.models import StoredFile, Upload
from media.files.services import outputs, uploads

_STATES = {
    "kept": "success",
    "attached": "success",
    "expires": "info",
    "waiting": "info",
    "taken down": "danger",
}


class TakeFileDown(Act):
    title = "Take this file down"
    explanation = (
        "Its bytes are deleted, and those of its thumbnail: links to both say that they are gone. "
        "What shows it in a gallery stays there without it."
    )
    dangerous = True
    record: StoredFile

    def carry_out(self) -> str:
        return "Taken down." if outputs.take_down(file=self.record) else ""


@admin.register(StoredFile)
class StoredFileAdmin(ReadOnly, OfAnAccount, Acting):
    """The files that models made. Operators do not see their content."""

    list_display = ("id", "account", "media_type", "size", "state", "created_at", "expires_at")
    list_filter = (PeriodFilter, "is_kept", ("taken_down_at", admin.EmptyFieldListFilter))
    ordering = ("-pk",)
    fields = (
        "id",
        "account",
        "media_type",
        "size",
        "state",
        "thumbnail_of",
        "created_at",
        "expires_at",
        "taken_down_at",
    )
    readonly_fields = ("state",)
    actions_detail = ("take_down",)

    @display(description="state", label=_STATES)
    def state(self, file: StoredFile) -> str:
        if file.taken_down_at is not None:
            return "taken down"
        return "kept" if file.is_kept else "expires"

    @action(description="Take down", icon="delete", permissions=["act"])
    def take_down(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, TakeFileDown)


class TakeUploadDown(Act):
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
class UploadAdmin(ReadOnly, NewestOnly, Acting):
    """The uploads of users. Operators do not see their content."""

    list_display = ("id", "account", "name", "media_type", "size", "state", "created_at")
    list_filter = (PeriodFilter, ("taken_down_at", admin.EmptyFieldListFilter))
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

    @display(description="state", label=_STATES)
    def state(self, upload: Upload) -> str:
        if upload.taken_down_at is not None:
            return "taken down"
        return "attached" if upload.expires_at is None else "waiting"

    @action(description="Take down", icon="delete", permissions=["act"])
    def take_down(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, TakeUploadDown)
