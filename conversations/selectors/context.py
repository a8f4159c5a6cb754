"""Reads a model's input from the rows of a conversation."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from ai.catalog.types import Model
from ai.inference.errors import ContentBlocked, InputTooLong, NoText, RequestRefusedByProvider
from conversations.context import (
    MAX_CHARACTERS,
    Context,
    File,
    Length,
    Turn,
    assemble,
    check_fits,
    fitting,
    length_of,
    length_of_bytes,
    room_of,
    system_text,
    user_turn,
)
from conversations.errors import ReplyRunning
from conversations.models import Conversation, Message
from conversations.selectors.branches import get_branch
from conversations.selectors.messages import attachments_of
from media.files.errors import FileGone
from media.files.models import Upload
from media.files.selectors.uploads import read_text

_REFUSALS = {error.code for error in (ContentBlocked, InputTooLong, RequestRefusedByProvider)}


def context_for(
    *,
    conversation: Conversation,
    model: Model,
    parent_id: UUID | None,
    content: str,
    uploads: Sequence[Upload],
    instructions: str,
    output_bound: int,
    is_free: bool,
) -> Context:
    """The context for answering `content`, which follows the message `parent_id` of the user's
    conversation, sent now or answered again. `instructions` are the user's for this model.

    `output_bound` is the bound of the answer, in tokens. Raises MessageTooLong, ReplyRunning where
    a reply before it is still being written, and StorageUnavailable where a file cannot be read
    now.
    """
    room = room_of(model, output_bound, is_free=is_free)
    system = _system(conversation, instructions)
    if system:
        room = room.beside(length_of(system))
    last = _last(content, uploads, room, model, is_free=is_free)
    branch = get_branch(conversation, parent_id)
    _check_ended(branch)
    earlier = list(filter(_has_text, branch))
    refused = _refused(branch)
    answerable = [message for message in earlier if message.pk not in refused]
    kept = fitting(_turns(answerable[::-1], room), room.beside(length_of(last.text)))
    return assemble(system, [*kept, last], omitted=len(earlier) - len(kept))


def attached_to(message: Message) -> list[Upload]:
    """The files of a message, in the order of the request."""
    return attachments_of([message])[message.pk]


def _system(conversation: Conversation, instructions: str) -> str:
    space = conversation.space
    return system_text(
        of_conversation=conversation.system,
        of_space=space.instructions if space else "",
        of_user=instructions,
    )


def _last(
    content: str, uploads: Sequence[Upload], room: Length, model: Model, *, is_free: bool
) -> Turn:
    """The turn to answer. Files that cannot fit are not read."""
    files = [(upload.name, upload.size) for upload in uploads if upload.is_text]

    def check(length: Length) -> None:
        check_fits(length, room, model=model, files=files, is_free=is_free)

    check(_least(content, uploads))
    turn = _turn_of(content, uploads)
    check(length_of(turn.text))
    return turn


def _turns(branch: Sequence[Message], room: Length) -> Iterator[Turn]:
    """The turns of these messages of a branch, in their order, until one cannot fit."""
    attachments = attachments_of(message for message in branch if message.has_files)
    for message in branch:
        uploads = attachments[message.pk]
        if not _least(message.content, uploads).fits(room):
            return
        if message.role == Message.Role.USER:
            yield _turn_of(message.content, uploads)
        else:
            yield Turn("assistant", message.content)


def _check_ended(branch: Sequence[Message]) -> None:
    """Raises ReplyRunning: the text of a running reply may be incomplete in the context."""
    if any(message.status == Message.Status.RUNNING for message in branch):
        raise ReplyRunning


def _has_text(message: Message) -> bool:
    """Has the message text, or is it a user's, which may consist of a file?"""
    return message.role == Message.Role.USER or bool(message.content.strip())


def _refused(branch: Sequence[Message]) -> set[UUID | None]:
    """The messages that a provider or a model has refused: it would refuse later calls with them
    too."""
    return {reply.parent_id for reply in branch if _is_refusal(reply)}


def _is_refusal(message: Message) -> bool:
    """A refusal without text: the text of others is sent to the next model."""
    error = message.error or {}
    code, reason = error.get("code"), error.get("finish_reason")
    is_refused = code in _REFUSALS or (code, reason) == (NoText.code, "content_filter")
    return is_refused and not message.content.strip()


def _least(content: str, uploads: Sequence[Upload]) -> Length:
    files = length_of_bytes(sum(upload.size for upload in uploads if upload.is_text))
    own = length_of(content)
    return Length(own.tokens + files.tokens, own.characters + files.characters)


def _turn_of(content: str, uploads: Sequence[Upload]) -> Turn:
    return user_turn(content, [_file(upload) for upload in uploads])


def _file(upload: Upload) -> File:
    return File(upload.pk, upload.name, upload.media_type, upload.size, _text(upload))


def _text(upload: Upload) -> str | None:
    """None where models cannot read the file: a deleted file does not end its conversation."""
    if not upload.is_text:
        return None
    try:
        return read_text(upload, limit_characters=MAX_CHARACTERS)
    except FileGone:
        return None
