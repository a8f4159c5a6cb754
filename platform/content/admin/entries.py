"""Marketing content: edited, previewed, and restored from its revisions."""

from functools import partial
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from admin_ui.acts import Acting
from admin_ui.pages import ReadOnly
from admin_ui.theme import TabularInline, action, display
from content.admin.entry_acts import Restore
from content.models import Entry, Revision
from content.rendering import render
from content.services import entries

_TEXT = ("title", "body", "severity", "link_url", "link_text")


class RevisionInline(TabularInline[Any, Any]):
    """The texts that the entry had, the newest first."""

    model = Revision
    fields = readonly_fields = ("link", "title", "author")
    ordering = ("-pk",)
    hide_title = True
    extra = max_num = 0
    can_delete = False
    per_page = 20

    @display(description="since")
    def link(self, revision: Revision) -> SafeString:
        path = reverse("admin:content_revision_change", args=(revision.pk,))
        moment = f"{revision.created_at:%Y-%m-%d %H:%M:%S}"
        return format_html('<a href="{}">{}</a>', path, moment)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Revision]:
        return super().get_queryset(request).select_related("author").defer("body")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Entry)
class EntryAdmin(Acting):
    """Only a draft can be deleted: what was public keeps its history."""

    list_display = ("title", "kind", "slug", "locale", "shown_state", "priority", "publish_at")
    list_filter = (("kind", ChoicesDropdownFilter), "locale")
    search_fields = ("title", "slug")
    ordering = ("-priority", "-publish_at", "-pk")
    fieldsets = (
        (None, {"fields": ("kind", "slug", "locale", "title", "body")}),
        ("Of a banner", {"fields": ("severity", "link_url", "link_text")}),
        ("When it is public", {"fields": ("publish_at", "unpublish_at", "priority")}),
    )
    inlines = (RevisionInline,)
    actions_detail = ("preview", "restore")

    @display(
        description="state",
        label={
            "draft": "info",
            "scheduled": "warning",
            "published": "success",
            "ended": "danger",
        },
    )
    def shown_state(self, entry: Entry) -> str:
        return entry.state

    def get_readonly_fields(self, request: HttpRequest, obj: Entry | None = None) -> list[str]:
        """What an entry is known by stays."""
        return ["kind", "slug", "locale"] if obj else []

    def has_delete_permission(self, request: HttpRequest, obj: Entry | None = None) -> bool:
        permitted = super().has_delete_permission(request, obj)
        return permitted and obj is not None and obj.publish_at is None

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """The revisions of a draft are deleted with it, and never alone."""
        shown, counts, needed, protected = super().get_deleted_objects(objs, request)
        return shown, counts, needed - {str(Revision._meta.verbose_name)}, protected

    def save_model(self, request: HttpRequest, obj: Entry, form: Any, change: bool) -> None:
        entries.save(entry=obj, author_id=request.user.pk)

    def construct_change_message(  # type: ignore[override]
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> str:
        """Without the body, which is long: the revisions have it."""
        if "body" not in form.changed_data:
            return super().construct_change_message(request, form, formsets, add)
        form.changed_data.remove("body")
        rest = super().construct_change_message(request, form, formsets, add)
        changes = [rest] if form.changed_data else []
        return "; ".join([*changes, "Body: see the revisions"])

    def may_act_on(self, request: HttpRequest, record: Entry) -> bool:
        """An entry belongs to no account."""
        return self.has_act_permission(request)

    def has_preview_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return self.has_view_permission(request)

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Who may look at entries may look at previews, too."""
        return super(Acting, self).get_actions_detail(request, object_id)

    @action(description="Preview", icon="visibility", permissions=["preview"])
    def preview(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The saved entry as it would look, whether it is public or not. Raises Http404."""
        entry = self.get_object(request, object_id)
        if entry is None:
            raise Http404
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "original": entry,
            "title": f"Preview: {entry}",
            "html": mark_safe(render(entry.body)),  # noqa: S308 # sanitised
        }
        return TemplateResponse(request, "content/preview.html", context)

    @action(description="Restore a revision", icon="restore", permissions=["act"])
    def restore(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, partial(Restore, author_id=request.user.pk))


@admin.register(Revision)
class RevisionAdmin(ReadOnly):
    """A text that an entry had; restored on the entry's page."""

    list_display = ("created_at", "entry", "title", "author")
    list_select_related = ("entry", "author")
    search_fields = ("entry__slug", "title")
    ordering = ("-pk",)
    sortable_by = ()
    fields = ("entry", "author", "created_at", *_TEXT, "html")
    readonly_fields = ("html",)

    @display(description="as it would look")
    def html(self, revision: Revision) -> SafeString:
        return mark_safe(render(revision.body))  # noqa: S308 # sanitised
