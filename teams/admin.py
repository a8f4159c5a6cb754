"""Teams in the operators' admin, with what operators can do for people who cannot any more."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from accounts.models import User
from admin_ui.acts import Act, Acting
from admin_ui.filters import PeriodFilter
from admin_ui.pages import OfAnAccount, Page, ReadOnly
from admin_ui.theme import TabularInline, action, display
from common.ids import as_uuid
from teams.models import AuditEntry, Invitation, Member, Role, Team
from teams.services import invitations, members, teams


class DeleteTeam(Act):
    title = "Delete this team"
    explanation = (
        "Its members are in no team then, and its invitations are void. Their accounts, and what "
        "they have made, stay."
    )
    dangerous = True
    record: Team

    def carry_out(self) -> str:
        name = self.record.name
        return f"Deleted “{name}”." if teams.delete_for_operator(team_id=self.record.pk) else ""


class MakeOwner(Act):
    title = "Make this member the owner"
    explanation = (
        "Who owns the team now becomes an admin of it. For a team whose owner cannot sign in any "
        "more, or is suspended: make sure that the others agree."
    )
    dangerous = True
    record: Member

    def carry_out(self) -> str:
        is_new = members.make_owner_for_operator(member=self.record)
        return f"{self.record.account} owns the team now." if is_new else ""


class RevokeInvitation(Act):
    title = "Revoke this invitation"
    explanation = "Its link does not work any more. The team may send another one."
    dangerous = True
    record: Invitation

    def carry_out(self) -> str:
        was_pending = invitations.revoke_for_operator(invitation_id=self.record.pk)
        return f"Revoked; it was for {self.record.address}." if was_pending else ""


class MemberInline(TabularInline[Any, Any]):
    """The members of a team, in the order in which they joined."""

    model = Member
    fields = readonly_fields = ("account", "role", "joined_at")
    ordering = ("joined_at",)
    extra = max_num = 0
    can_delete = False
    show_change_link = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Member]:
        rows: QuerySet[Member] = super().get_queryset(request)
        return rows.select_related("account")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Team)
class TeamAdmin(ReadOnly, Acting):
    list_display = ("created_at", "id", "name", "owner", "members_count")
    list_filter = (PeriodFilter,)
    search_fields: ClassVar[tuple[str, ...]] = ("name",)
    search_help_text = "The id of a team, or the address of a member (or its beginning)"
    ordering = ("-pk",)
    sortable_by = ()
    fields: ClassVar[tuple[str, ...]] = ("id", "name", "owner", "created_at")
    inlines = (MemberInline,)
    actions_detail = ("delete_team",)

    @display(description="Owner")
    def owner(self, team: Team) -> User | None:
        members = team.members.all()
        return next((each.account for each in members if each.role == Role.OWNER), None)

    @display(description="Members")
    def members_count(self, team: Team) -> int:
        return team.members_count  # type: ignore[attr-defined, no-any-return]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Team]:
        rows: QuerySet[Team] = super().get_queryset(request)
        rows = rows.annotate(members_count=Count("members"))
        return rows.prefetch_related("members__account")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        if wanted := as_uuid(term):
            return queryset.filter(pk=wanted), False
        found = Member.objects.filter(account__email__startswith=term.lower())
        return queryset.filter(pk__in=found.values("team")), False

    def account_of(self, record: Team) -> Any:
        """The owner's."""
        return self.owner(record)

    @action(description="Delete this team", icon="delete", permissions=["act"])
    def delete_team(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, DeleteTeam)


@admin.register(Member)
class MemberAdmin(ReadOnly, OfAnAccount, Acting):
    list_display = ("joined_at", "account", "team", "role")
    list_filter = (("role", ChoicesDropdownFilter),)
    list_select_related = ("account", "team")
    search_help_text = "An account's address (or its beginning) or id"
    ordering = ("-pk",)
    sortable_by = ()
    fields: ClassVar[tuple[str, ...]] = ("account", "team", "role", "joined_at")
    actions_detail = ("make_owner",)

    @action(description="Make the owner", icon="shield_person", permissions=["act"])
    def make_owner(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, MakeOwner)


@admin.register(Invitation)
class InvitationAdmin(ReadOnly, Acting):
    """Without the digests of tokens."""

    list_display = ("created_at", "address", "team", "role", "state", "invited_by", "expires_at")
    list_filter = (PeriodFilter, ("status", ChoicesDropdownFilter))
    list_select_related = ("team", "invited_by")
    search_fields: ClassVar[tuple[str, ...]] = ("^address",)
    search_help_text = "An invited address, or its beginning"
    ordering = ("-pk",)
    sortable_by = ()
    fields: ClassVar[tuple[str, ...]] = (
        "id",
        "address",
        "team",
        "role",
        "state",
        "invited_by",
        "created_at",
        "sent_at",
        "expires_at",
        "ended_at",
    )
    actions_detail = ("revoke",)

    @display(
        description="status",
        label={
            "pending": "info",
            "accepted": "success",
            "declined": "warning",
            "revoked": "danger",
            "expired": "warning",
        },
    )
    def state(self, invitation: Invitation) -> str:
        return "expired" if invitation.is_expired else str(invitation.status)

    def account_of(self, record: Invitation) -> Any:
        return record.invited_by

    @action(description="Revoke", icon="cancel", permissions=["act"])
    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, RevokeInvitation)


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnly, Page):
    """What was done in teams, deleted ones included. No actor: an operator, or who has declined."""

    list_display = ("created_at", "team_id", "action", "actor", "subject", "address", "change")
    list_filter = (PeriodFilter, ("action", ChoicesDropdownFilter))
    list_select_related = ("actor", "subject")
    search_fields: ClassVar[tuple[str, ...]] = ("team_id",)
    search_help_text = "The id of a team, or the address of who did it (or its beginning)"
    ordering = ("-pk",)
    sortable_by = ()
    fields: ClassVar[tuple[str, ...]] = (
        "id",
        "team_id",
        "action",
        "actor",
        "subject",
        "address",
        "change",
        "created_at",
    )

    @display(description="Change")
    def change(self, entry: AuditEntry) -> str:
        return " → ".join(filter(None, (entry.before, entry.after)))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        if wanted := as_uuid(term):
            return queryset.filter(team_id=wanted), False
        return queryset.filter(actor__email__startswith=term.lower()), False
