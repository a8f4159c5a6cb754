"""Removes a deleted user from what others were told of shared spaces, in their own streams."""

from collections.abc import Collection, Iterator
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery

from accounts.models import User
from conversations.models import Conversation, Message
from conversations.types import DELETED
from events.services import rewrite_for_user
from teams.selectors.members import past_mates_of

_TITLED = ("conversation.created", "conversation.updated", "conversation.replied")
_AUTHORS = (
    Message.objects.filter(conversation=OuterRef("pk"), parent=None)
    .order_by("created_at", "id")
    .values("author_id")
)


def erase_from_events(user: User, after: str) -> Iterator[str]:
    """Overwrite the user's name, the names of their spaces, and the titles of their conversations
    and of those that begin with their words, in the streams of all who were in a team with them.
    What does not exist any more is overwritten, too, because no row says whose it was. The marks
    are the ids of those whose streams are done.

    Call it after `erase_author`: a change of a conversation whose title is not overwritten yet
    would bring that title into the streams again."""

    def overwrite(told: list[dict[str, Any]]) -> None:
        _overwrite_spaces(told, user)
        _overwrite_titles(told, user)

    for mate_id in past_mates_of(user, after=after):
        rewrite_for_user(user_id=mate_id, types=("space.updated", *_TITLED), rewrite=overwrite)
        yield str(mate_id)


def _overwrite_spaces(told: list[dict[str, Any]], user: User) -> None:
    for data in told:
        space = data.get("space")
        if space is not None and space["owner"]["id"] == str(user.pk):
            space["name"], space["owner"]["name"] = DELETED, ""


def _overwrite_titles(told: list[dict[str, Any]], user: User) -> None:
    rows = list(_titled(told))
    kept = _kept_titles({conversation_id for conversation_id, _ in rows}, user)
    for conversation_id, row in rows:
        if conversation_id not in kept or kept[conversation_id] not in (None, row["title"]):
            row["title"] = DELETED


def _titled(told: list[dict[str, Any]]) -> Iterator[tuple[UUID, dict[str, Any]]]:
    """What has a title in these data, with the id of its conversation."""
    for data in told:
        if "conversation" in data:
            yield UUID(data["conversation"]["id"]), data["conversation"]
        elif "conversation_id" in data:
            yield UUID(data["conversation_id"]), data


def _kept_titles(conversation_ids: Collection[UUID], user: User) -> dict[UUID, str | None]:
    """The title that is kept of each conversation of others, None where all are: of one that begins
    with the user's words the title that somebody has given it."""
    others = Conversation.objects.filter(pk__in=conversation_ids).exclude(account=user)
    kept: dict[UUID, str | None] = {}
    for conversation in others.annotate(first_author=Subquery(_AUTHORS[:1])):
        is_given = conversation.title_source == Conversation.TitleSource.USER
        is_theirs = conversation.first_author == user.pk
        title = conversation.title if is_given else DELETED
        kept[conversation.pk] = title if is_theirs else None
    return kept
