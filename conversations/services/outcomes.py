"""How replies end: with their money, their text and their events in one transaction."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from msgspec import Struct
from msgspec.structs import replace

from billing.services import endings
from billing.types import Ending, Resolution
from common.errors import DomainError
from common.ids import uuid7
from conversations import events, user_events
from conversations.models import Conversation, Message
from conversations.selectors.messages import spoken, state_of
from conversations.serializers import message_in_event
from events.selectors import list_data
from events.services import append
from events.types import NewEvent, ToUser
from inference.errors import CallCancelled, CallInterrupted, error_of, failure_of
from jobs import services as jobs
from jobs.models import Job
from jobs.selectors import is_unwanted


class Said(Struct, frozen=True, kw_only=True):
    """What a reply has brought. With a `failure` the text is no finished answer; `untold` are the
    events of what has not come to the log yet."""

    content: str = ""
    reasoning: str = ""
    finish_reason: str = ""
    failure: DomainError | None = None
    untold: Sequence[NewEvent] = ()

    @property
    def status(self) -> Message.Status:
        if self.failure is None:
            return Message.Status.COMPLETED
        is_wish = isinstance(self.failure, CallCancelled)
        return Message.Status.CANCELLED if is_wish else Message.Status.FAILED

    @property
    def error(self) -> dict[str, Any] | None:
        """What is wrong with it; nothing is with a reply that was not wanted any more."""
        if self.failure is None or self.status == Message.Status.CANCELLED:
            return None
        return error_of(self.failure)

    @property
    def reason(self) -> str:
        """Why a finished answer ends where it does."""
        return self.finish_reason if self.failure is None else ""


class Ended(Struct, frozen=True):
    """A reply that has ended. `message` is what `reply.ended` tells; None where it was deleted
    meanwhile, by itself or with its conversation."""

    resolution: Resolution
    message: dict[str, Any] | None


def conclude(*, reply_id: UUID, attempt: int, ending: Ending, said: Said) -> Ended:
    """End a reply with its charge. May be repeated."""
    if ending.failure is None and said.failure is not None:
        # The call went well, but what it brought is no answer.
        ending = replace(ending, failure=failure_of(said.failure))
    with transaction.atomic():
        resolution = endings.resolve(ending)
        if resolution.taken_over:
            said = replace(said, failure=CallInterrupted())
        return Ended(resolution, _end(reply_id, _lock(reply_id), attempt, said))


@transaction.atomic
def let_go(*, reply_id: UUID, attempt: int, said: Said) -> dict[str, Any] | None:
    """End a reply that was stopped, with what it has said, while its call goes on until it is known
    what it costs: `conclude` or `give_up` then ends the charge and the job, and nothing else.
    Returns what `Ended.message` is."""
    message = _lock(reply_id)
    is_ours = jobs.is_running(job_id=reply_id, attempt=attempt)
    return _finish(reply_id, message, said, is_ours=is_ours)


@transaction.atomic
def give_up(*, reply_id: UUID, attempt: int, failure: DomainError) -> dict[str, Any] | None:
    """End a reply that nobody can conclude, because its call was not begun or its process has
    died: at what it had said, and at what was saved of its charge. It is no failure if its user
    had stopped it. Returns what `Ended.message` is."""
    endings.expire(reply_id, failure_of(failure))
    message = _lock(reply_id)
    # Holds the job: from now on nothing comes to the log, and nobody stops it.
    is_ours = jobs.is_running(job_id=reply_id, attempt=attempt)
    said = Said(failure=CallCancelled() if is_unwanted(reply_id) else failure)
    if is_ours and message is not None and message.status == Message.Status.RUNNING:
        content, reasoning = spoken(message)
        said = replace(said, content=content, reasoning=reasoning)
    return _end(reply_id, message, attempt, said)


def _lock(reply_id: UUID) -> Message | None:
    """The reply, its conversation held; None where one of them was deleted."""
    held = Conversation.objects.select_for_update(of=("self",)).filter(messages=reply_id)
    if held.first() is None:
        return None
    # It may have been deleted, and the conversation not, while that was waited for.
    replies = Message.objects.select_related("conversation__account", "feedback")
    return replies.filter(pk=reply_id).first()


def _end(
    reply_id: UUID, message: Message | None, attempt: int, said: Said
) -> dict[str, Any] | None:
    """Write the end, unless the job is no longer this attempt's. Returns what there is to tell of
    the reply, which is None where it was deleted."""
    is_ours = jobs.end(job_id=reply_id, attempt=attempt, status=Job.Status(said.status.value))
    return _finish(reply_id, message, said, is_ours=is_ours)


def _finish(
    reply_id: UUID, message: Message | None, said: Said, *, is_ours: bool
) -> dict[str, Any] | None:
    """The part of the end that its user sees, unless they were let go before."""
    is_due = is_ours and _is_open(reply_id, message)
    if message is not None and is_due:
        _write(message, said)
    told = None if message is None else _told(message)
    if is_due:
        _tell_end(reply_id, message, told, said)
    return told


def _tell_end(
    reply_id: UUID, message: Message | None, told: dict[str, Any] | None, said: Said
) -> None:
    """To the reply's readers, and to all devices of its user."""
    if message is None:
        append(stream_id=reply_id, events=[events.ended(told)])
        return
    to_user = ToUser(message.account_id, [user_events.reply_ended(message)])
    append(stream_id=reply_id, events=[*said.untold, events.ended(told)], to_user=to_user)


def _is_open(reply_id: UUID, message: Message | None) -> bool:
    """Is the end yet to be told?"""
    if message is not None:
        return message.status == Message.Status.RUNNING
    return not list_data(reply_id, event_type="reply.ended", after_seq=0)


def _write(message: Message, said: Said) -> None:
    message.status = said.status
    message.content = said.content
    message.reasoning = said.reasoning
    message.finish_reason = said.reason
    message.error = said.error
    message.ended_at = Now()
    message.save(
        update_fields=["status", "content", "reasoning", "finish_reason", "error", "ended_at"]
    )
    message.refresh_from_db(fields=["ended_at"])
    Conversation.objects.filter(pk=message.conversation_id).update(
        characters=F("characters") + len(said.content) + len(said.reasoning),
        activity=uuid7(),
        updated_at=Now(),
    )


def _told(message: Message) -> dict[str, Any]:
    return message_in_event(state_of(message.conversation.account, message))
