"""Beginning replies: rows, hold, job and stream in one transaction."""

from typing import Any, cast
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from msgspec import Struct

from billing.errors import IdempotencyInProgress
from billing.selectors import free_budget
from billing.selectors.affordability import get_spending_power
from billing.services import idempotency
from billing.services.holds import hold
from billing.types import RequestKey
from common.errors import DomainError
from common.ids import uuid7
from conversations import user_events
from conversations.errors import ConversationFull, ReplyRunning
from conversations.models import Attachment, Conversation, Message
from conversations.selectors.beginnings import beginning
from conversations.selectors.messages import called, get_made, get_message, is_answer
from conversations.services.drafts import Draft
from conversations.services.locks import lock_conversation
from conversations.types import JOB, MAX_CHARACTERS, MAX_MESSAGES, STREAM
from events.services import open_stream
from events.types import ToUser
from files.services.uploads import attach
from generations.types import TOTAL_SECONDS
from inference.bounds import affordable_output
from inference.errors import ProviderNotAvailable
from inference.holds import hold_request
from inference.types import ChatCall
from jobs import services as jobs
from jobs.running import RunningJob
from providers.registry import get_chat_wire


class Begun(Struct, frozen=True, kw_only=True):
    """A reply whose rows, hold, job and stream stand. `call` is to be made at once by the process
    that asked for it. `is_first`: nothing else was said, and the conversation has no title of
    anybody's yet."""

    reply: Message
    question: Message
    call: ChatCall
    job: RunningJob
    is_first: bool


def begin(
    *, draft: Draft, request_key: RequestKey | None, owner_id: UUID, request_id: str
) -> Begun | Message:
    """Begin a reply, all of it or nothing, in the process of that `owner_id`. Returns the reply
    itself where the request was sent before and its reply has been billed, or stopped.

    Raises IdempotencyMismatch, IdempotencyInProgress (also for a message whose `id` has come with
    another request at the same moment), ReplyDeleted, NotFound, ReplyRunning, ConversationFull,
    TooManyRuns, ProviderNotAvailable, FreeBudgetSpent, EmailUnverified and PaymentRequired.
    """
    # Asked before the wallet is taken, because it may take a while, and told when its turn comes.
    spent = free_budget.find_refusal(draft.user, draft.model.id) if draft.is_free else None
    with transaction.atomic():
        return _begin(draft, request_key, owner_id, request_id, spent)


def _begin(
    draft: Draft,
    request_key: RequestKey | None,
    owner_id: UUID,
    request_id: str,
    spent: DomainError | None,
) -> Begun | Message:
    user = draft.user
    made = idempotency.claim(account=user, request_key=request_key)
    if made is not None and (reply := _find_made(draft, made)):
        return reply
    conversation = lock_conversation(user, draft.conversation.pk)
    _check_state(conversation, draft)
    _check_room(conversation, draft)
    if spent:
        raise spent
    question = draft.question or _say(conversation, draft)
    call = _call(draft, request_id)
    hold(hold_request(call, owner_id))
    begun = _write(conversation, draft, question, call, owner_id)
    if request_key is not None:
        idempotency.store(account=user, request_key=request_key, result=begun.reply.pk)
    return begun


def _find_made(draft: Draft, reply_id: UUID) -> Message | None:
    """The reply that the request has brought; None where that failed and was not billed, so that
    the request may be carried out again. Raises IdempotencyInProgress, ReplyDeleted."""
    reply = get_made(draft.user, reply_id)
    if is_answer(reply):
        return reply
    if draft.question is None:
        # It has failed since the draft was made: what it was asked stands there, and the request
        # is drafted as its repeat when it comes again.
        raise IdempotencyInProgress(retry_after=1)
    return None


def _check_state(conversation: Conversation, draft: Draft) -> None:
    """Raises IdempotencyInProgress where the message has come with another request meanwhile,
    ReplyRunning, also where another message came before this one, and NotFound where the message
    that is to be answered or followed was deleted."""
    client_id = draft.client_id if draft.question is None else None
    if client_id is not None and conversation.messages.filter(called(client_id)).exists():
        raise IdempotencyInProgress(retry_after=1)
    has_moved = draft.follows_leaf and conversation.leaf_id != draft.parent_id
    if has_moved or conversation.messages.filter(status=Message.Status.RUNNING).exists():
        raise ReplyRunning
    follows = draft.parent_id if draft.question is None else draft.question.pk
    # The end of what is shown is there; any other message may have been deleted since.
    if follows is not None and not draft.follows_leaf:
        get_message(draft.user, conversation.pk, follows)


