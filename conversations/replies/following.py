"""What those are sent who come to a reply later, on any web process: its log, as frames."""

from collections.abc import AsyncGenerator
from typing import Any

from msgspec import Struct, json

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


class _Event(Struct, frozen=True):
    """What is read of an event of a reply, or of a ping."""

    type: str
    data: dict[str, Any] = {}


_decode = json.Decoder(_Event).decode


async def find_head(claims: AccessClaims, reply: Message) -> int:
    """How far the reply's log has come. Raises NotFound where it is gone."""
    return await get_hub().find_head(claims, STREAM, reply.pk)


async def frames_from_log(
    claims: AccessClaims, reply: Message, head: int, seen: int | None
) -> AsyncGenerator[bytes, None]:
    """A running reply to its end: from its start, or the text from code point `seen` on. Raises,
    before anything else, why the process takes no more followers of the user's."""
    frames = Frames(seen or 0)
    with tail(claims, Place(reply.pk, 0), head) as events:
        yield frames.start(reply) if seen is None else PING
        async for text in events:
            event = _decode(text)
            if event.type == "reply.title" and not await _is_title(reply, event):
                continue
            if chunk := _framed(frames, event):
                yield chunk
            if event.type == "reply.ended":
                return


def stored_frames(reply: Message, state: MessageState) -> bytes:
    """A reply that has ended, as a stream."""
    frames = Frames()
    start = frames.start(reply)
    texts = frames.pieces([("reasoning", state.reasoning or ""), ("text", state.content)])
    return start + texts + frames.end(message_in_event(state))


async def _is_title(reply: Message, event: _Event) -> bool:
    """False where the user has renamed the conversation since."""
    return await in_thread(is_titled, reply.conversation_id, event.data["title"])


def _framed(frames: Frames, event: _Event) -> bytes:
    """Nothing where the reader has it."""
    match event.type:
        case "reply.delta":
            return frames.pieces([(event.data["kind"], event.data["text"])])
        case "reply.title":
            return frames.title(event.data["title"])
        case "reply.ended":
            return frames.end(event.data["message"])
        case _:
            return PING
