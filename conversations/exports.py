"""A conversation as a file."""

from collections.abc import Callable
from typing import Literal

from msgspec import json

from common.filenames import harmless
from common.markdown import closed
from conversations.models import Message
from conversations.selectors.conversations import Detail
from conversations.selectors.messages import MessageState
from conversations.serializers.conversations import ConversationDetailSerializer

FileFormat = Literal["md", "json"]

MEDIA_TYPES: dict[FileFormat, str] = {
    "md": "text/markdown; charset=utf-8",
    "json": "application/json",
}
MAX_NAME = 80
_UNTITLED = "Conversation"
# The text for a reply that is no finished answer.
_REMARKS = {
    Message.Status.RUNNING: "_Still being written._",
    Message.Status.CANCELLED: "_Stopped._",
}


def render(detail: Detail, form: FileFormat) -> str:
    """The file's text: in Markdown the shown branch, in JSON all branches."""
    return _RENDERERS[form](detail)


def file_name(detail: Detail, form: FileFormat) -> str:
    """The title as a name for any file system."""
    name = harmless(detail.conversation.title, limit=MAX_NAME, otherwise=_UNTITLED)
    return f"{name}.{form}"


def _markdown(detail: Detail) -> str:
    title = " ".join(detail.conversation.title.split()) or _UNTITLED
    parts = [f"# {title}"]
    for message in detail.shown:
        parts += [f"## {message.model or 'Question'}", *_paragraphs(message)]
    return "\n\n".join(parts) + "\n"


def _paragraphs(message: MessageState) -> list[str]:
    files = "\n".join(f"- {upload.name}" for upload in message.attachments)
    is_whole = message.status == Message.Status.COMPLETED and message.finish_reason != "length"
    content = message.content if is_whole else closed(message.content)
    return [part for part in (content, files, _remark(message)) if part]


def _remark(message: MessageState) -> str:
    if message.error is not None:
        return f"_Failed: {message.error['message']}_"
    return _REMARKS.get(Message.Status(message.status), "")


def _json(detail: Detail) -> str:
    """Without links to files: they expire within a day, and anybody with the export could use
    them."""
    shown = ConversationDetailSerializer(detail).data
    for message in shown["messages"]:
        for file in message["attachments"]:
            del file["url"]
    return json.format(json.encode(shown)).decode() + "\n"


_RENDERERS: dict[FileFormat, Callable[[Detail], str]] = {"md": _markdown, "json": _json}
