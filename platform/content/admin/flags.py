"""Feature flags: what they are for, what is set, and acts that set it."""

from typing import Any

from django.contrib import admin
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse

from admin_ui.acts import Acting
from admin_ui.pages import ReadOnly
from admin_ui.theme import TabularInline, action, display
from content.admin.flag_acts import SetForEveryone, SetForPlan, SetForUser, SetShare
from content.flags import FLAGS, SiteFlag
from content.models import FlagOverride, FlagRecord

_PER_USER = {f"content_flagrecord_{name}" for name in ("set_for_plan", "set_share", "set_for_user")}


class OverrideInline(TabularInline[Any, Any]):
    """What is set, the nearest first: of users, of plans, of a share, of everyone."""

    model = FlagOverride
    fields = readonly_fields = ("whom", "is_on", "changed_at")
    ordering = ("user", "plan", "percent")
    hide_title = True
    extra = max_num = 0
    can_delete = False
    per_page = 50

    @display(description="whom")
    def whom(self, override: FlagOverride) -> str:
        return override.scope

    def get_queryset(self, request: HttpRequest) -> QuerySet[FlagOverride]:
        return super().get_queryset(request).select_related("user")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(FlagRecord)
class FlagAdmin(ReadOnly, Acting):
    """Flags are defined in code. A flag that is not defined any more is stale: what is set of it
    counts for nothing, and the flag can be deleted."""

    list_display = ("name", "shown_state", "value_for_everyone", "others", "owner", "description")
    search_fields = ("name",)
    ordering = ("name",)
    sortable_by = ("name",)
    fields = (
        "name",
        "shown_state",
        "description",
        "owner",
        "default",
        "value_for_everyone",
        "added_at",
    )
    inlines = (OverrideInline,)
    actions_detail = ("set_for_everyone", "set_for_plan", "set_share", "set_for_user")

    @display(description="state", label={"in use": "success", "stale": "warning"})
    def shown_state(self, flag: FlagRecord) -> str:
        return "in use" if flag.name in FLAGS else "stale"

    @display(description="what it switches")
    def description(self, flag: FlagRecord) -> str:
        return FLAGS[flag.name].description if flag.name in FLAGS else ""

    @display(description="read by")
    def owner(self, flag: FlagRecord) -> str:
        return FLAGS[flag.name].owner if flag.name in FLAGS else ""

    @display(description="default", boolean=True)
    def default(self, flag: FlagRecord) -> bool | None:
        return FLAGS[flag.name].default if flag.name in FLAGS else None

    @display(description="for everyone", boolean=True)
    def value_for_everyone(self, flag: FlagRecord) -> bool | None:
        """What is set, or else the default."""
        rest = [row for row in self._of_no_user(flag) if row.plan_id is None]
        of_all = next((row.is_on for row in rest if row.percent is None), None)
        return self.default(flag) if of_all is None else of_all

    @display(description="otherwise")
    def others(self, flag: FlagRecord) -> str:
        """What is set for others than everyone."""
        scopes = [
            f"{'on' if row.is_on else 'off'} {row.scope}"
            for row in self._of_no_user(flag)
            if row.plan_id is not None or row.percent is not None
        ]
        return ", ".join(scopes)

    def _of_no_user(self, flag: FlagRecord) -> list[FlagOverride]:
        return flag.of_no_user  # type: ignore[attr-defined, no-any-return]

    def get_queryset(self, request: HttpRequest) -> QuerySet[FlagRecord]:
        """With what is set, except for users: there may be many."""
        rows = FlagOverride.objects.filter(user=None).order_by("plan", "percent")
        flags: QuerySet[FlagRecord] = super().get_queryset(request)
        return flags.prefetch_related(Prefetch("overrides", rows, to_attr="of_no_user"))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Only a stale flag, on its own page."""
        permitted = admin.ModelAdmin.has_delete_permission(self, request, obj)
        return permitted and obj is not None and obj.name not in FLAGS

    def may_act_on(self, request: HttpRequest, record: FlagRecord) -> bool:
        """A flag belongs to no account. Nothing can be set of a stale one."""
        return self.has_act_permission(request) and record.name in FLAGS

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """Those that have an effect."""
        acts = super().get_actions_detail(request, object_id)
        flag = self.get_object(request, str(object_id))
        if flag is not None and isinstance(FLAGS.get(flag.name), SiteFlag):
            return [act for act in acts if act.action_name not in _PER_USER]
        return acts

    @action(description="Set for everyone", icon="public", permissions=["act"])
    def set_for_everyone(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, SetForEveryone)

    @action(description="Set for a plan", icon="sell", permissions=["act"])
    def set_for_plan(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, SetForPlan)

    @action(description="Set a share", icon="percent", permissions=["act"])
    def set_share(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, SetShare)

    @action(description="Set for a user", icon="person", permissions=["act"])
    def set_for_user(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, SetForUser)
