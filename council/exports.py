"""A card as a file."""

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Literal

from council.selectors.documents import Document
from council.serializers import DocumentSerializer

FileFormat = Literal["md", "json", "txt"]

MEDIA_TYPES: dict[FileFormat, str] = {
    "md": "text/markdown; charset=utf-8",
    "json": "application/json",
    "txt": "text/plain; charset=utf-8",
}
MAX_NAME = 80
# What some file system gives a meaning to.
_MEANINGFUL = re.compile(r'[<>:"/\\|?*]')


def render(document: Document, form: FileFormat) -> str:
    """The file's text."""
    return _RENDERERS[form](document)


def file_name(document: Document, form: FileFormat) -> str:
    """A name that any file system takes: the title, without what is not seen or has a meaning."""
    seen = "".join(
        " " if unicodedata.category(character)[0] in "CZ" else character
        for character in _MEANINGFUL.sub(" ", document.title)
    )
    name = " ".join(seen.split()).lstrip(". ")[:MAX_NAME].strip() or "council"
    return f"{name} - {document.model} v{document.version}.{form}"


def _markdown(document: Document) -> str:
    parts = [f"# {_line(document.title)}"]
    for message in document.messages:
        parts += [f"## {_speaker(message.model, message.version)}", message.content]
    if document.sources:
        sources = [
            f"- {source.label}: {source.model}, version {source.version}"
            for source in document.sources
        ]
        parts += ["## Sources", "\n".join(sources)]
    return "\n\n".join(parts) + "\n"


def _plain(document: Document) -> str:
    parts = [_line(document.title)]
    for message in document.messages:
        parts.append(f"{_speaker(message.model, message.version)}:\n\n{message.content}")
    if document.sources:
        sources = [
            f"{source.label}: {source.model}, version {source.version}"
            for source in document.sources
        ]
        parts.append("Sources:\n\n" + "\n".join(sources))
    return "\n\n\n".join(parts) + "\n"


def _json(document: Document) -> str:
    return json.dumps(DocumentSerializer(document).data, indent=2, ensure_ascii=False) + "\n"


def _speaker(model: str | None, version: int | None) -> str:
    return f"{model}, version {version}" if model else "Question"


def _line(title: str) -> str:
    return " ".join(title.split())


_RENDERERS: dict[FileFormat, Callable[[Document], str]] = {
    "md": _markdown,
    "json": _json,
    "txt": _plain,
}
