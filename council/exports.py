"""A card as a file."""

from collections.abc import Callable
from typing import Literal

from msgspec import json

from common.filenames import harmless
from common.markdown import closed
from council.models import Status
from council.selectors.documents import Document, Merge
from council.serializers.documents import DocumentSerializer

FileFormat = Literal["md", "json", "txt"]

MEDIA_TYPES: dict[FileFormat, str] = {
    "md": "text/markdown; charset=utf-8",
    "json": "application/json",
    "txt": "text/plain; charset=utf-8",
}
MAX_NAME = 80


def render(document: Document, form: FileFormat) -> str:
    """The file's text."""
    return _RENDERERS[form](document)


def file_name(document: Document, form: FileFormat) -> str:
    """The title and the version of the card, as a name for any file system."""
    name = harmless(document.card.session.title, limit=MAX_NAME, otherwise="council")
    version = document.version
    return f"{name} - {version.generation.model} v{version.number}.{form}"


def _markdown(document: Document) -> str:
    parts = [f"# {_line(document.card.session.title)}"]
    for message in document.messages:
        parts += [f"## {_speaker(message.model, message.version)}", message.content]
    call = document.version.generation
    if call.status != Status.COMPLETED or call.finish_reason == "length":
        parts[-1] = closed(parts[-1])
    if document.merge:
        sources = [f"- {source}" for source in _sources(document.merge)]
        parts += ["## Merge", *_how(document.merge), "## Sources", "\n".join(sources)]
    return "\n\n".join(parts) + "\n"


def _plain(document: Document) -> str:
    parts = [_line(document.card.session.title)]
    for message in document.messages:
        parts.append(f"{_speaker(message.model, message.version)}:\n\n{message.content}")
    if document.merge:
        parts.append("\n\n".join(["Merge:", *_how(document.merge)]))
        parts.append("\n".join(["Sources:\n", *_sources(document.merge)]))
    return "\n\n\n".join(parts) + "\n"


def _how(merge: Merge) -> list[str]:
    """A line about the instructions, and one about a model that replaced another."""
    lines = [f"Mode: {merge.mode}."]
    if merge.instructions:
        lines[0] += f" Instructions: {_line(merge.instructions)}"
    if merge.writer != merge.asked:
        lines.append(
            f"Written by {merge.writer}, because {merge.asked} could not be reached "
            f"({merge.reason})."
        )
    return lines


def _sources(merge: Merge) -> list[str]:
    return [f"{source.label}: {source.model}, version {source.version}" for source in merge.sources]


def _json(document: Document) -> str:
    shown = json.encode(DocumentSerializer(document).data)
    return json.format(shown, indent=2).decode() + "\n"


def _speaker(model: str | None, version: int | None) -> str:
    return f"{model}, version {version}" if model else "Question"


def _line(title: str) -> str:
    return " ".join(title.split())


_RENDERERS: dict[FileFormat, Callable[[Document], str]] = {
    "md": _markdown,
    "json": _json,
    "txt": _plain,
}
