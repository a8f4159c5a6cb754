"""A run as a file: as a document, or its texts and files in a ZIP."""

import io
from collections.abc import Sequence
from typing import Any, Literal
from zipfile import ZIP_DEFLATED, ZipFile

from msgspec import json

from common.filenames import harmless
from common.markdown import closed
from common.money import usd_text
from projects.selectors.costs import VendorCost
from projects.selectors.documents import RunDocument

FileFormat = Literal["md", "json"]

MEDIA_TYPES: dict[FileFormat, str] = {
    "md": "text/markdown; charset=utf-8",
    "json": "application/json",
}
_MAX_NAME = 80


def render(
    document: RunDocument, form: FileFormat, shown: dict[str, Any], costs: Sequence[VendorCost]
) -> str:
    """The file's text. `shown` is the run as its API shows it, which has the `costs`."""
    if form == "json":
        return json.encode({**shown, "texts": dict(document.texts)}).decode()
    return _markdown(document, costs)


def file_name(document: RunDocument, extension: str) -> str:
    """The title of the run as a name for any file system."""
    name = harmless(document.title, limit=_MAX_NAME, otherwise="run")
    return f"{name}.{extension}"


def zipped(document: RunDocument) -> bytes:
    """The texts as Markdown files in the order of the plan, the final one first; the files in a
    folder `files`, under their own paths."""
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for number, (name, text) in enumerate(document.texts):
            title = harmless(name, limit=_MAX_NAME, otherwise="text")
            archive.writestr(f"{number:02} {title}.md", text)
        for path, content in document.files:
            archive.writestr(f"files/{path}", content)
    return buffer.getvalue()


def _markdown(document: RunDocument, costs: Sequence[VendorCost]) -> str:
    parts = [f"# {' '.join(document.title.split())}", document.goal, document.summary]
    for name, text in document.texts:
        parts += [f"## {' '.join(name.split())}", closed(text)]
    parts += ["## Cost", _table(costs)] if costs else []
    return "\n\n".join(filter(None, parts)) + "\n"


def _table(costs: Sequence[VendorCost]) -> str:
    """What was paid, by vendor."""
    rows = [
        f"| {each.vendor} | {usd_text(each.cost)} | {each.calls} | {each.tokens_in} "
        f"| {each.tokens_out} |"
        for each in costs
    ]
    head = ["| vendor | cost | calls | tokens in | tokens out |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows])