def _check_room(conversation: Conversation, draft: Draft) -> None:
    """Raises ConversationFull, TooManyRuns, ProviderNotAvailable."""
    messages, characters = _counted(draft)
    if conversation.messages_count + messages > MAX_MESSAGES:
        raise ConversationFull
    if conversation.characters + characters > MAX_CHARACTERS:
        raise ConversationFull
    jobs.check_room(account=draft.user, new=1)
    if get_chat_wire(draft.model.provider) is None:
        raise ProviderNotAvailable


def _call(draft: Draft, request_id: str) -> ChatCall:
    bound, messages = draft.max_output_tokens, draft.context.messages
    if not draft.is_free:
        bound = affordable_output(get_spending_power(draft.user), draft.model, messages, bound)
    return ChatCall(
        account_id=draft.user.pk,
        api_key_id=None,
        source="web",
        model=draft.model,
        messages=messages,
        max_output_tokens=bound,
        reasoning_effort=draft.effort,
        stream=True,
        request_id=request_id,
        total_seconds=TOTAL_SECONDS,
        charge_id=uuid7(),
        # As its bounds, and the day's budget, were found: not as the plan may be now.
        free_window=draft.is_free,
        is_held=True,
    )


def _write(
    conversation: Conversation, draft: Draft, question: Message, call: ChatCall, owner_id: UUID
) -> Begun:
    user, reply_id = draft.user, cast(UUID, call.charge_id)
    is_first = _is_untitled(conversation) and _is_first(conversation, question)
    reply = Message.objects.create(
        id=reply_id,
        conversation=conversation,
        account_id=user.pk,
        parent=question,
        role=Message.Role.ASSISTANT,
        model=call.model.id,
        reasoning_effort=draft.effort or "",
        status=Message.Status.RUNNING,
        context=draft.context.report,
    )
    title = _move_on(conversation, draft, reply)
    job = jobs.begin(job_id=reply_id, kind=JOB, account=user, owner_id=owner_id)
    began = user_events.reply_began(conversation.pk, title, reply)
    open_stream(stream_id=reply_id, kind=STREAM, account=user, to_user=ToUser(user.pk, [began]))
    return Begun(reply=reply, question=question, call=call, job=job, is_first=is_first)


def _say(conversation: Conversation, draft: Draft) -> Message:
    """The user's message."""
    message = Message.objects.create(
        conversation=conversation,
        account_id=draft.user.pk,
        parent_id=draft.parent_id,
        role=Message.Role.USER,
        content=draft.content,
        client_id=draft.client_id,
    )
    attach(uploads=draft.uploads)
    Attachment.objects.bulk_create(
        [Attachment(message=message, upload=upload) for upload in draft.uploads]
    )
    return message


def _move_on(conversation: Conversation, draft: Draft, reply: Message) -> str:
    """Count what is new, and show it. Returns the conversation's title."""
    messages, characters = _counted(draft)
    title = conversation.title
    changes: dict[str, Any] = {
        "leaf": reply,
        "messages_count": F("messages_count") + messages,
        "characters": F("characters") + characters,
        "activity": uuid7(),
        "updated_at": Now(),
    }
    if _is_untitled(conversation) and not conversation.title:
        title = changes["title"] = beginning(draft.content, draft.uploads)
    Conversation.objects.filter(pk=conversation.pk).update(**changes)
    return title


def _counted(draft: Draft) -> tuple[int, int]:
    """The messages and characters that are new before the reply has any."""
    return (2, len(draft.content)) if draft.question is None else (1, 0)


def _is_first(conversation: Conversation, question: Message) -> bool:
    """Has nothing else been said yet, whatever has failed?"""
    silent = Q(role=Message.Role.ASSISTANT, content="", reasoning="")
    others = conversation.messages.exclude(Q(pk=question.pk) | silent)
    return not others.exists()


def _is_untitled(conversation: Conversation) -> bool:
    return conversation.title_source == Conversation.TitleSource.FIRST_MESSAGE
