"""What a model is given of a conversation, read from its rows."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from django.db.models import Prefetch, Q

from accounts.models import User
from accounts.selectors.preferences import get_preference
from catalog.types import Model
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
from conversations.models import Attachment, Conversation, Message
from files.models import Upload
from files.services.uploads import read_text

# Messages that are read at once, until the window is full.
_PAGE = 50
_RUNNING = Message.Status.RUNNING


def context_for(
    *,
    user: User,
    conversation: Conversation,
    model: Model,
    parent_id: UUID | None,
    content: str,
    uploads: Sequence[Upload],
    output_bound: int,
    is_free: bool,
) -> Context:
    """What a call is given to answer `content`, which follows the message `parent_id` of the user's
    conversation, be it sent now or answered anew.

    `output_bound` is the most that the answer may be, in tokens. Raises MessageTooLong.
    """
    room = room_of(model, output_bound, is_free=is_free)
    system = _system(user, conversation, model)
    if system:
        room = room.beside(length_of(system))
    last = _last(content, uploads, room, model, is_free=is_free)
    path = _path(user, conversation, parent_id)
    kept = fitting(_turns(path, room), room.beside(length_of(last.text)))
    return assemble(system, [*kept, last], omitted=len(path) - len(kept))


def attached_to(message: Message) -> list[Upload]:
    """The files of one of the user's messages, in the order in which they were named."""
    attached = Attachment.objects.filter(message=message).select_related("upload")
    return [attachment.upload for attachment in attached.order_by("id")]


def _system(user: User, conversation: Conversation, model: Model) -> str:
    space = conversation.space
    return system_text(
        of_conversation=conversation.system,
        of_space=space.instructions if space else "",
        of_user=get_preference(user, model.id).instructions,
    )


def _last(
    content: str, uploads: Sequence[Upload], room: Length, model: Model, *, is_free: bool
) -> Turn:
    """The turn that is to be answered. Files that cannot fit are not even read."""
    files = [(upload.name, upload.size) for upload in uploads if upload.is_text]

    def check(length: Length) -> None:
        check_fits(length, room, model=model, files=files, is_free=is_free)

    check(_least(content, uploads))
    turn = _said(content, uploads)
    check(length_of(turn.text))
    return turn


def _path(user: User, conversation: Conversation, parent_id: UUID | None) -> list[UUID]:
    """The messages that say something, from that one up to its root."""
    says_something = Q(role=Message.Role.USER) | ~(Q(content="") | Q(status=_RUNNING))
    own = Message.objects.filter(conversation=conversation, account_id=user.pk)
    parents = dict(own.values_list("id", "parent_id"))
    saying = set(own.filter(says_something).values_list("id", flat=True))
    path: list[UUID] = []
    while parent_id is not None:
        if parent_id in saying:
            path.append(parent_id)
        parent_id = parents[parent_id]
    return path


def _turns(path: Sequence[UUID], room: Length) -> Iterator[Turn]:
    """The turns of these messages, in their order, until one cannot fit."""
    files = Prefetch("attachments", Attachment.objects.select_related("upload").order_by("id"))
    said = Message.objects.only("role", "content").prefetch_related(files)
    for start in range(0, len(path), _PAGE):
        page = path[start : start + _PAGE]
        found = said.in_bulk(page)
        for message in map(found.__getitem__, page):
            uploads = [attachment.upload for attachment in message.attachments.all()]
            if not _least(message.content, uploads).fits(room):
                return
            if message.role == Message.Role.USER:
                yield _said(message.content, uploads)
            else:
                yield Turn("assistant", message.content)


def _least(content: str, uploads: Sequence[Upload]) -> Length:
    files = length_of_bytes(sum(upload.size for upload in uploads if upload.is_text))
    own = length_of(content)
    return Length(own.tokens + files.tokens, own.characters + files.characters)


def _said(content: str, uploads: Sequence[Upload]) -> Turn:
    return user_turn(content, [_file(upload) for upload in uploads])


def _file(upload: Upload) -> File:
    text = read_text(upload, limit_characters=MAX_CHARACTERS) if upload.is_text else None
    return File(upload.pk, upload.name, upload.media_type, upload.size, text)
