"""Conversations in the operators' admin: their outcomes and costs, not their texts."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from admin_ui import related
from admin_ui.acts import Act, Acting
from admin_ui.filters import PeriodFilter
from admin_ui.pages import OfAnAccount, ReadOnly
from admin_ui.related import Related
from admin_ui.theme import DropdownFilter, TabularInline, action, display
from billing.selectors.charges import get_billed
from common.money import usd_text
from conversations.models import Conversation, Feedback, Message
from conversations.selectors.sharing import shares_of
from conversations.services import sharing


class RevokeLink(Act):
    title = "Revoke the link"
    explanation = (
        "Nobody can read by it any more, and it never works again. Its user may share the "
        "conversation by another one."
    )
    dangerous = True
    record: Conversation

    def carry_out(self) -> str:
        account = self.record.account
        was_shared = sharing.revoke(user=account, conversation_id=self.record.pk)
        return f"Link revoked; it was of a conversation of {account}." if was_shared else ""


class SharedFilter(DropdownFilter):
    """Shared conversations, or the others."""

    title = "shared"
    parameter_name = "shared"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", "By a link"), ("no", "Not shared")]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Conversation]
    ) -> QuerySet[Conversation]:
        if self.value() not in ("yes", "no"):
            return queryset
        return queryset.filter(share__isnull=self.value() == "no")


def _link_to_charge(reply_id: UUID) -> str:
    path = reverse("admin:billing_charge_change", args=(reply_id,))
    return format_html('<a href="{}">{}</a>', path, reply_id)


class ReplyInline(TabularInline[Any, Any]):
    """The calls of a conversation, the earliest first."""

    model = Message
    verbose_name_plural = "replies"
    fields = readonly_fields = (
        "charge",
        "asked_by",
        "model",
        "status",
        "finish_reason",
        "reason",
        "created_at",
        "ended_at",
    )
    ordering = ("id",)
    extra = max_num = 0
    can_delete = False
    per_page = 50

    @display(description="Charge")
    def charge(self, reply: Message) -> str:
        return _link_to_charge(reply.pk)

    @display(description="Asked by")
    def asked_by(self, reply: Message) -> str:
        """Who pays it: the owner, or a member of the team with which the space is shared."""
        path = reverse("admin:accounts_user_change", args=(reply.asker_id,))
        return format_html('<a href="{}">{}</a>', path, reply.asker_id)

    @display(description="Why it failed")
    def reason(self, reply: Message) -> str:
        return str((reply.error or {}).get("code", ""))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Message]:
        """Without the texts, which are not shown and may be long."""
        replies = super().get_queryset(request).filter(role=Message.Role.ASSISTANT)
        return replies.defer("content", "reasoning")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Conversation)
class ConversationAdmin(ReadOnly, OfAnAccount, Acting):
    """Titles, instructions and messages belong to the user: they are not shown."""

    list_display = (
        "created_at",
        "id",
        "account",
        "messages_count",
        "updated_at",
        "last_status",
        "shared_at",
    )
    list_filter = (PeriodFilter, SharedFilter)
    account_order = ("-pinned", "-activity")
    search_help_text = "An account's address (or its beginning) or id, the id of a row, or a link"
    ordering = ("-pk",)
    sortable_by = ()
    fields: ClassVar[tuple[str, ...]] = (
        "id",
        "account",
        "created_at",
        "updated_at",
        "last_status",
        "messages_count",
        "characters",
        "shared_at",
        "open_to_team",
        "cost",
    )
    inlines = (ReplyInline,)
    actions_detail = ("revoke_link",)

    @display(
        description="Last message",
        label={
            "completed": "success",
            "running": "info",
            "failed": "danger",
            "cancelled": "warning",
        },
    )
    def last_status(self, conversation: Conversation) -> str | None:
        return conversation.last_status  # type: ignore[attr-defined, no-any-return]

    @display(description="Shared")
    def shared_at(self, conversation: Conversation) -> datetime | None:
        """When the snapshot was last updated."""
        return conversation.shared_at  # type: ignore[attr-defined, no-any-return]

    @display(description="Open to the owner's team")
    def open_to_team(self, conversation: Conversation) -> str | None:
        """By its space: to read or to write."""
        space = conversation.space
        return None if space is None or space.shared is None else space.get_shared_display()

    @display(description="Paid so far")
    def cost(self, conversation: Conversation) -> str:
        """What the owner paid for their replies; a member pays for those that they ask for."""
        replies = conversation.messages.filter(role=Message.Role.ASSISTANT)
        return usd_text(get_billed(conversation.account, replies))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        rows: QuerySet[Conversation] = super().get_queryset(request)
        rows = rows.annotate(last_status=F("leaf__status"), shared_at=F("share__updated_at"))
        return rows.defer("title", "system")

    def search(self, queryset: QuerySet[Conversation], term: str) -> QuerySet[Conversation]:
        """The search accepts links: a user may send us the link of a shared conversation."""
        token = term.rpartition("/")[2]
        return queryset.filter(share__in=shares_of(token))

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> list[Any]:
        """None where the conversation is not shared."""
        conversation = self.get_object(request, str(object_id))
        if conversation is None or conversation.shared_at is None:
            return []
        return super().get_actions_detail(request, object_id)

    @action(description="Revoke the link", icon="link_off", permissions=["act"])
    def revoke_link(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.act(request, object_id, RevokeLink)


@admin.register(Feedback)
class FeedbackAdmin(ReadOnly, OfAnAccount):
    """Users' feedback on replies, without the texts of messages."""

    list_display = ("created_at", "rating", "comment", "answered_by", "account")
    list_filter = (PeriodFilter, ("rating", ChoicesDropdownFilter))
    list_select_related = ("account", "message")
    ordering = ("-pk",)
    sortable_by = ()
    fields: ClassVar[tuple[str, ...]] = (
        "account",
        "rating",
        "comment",
        "answered_by",
        "charge",
        "created_at",
        "updated_at",
    )

    @display(description="Model")
    def answered_by(self, feedback: Feedback) -> str:
        return feedback.message.model

    @display(description="Charge")
    def charge(self, feedback: Feedback) -> str:
        return _link_to_charge(feedback.pk)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Feedback]:
        """Without the texts, which may be long."""
        rows: QuerySet[Feedback] = super().get_queryset(request)
        return rows.defer("message__content", "message__reasoning")


def find_conversation(wanted: UUID) -> Iterator[Related]:
    """The conversation of that id, or with the message of that id."""
    for message in Message.objects.filter(pk=wanted).only("conversation_id", "role", "status"):
        what = "reply" if message.role == Message.Role.ASSISTANT else "message"
        state = f"{what} {message.status}"
        yield Related("conversation", "conversations.conversation", message.conversation_id, state)
    for conversation in Conversation.objects.filter(pk=wanted).only("pk"):
        yield Related("conversation", "conversations.conversation", conversation.pk)


related.register(find_conversation)
