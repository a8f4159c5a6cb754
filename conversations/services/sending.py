"""Starting replies: rows, hold, job and stream in one transaction."""

from typing import cast
from uuid import UUID

from django.db import connection, transaction
from msgspec import Struct, json

from ai.generations.types import TOTAL_SECONDS
from ai.inference.availability import check, network_of
from ai.inference.bounds import affordable_output
from ai.inference.holds import hold_request
from ai.inference.types import ChatCall
from billing.errors import IdempotencyInProgress
from billing.selectors import free_budget
from billing.selectors.affordability import get_spending_power
from billing.services import idempotency
from billing.services.holds import hold
from billing.types import RequestKey
from common.errors import DomainError, NotFound
from common.ids import as_uuid, uuid7
from conversations import user_events
from conversations.errors import ConversationFull, ReplyRunning
from conversations.models import Attachment, Conversation, Message, Space
from conversations.selectors.access import access_to, check_writes
from conversations.selectors.conversations import default_title
from conversations.selectors.messages import get_made, get_message, is_answer
from conversations.services.preparation import PreparedReply
from conversations.services.publishing import for_all
from conversations.types import JOB, MAX_CHARACTERS, MAX_MESSAGES, STREAM
from events.services import open_stream
from media.files.services.uploads import attach
from work.jobs import services as jobs
from work.jobs.running import RunningJob

_LOCK = "SELECT * FROM reply_lock(%s, %s, %s, %s, %s)"
_WRITE = "SELECT * FROM reply_write(%s, %s, %s, %s, %s, %s, %s)"


class StartedReply(Struct, frozen=True, kw_only=True):
    """A reply whose rows, hold, job and stream are written. The process that started the reply
    makes `call` at once. `is_first`: the conversation has no other messages, and no title from its
    user or a model."""

    reply: Message
    question: Message
    call: ChatCall
    job: RunningJob
    is_first: bool


class _Locked(Struct, frozen=True):
    """A conversation that is locked until the transaction ends, as reply_lock returns it."""

    title: str
    title_source: str
    leaf_id: UUID | None
    messages_count: int
    characters: int
    has_come: bool
    is_running: bool
    is_first: bool

    @property
    def is_untitled(self) -> bool:
        return self.title_source == Conversation.TitleSource.FIRST_MESSAGE


def start(
    *, prepared: PreparedReply, request_key: RequestKey | None, owner_id: UUID, request_id: str
) -> StartedReply | Message:
    """Start a reply, all of it or nothing, in the process with this `owner_id`. Returns the reply
    itself where the request was sent before and its reply has been billed, or stopped.

    Raises IdempotencyMismatch, IdempotencyInProgress (also for a message whose `id` another request
    uses at the same moment), ReplyDeleted, NotFound, ReplyRunning, ConversationFull, TooManyRuns,
    ProviderNotAvailable, CallsKeepFailing, FreeBudgetSpent, EmailUnverified and PaymentRequired;
    ReadOnly where the space is not shared to be written in any more.
    """
    # Looked up before the wallet is locked, because it may take a while; raised after other checks.
    spent = free_budget.find_refusal(prepared.user, prepared.model.id) if prepared.is_free else None
    with transaction.atomic():
        return _start(prepared, request_key, owner_id, request_id, spent)


def _start(
    prepared: PreparedReply,
    request_key: RequestKey | None,
    owner_id: UUID,
    request_id: str,
    spent: DomainError | None,
) -> StartedReply | Message:
    user = prepared.user
    earlier = idempotency.claim(account=user, request_key=request_key)
    if earlier is not None and (reply := _find_earlier(prepared, earlier)):
        return reply
    locked = _lock(prepared)
    _check_state(locked, prepared)
    _check_room(locked, prepared)
    if spent:
        raise spent
    # Before the reply's own id: the messages of a conversation sort by their ids.
    question_id = prepared.question.pk if prepared.question else uuid7()
    call = _call(prepared, request_id, owner_id)
    hold(hold_request(call, owner_id))
    started = _write(locked, prepared, question_id, call, owner_id)
    if request_key is not None:
        idempotency.store(account=user, request_key=request_key, result=started.reply.pk)
    return started


def _find_earlier(prepared: PreparedReply, reply_id: UUID) -> Message | None:
    """The reply that an earlier identical request created; None where that reply failed and was not
    billed, so that the request may be carried out again. Raises IdempotencyInProgress,
    ReplyDeleted."""
    reply = get_made(prepared.user, reply_id)
    if is_answer(reply):
        return reply
    if prepared.question is None:
        # The reply has failed since this one was prepared. Its question exists, so the next
        # identical request is prepared as a repeat.
        raise IdempotencyInProgress(retry_after=1)
    return None


def _lock(prepared: PreparedReply) -> _Locked:
    """Raises NotFound; where the conversation is somebody else's also ReadOnly."""
    place = (prepared.conversation.account_id, prepared.conversation.pk)
    question_id = prepared.question.pk if prepared.question else None
    client_id = None if prepared.question else prepared.client_id
    client_uuid = as_uuid(client_id) if client_id else None
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, (*place, question_id, client_id, client_uuid))
        row = cursor.fetchone()
    if row is None:
        raise NotFound
    if prepared.author_id is not None:
        # By now: the user may have left the team while this waited for the lock.
        check_writes(access_to(prepared.user, prepared.conversation.pk))
    return _Locked(*row)


