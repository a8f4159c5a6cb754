"""Replies as server-sent events: the UI message stream, version 1, of Vercel's AI SDK.

See https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol. Beyond it, every frame has an `id`: how many
code points the reply has streamed up to the end of the frame, reasoning included. Whoever sends it
as `Last-Event-ID` goes on from there.
"""

from collections.abc import Iterable
from typing import Any

from msgspec import json

from ai.generations.types import Kind
from conversations.models import Message

HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store, no-transform",
    "X-Accel-Buffering": "no",
    "x-vercel-ai-ui-message-stream": "v1",
}
# A comment, so that nothing on the way closes a connection that is silent.
PING = b": ping\n\n"

_FINISH_REASONS = {"stop": "stop", "length": "length", "content_filter": "content-filter"}


class Frames:
    """Encodes one reply for one reader, who has `seen` so many code points of it."""

    def __init__(self, seen: int = 0) -> None:
        self._seen = seen
        self._offset = 0
        self._kind: Kind | None = None
        self._parts = 0
        self._is_open = False

    def start(self, reply: Message) -> bytes:
        """The first frame."""
        metadata = {
            "conversation_id": str(reply.conversation_id),
            "user_message_id": str(reply.parent_id),
            "model": reply.model,
            "context": reply.context,
        }
        started = {"type": "start", "messageId": str(reply.pk), "messageMetadata": metadata}
        return self._frame(started)

    def pieces(self, pieces: Iterable[tuple[Kind, str]]) -> bytes:
        """What has come, in order. A part that the reader has seen the beginning of is opened
        again, because no other reader takes a delta without."""
        return b"".join(
            [frame for kind, text in pieces if text for frame in self._piece(kind, text)]
        )

    def title(self, title: str) -> bytes:
        """The conversation's title, which comes at most once, and is no part of the message."""
        data = {"type": "data-title", "id": "title", "data": {"title": title}, "transient": True}
        return self._frame(data)

    def end(self, message: dict[str, Any] | None) -> bytes:
        """The last frames: why there is no answer, if there is none, and what it cost.

        `message` is the data of `reply.ended`. Its `usage` is null where nothing was billed, and
        where it is not known yet what will be: it was stopped before its first text.
        """
        frames = self._close()
        reason = "other"
        metadata: dict[str, Any] = {"status": "cancelled", "usage": None}
        if message is not None:
            metadata = {"status": message["status"], "usage": message["usage"]}
            reason = _FINISH_REASONS.get(message["finish_reason"] or "", "other")
            if message["status"] == "failed":
                reason = "error"
                frames.append(self._error(message["error"]))
        finish = {"type": "finish", "finishReason": reason, "usage": metadata["usage"]}
        frames.append(self._frame({**finish, "messageMetadata": metadata}))
        return b"".join([*frames, self._encoded(b"[DONE]")])

    def _piece(self, kind: Kind, text: str) -> list[bytes]:
        frames: list[bytes] = []
        if kind != self._kind:
            frames += self._close()
            self._kind = kind
            self._parts += 1
        fresh = text[max(0, self._seen - self._offset) :]
        self._offset += len(text) - len(fresh)
        if not fresh:
            return frames
        if not self._is_open:
            self._is_open = True
            frames.append(self._frame({"type": f"{kind}-start", "id": self._part}))
        self._offset += len(fresh)
        frames.append(self._frame({"type": f"{kind}-delta", "id": self._part, "delta": fresh}))
        return frames

    def _close(self) -> list[bytes]:
        """The end of the part that is open, if one is."""
        if not self._is_open:
            return []
        self._is_open = False
        return [self._frame({"type": f"{self._kind}-end", "id": self._part})]

    def _error(self, error: dict[str, Any]) -> bytes:
        data = {"type": "error", "errorText": error["message"], "code": error["code"]}
        return self._frame(data)

    @property
    def _part(self) -> str:
        return str(self._parts)

    def _frame(self, part: dict[str, Any]) -> bytes:
        return self._encoded(json.encode(part))

    def _encoded(self, data: bytes) -> bytes:
        # Never less than what the reader has: it would come again from there.
        return b"id: %d\ndata: %b\n\n" % (max(self._seen, self._offset), data)
