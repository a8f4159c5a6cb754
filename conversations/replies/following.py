"""The stream of a reply for clients that come later, on any web process: the events of its log, as
frames."""

from collections.abc import AsyncGenerator
from typing import Any
from uuid import UUID

from msgspec import Struct, json
from msgspec.structs import replace

from accounts.tokens import AccessClaims
from common.threads import in_thread
from conversations.frames import PING, Frames
from conversations.models import Message
from conversations.selectors.conversations import is_titled
from conversations.selectors.messages import MessageState
from conversations.serializers.messages import message_in_event
from conversations.types import STREAM
from events.hub import get_hub
from events.tail import tail
from events.types import Place
from events.watch import Permission


class _Event(Struct, frozen=True):
    """The parts of a reply's event, or of a ping, that this file reads."""

    type: str
    data: dict[str, Any] = {}


_decode = json.Decoder(_Event).decode


async def find_head(claims: AccessClaims, reply: Message) -> int:
    """The last position in the log of a reply that the user may read. Raises NotFound where the
    reply is gone."""
    return await get_hub().find_head(claims, STREAM, reply.pk, owner_id=reply.asker_id)


async def frames_from_log(
    claims: AccessClaims,
    reply: Message,
    head: int,
    seen: int | None,
    permission: Permission | None = None,
) -> AsyncGenerator[bytes, None]:
    """The frames of a running reply until its end, or until `permission` is lost: from its start,
    or its text from code point `seen` on. Raises, before the first frame, the reason why the
    process takes no more followers of this user."""
    frames = Frames(seen or 0)
    with tail(claims, Place(reply.pk, 0), head, permission) as events:
        yield frames.start(reply) if seen is None else PING
        async for text in events:
            event = _decode(text)
            if event.type == "reply.title" and not await _is_title(reply, event):
                continue
            if chunk := _framed(frames, _seen_by(claims.user_id, reply, event)):
                yield chunk
            if event.type == "reply.ended":
                return


def stored_frames(reply: Message, state: MessageState) -> bytes:
    """The frames of a reply that has ended."""
    frames = Frames()
    start = frames.start(reply)
    texts = frames.pieces([("reasoning", state.reasoning or ""), ("text", state.content)])
    return start + texts + frames.end(message_in_event(state))


async def _is_title(reply: Message, event: _Event) -> bool:
    """Whether a title is still the conversation's: false where the user has renamed the
    conversation."""
    return await in_thread(is_titled, reply.conversation_id, event.data["title"])


def _seen_by(user_id: UUID, reply: Message, event: _Event) -> _Event:
    """The event without what a reply has cost somebody else."""
    message = event.data.get("message")
    if message is None or user_id == reply.asker_id:
        return event
    return replace(event, data={"message": {**message, "usage": None}})


def _framed(frames: Frames, event: _Event) -> bytes:
    """The frame of an event; empty where the reader has it already."""
    match event.type:
        case "reply.delta":
            return frames.pieces([(event.data["kind"], event.data["text"])])
        case "reply.title":
            return frames.title(event.data["title"])
        case "reply.ended":
            return frames.end(event.data["message"])
        case _:
            return PING
