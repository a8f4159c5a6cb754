"""Prepares replies: everything that is known before a reply begins."""

from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID

from msgspec import Struct
from msgspec.structs import asdict, replace

from accounts.models import User
from accounts.selectors.preferences import Agent, get_agent, list_enabled
from ai.catalog.selectors import get_catalog
from ai.catalog.types import Model
from ai.inference.bounds import DEFAULT_OUTPUT_TOKENS, output_bound
from ai.providers.types import ReasoningEffort
from billing.selectors.default_model import default_chat_model
from billing.selectors.entitlements import get_entitlements
from billing.types import FREE_OUTPUT_TOKENS, FREE_PLAN
from common.errors import ValidationFailed
from conversations.context import Context
from conversations.models import Conversation, Message
from conversations.selectors.context import attached_to, context_for
from conversations.selectors.messages import get_message, id_of, newest_reply
from media.files.models import Upload
from media.files.selectors.uploads import get_uploads


class _Asked(Struct, frozen=True, kw_only=True):
    """The message to answer: `question`, or one that is not written yet, which consists of
    `content`, `uploads` and `client_id`, and follows `parent_id`. `follows_leaf`: the reply may
    begin only while `parent_id` is the end of the shown branch."""

    question: Message | None = None
    parent_id: UUID | None
    follows_leaf: bool = False
    content: str
    client_id: str | None = None
    uploads: Sequence[Upload]


class PreparedReply(_Asked, frozen=True, kw_only=True):
    """A reply to begin. `user` asks for it and pays it. A repeat follows the failed reply.
    `max_output_tokens` is the bound of the reply, if it can be paid."""

    user: User
    conversation: Conversation
    model: Model
    effort: ReasoningEffort | None
    max_output_tokens: int
    is_free: bool
    context: Context

    @property
    def author_id(self) -> UUID | None:
        """The user, where the conversation is somebody else's."""
        return None if self.conversation.account_id == self.user.pk else self.user.pk


def prepare_message(
    user: User,
    conversation: Conversation,
    *,
    content: str,
    client_id: str | None = None,
    model: str = "",
    upload_ids: Sequence[UUID] = (),
    reasoning_effort: ReasoningEffort | None = None,
    **place: UUID | str | None,
) -> PreparedReply:
    """The reply to a new message of the user's, after the message `parent_id`: None begins at the
    root, and without it the message goes to the end of the shown branch. `client_id` is the
    client's id for the new message.

    Raises MessageNotFound, ValidationFailed, UploadNotFound, MessageTooLong, ReplyRunning.
    """
    parent_id = conversation.leaf_id
    if "parent_id" in place:
        parent = place["parent_id"]
        parent_id = None if parent is None else id_of(conversation, "parent_id", parent)
    asked = _Asked(
        parent_id=parent_id,
        follows_leaf="parent_id" not in place,
        content=content,
        client_id=client_id,
        uploads=get_uploads(user, upload_ids),
    )
    return _prepare(user, conversation, asked, model or conversation.model, reasoning_effort)


def prepare_regeneration(
    user: User,
    conversation: Conversation,
    message: Message,
    *,
    model: str = "",
    reasoning_effort: ReasoningEffort | None = None,
) -> PreparedReply:
    """Another reply beside an existing one, or a reply to one of the user's messages. If no model
    is named, the model of that reply answers, or that of the newest reply to that message. Raises
    ValidationFailed, MessageTooLong."""
    earlier = message if message.role == Message.Role.ASSISTANT else newest_reply(message)
    model = model or (earlier.model if earlier else conversation.model)
    if message.role == Message.Role.ASSISTANT:
        message = get_message(user, conversation.pk, cast(UUID, message.parent_id))
    asked = _Asked(
        question=message,
        parent_id=message.parent_id,
        content=message.content,
        uploads=attached_to(message),
    )
    return _prepare(user, conversation, asked, model, reasoning_effort)


def prepare_repeat(
    user: User,
    conversation: Conversation,
    failed: Message,
    *,
    model: str = "",
    reasoning_effort: ReasoningEffort | None = None,
    **_said: Any,
) -> PreparedReply:
    """The reply to a repeated request whose first reply failed: the message exists already, and the
    shown branch has no newer messages. Raises the errors of `prepare_regeneration`."""
    prepared = prepare_regeneration(
        user, conversation, failed, model=model, reasoning_effort=reasoning_effort
    )
    return replace(prepared, parent_id=failed.pk, follows_leaf=True)


def _prepare(
    user: User,
    conversation: Conversation,
    asked: _Asked,
    wanted: str,
    effort: ReasoningEffort | None,
) -> PreparedReply:
    agent = _agent(user, wanted)
    model = _model(agent.model)
    is_free = user.plan == FREE_PLAN
    bound = output_bound(model, FREE_OUTPUT_TOKENS if is_free else DEFAULT_OUTPUT_TOKENS)
    return PreparedReply(
        **asdict(asked),
        user=user,
        conversation=conversation,
        model=model,
        effort=_effort(model, effort or agent.reasoning_effort),
        max_output_tokens=bound,
        is_free=is_free,
        context=context_for(
            conversation=conversation,
            model=model,
            parent_id=asked.parent_id,
            content=asked.content,
            uploads=asked.uploads,
            instructions=agent.instructions,
            output_bound=bound,
            is_free=is_free,
        ),
    )


def _agent(user: User, name: str) -> Agent:
    """The user's settings for the model of this name, or for the default model where no name is
    given. One query, or the queries of the entitlements as well. Raises ValidationFailed."""
    if name:
        return get_agent(user, _model(name).id)
    enabled = list_enabled(user)
    name = default_chat_model(enabled, lambda: get_entitlements(user).models) or ""
    for agent in enabled:
        if agent.model == name:
            return agent
    raise ValidationFailed.of("model", "You have disabled all models. Name one, or enable one.")


def _model(name: str) -> Model:
    """The chat model of this name. Raises ValidationFailed."""
    model = get_catalog().find(name)
    if model is None or model.modality != "chat":
        raise ValidationFailed.of("model", f"There is no chat model {name}.")
    return model


def _effort(model: Model, wanted: str) -> ReasoningEffort | None:
    """The reasoning effort; None for models that do not reason, which would refuse the parameter,
    and where neither message nor preferences set one."""
    return cast(ReasoningEffort, wanted) if model.reasoning and wanted else None
