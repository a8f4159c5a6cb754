"""Edits of a file: blocks that each replace a passage, which has to be in the file exactly once.

Line ends are compared as they are read: a passage of a file with CRLF is found by lines that end
with LF alone, and the file keeps its own.
"""

import itertools
from collections.abc import Sequence

from msgspec import Struct


class Edit(Struct, frozen=True):
    """Whole lines that are replaced by others, without the last line end."""

    old: str
    new: str


class UnfitEdit(Exception):
    """An edit does not fit; the text is a sentence for its author."""


def edited(content: str, edits: Sequence[Edit]) -> str:
    """The content with all edits. All of them are looked for in the content as it was. Raises
    UnfitEdit."""
    ends_in_crlf = "\r\n" in content
    text = content.replace("\r\n", "\n")
    passages = sorted(
        (*_passage(text, edit.old.replace("\r\n", "\n"), number), edit.new)
        for number, edit in enumerate(edits, start=1)
    )
    for (_, end, _), (start, _, _) in itertools.pairwise(passages):
        if start < end:
            raise UnfitEdit("Two edits replace the same lines: make one of them.")
    for start, end, new in reversed(passages):
        text = _replaced(text, start, end, new.replace("\r\n", "\n"))
    return text.replace("\n", "\r\n") if ends_in_crlf else text


def _passage(text: str, old: str, number: int) -> tuple[int, int]:
    """Where the lines are, from and to, without the last line end. Raises UnfitEdit."""
    if not old.strip():
        raise UnfitEdit(f"Edit {number} names no lines to be replaced.")
    framed, wanted = f"\n{text}\n", f"\n{old}\n"
    found = framed.find(wanted)
    if found < 0:
        raise UnfitEdit(f"The lines of edit {number} are not in the file. Copy them exactly.")
    if framed.find(wanted, found + 1) >= 0:
        raise UnfitEdit(
            f"The lines of edit {number} are in the file more than once. Give more lines around "
            "them."
        )
    return found, found + len(old)


def _replaced(text: str, start: int, end: int, new: str) -> str:
    """Without new lines the old ones go with their line end."""
    if new:
        return text[:start] + new + text[end:]
    if end < len(text):
        end += 1
    elif start > 0:
        start -= 1
    return text[:start] + text[end:]