def _check_state(locked: _Locked, prepared: PreparedReply) -> None:
    """Raises IdempotencyInProgress where another request has created the message meanwhile,
    ReplyRunning (also where another message came before this one), and NotFound where the message
    to be answered or followed was deleted."""
    if locked.has_come:
        raise IdempotencyInProgress(retry_after=1)
    has_moved = prepared.follows_leaf and locked.leaf_id != prepared.parent_id
    if has_moved or locked.is_running:
        raise ReplyRunning
    follows = prepared.parent_id if prepared.question is None else prepared.question.pk
    # The end of the shown branch exists; any other message may have been deleted since.
    if follows is not None and not prepared.follows_leaf:
        get_message(prepared.user, prepared.conversation.pk, follows)


def _check_room(locked: _Locked, prepared: PreparedReply) -> None:
    """Raises ConversationFull, TooManyRuns, ProviderNotAvailable, CallsKeepFailing."""
    new = 2 if prepared.question is None else 1
    if locked.messages_count + new > MAX_MESSAGES:
        raise ConversationFull
    if locked.characters + _new_characters(prepared) > MAX_CHARACTERS:
        raise ConversationFull
    jobs.check_room(account=prepared.user, new=1)
    check(prepared.model, prepared.user.pk, network_of(prepared.user))


def _call(prepared: PreparedReply, request_id: str, owner_id: UUID) -> ChatCall:
    bound, messages = prepared.max_output_tokens, prepared.context.messages
    if not prepared.is_free:
        bound = affordable_output(
            get_spending_power(prepared.user), prepared.model, messages, bound
        )
    return ChatCall(
        account_id=prepared.user.pk,
        api_key_id=None,
        source="web",
        model=prepared.model,
        messages=messages,
        max_output_tokens=bound,
        reasoning_effort=prepared.effort,
        stream=True,
        request_id=request_id,
        total_seconds=TOTAL_SECONDS,
        charge_id=uuid7(),
        # The same plan that the bounds and the day's budget were computed with, even if it has
        # changed.
        free_window=prepared.is_free,
        held_by=owner_id,
        free_network=network_of(prepared.user),
    )


def _write(
    locked: _Locked, prepared: PreparedReply, question_id: UUID, call: ChatCall, owner_id: UUID
) -> StartedReply:
    user, conversation = prepared.user, prepared.conversation
    reply_id = cast(UUID, call.charge_id)
    title = locked.title
    if locked.is_untitled and not title:
        title = default_title(prepared.content, prepared.uploads)
    question, reply = _write_messages(prepared, question_id, call, title)
    _attach(question, prepared)
    job = jobs.begin(job_id=reply_id, kind=JOB, account=user, owner_id=owner_id)
    began = user_events.reply_began(conversation.pk, title, reply)
    open_stream(
        stream_id=reply_id,
        kind=STREAM,
        account=user,
        to_users=for_all(conversation.account_id, _space_now(conversation), began),
    )
    return StartedReply(
        reply=reply,
        question=question,
        call=call,
        job=job,
        is_first=locked.is_untitled and locked.is_first,
    )


def _space_now(conversation: Conversation) -> Space | None:
    """The space of a conversation that is locked. One that was shared when the reply was prepared
    may have been taken back since, or the conversation have left it."""
    space = conversation.space
    if space is None or space.shared is None:
        return space
    return Space.objects.filter(conversations=conversation.pk).first()


def _write_messages(
    prepared: PreparedReply, question_id: UUID, call: ChatCall, title: str
) -> tuple[Message, Message]:
    """Write the message to be answered, if it is new, and the reply; and show both."""
    user_messages = [] if prepared.question else [_user_message(prepared, question_id)]
    messages = json.encode([*user_messages, _reply(prepared, call, question_id)]).decode()
    place = (prepared.conversation.account_id, prepared.author_id, prepared.conversation.pk)
    changes = (title, uuid7(), _new_characters(prepared))
    *written, reply = Message.objects.raw(_WRITE, (*place, *changes, messages))
    return prepared.question or written[0], reply


def _user_message(prepared: PreparedReply, question_id: UUID) -> dict[str, object]:
    """The user's message."""
    return {
        "id": question_id,
        "parent_id": prepared.parent_id,
        "role": Message.Role.USER,
        "content": prepared.content,
        "client_id": prepared.client_id,
        "model": "",
        "reasoning_effort": "",
        "status": Message.Status.COMPLETED,
        "context": {},
    }


def _reply(prepared: PreparedReply, call: ChatCall, question_id: UUID) -> dict[str, object]:
    return {
        "id": call.charge_id,
        "parent_id": question_id,
        "role": Message.Role.ASSISTANT,
        "content": "",
        "model": call.model.id,
        "reasoning_effort": prepared.effort or "",
        "status": Message.Status.RUNNING,
        "context": prepared.context.report,
    }


def _attach(question: Message, prepared: PreparedReply) -> None:
    """Attach the files of a new message."""
    if prepared.question is None and prepared.uploads:
        attach(uploads=prepared.uploads)
        Attachment.objects.bulk_create(
            [Attachment(message=question, upload=upload) for upload in prepared.uploads]
        )


def _new_characters(prepared: PreparedReply) -> int:
    """The number of characters that the new message adds to the conversation."""
    return 0 if prepared.question else len(prepared.content)
