"""Edits of a file: each replaces a passage, which has to be in the file exactly once.

Line ends are compared as they are read: a passage of a file with CRLF is found by lines that end
with LF alone. Lines that no edit changes keep their own line ends, and new lines have those of the
passage that they replace.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct


class Edit(Struct, frozen=True):
    """Whole lines that are replaced by others, without the last line end."""

    old: str
    new: str


class UnfitEdit(Exception):
    """An edit does not fit; the text is a sentence for its author."""


_ABSENT = "The old passage is not in the file. Copy it exactly, with its spaces."
_AMBIGUOUS = "The old passage is in the file more than once. Give more lines around it."


class _Line(Struct, frozen=True):
    """`end` is empty for the last line of a file alone."""

    text: str
    end: str


def edited(content: str, edits: Sequence[Edit]) -> str:
    """The content with all edits. All of them are looked for in the content as it was. Raises
    UnfitEdit."""
    lines = _lines(content)
    text = "\n".join(line.text for line in lines)
    passages = sorted(
        (*_passage(text, _unix(edit.old), number), _unix(edit.new))
        for number, edit in enumerate(edits, start=1)
    )
    for (_, end, _), (start, _, _) in itertools.pairwise(passages):
        if start < end:
            raise UnfitEdit("Two edits replace the same lines: make one of them.")
    usual = _usual_end(lines, "\n")
    for start, end, new in reversed(passages):
        _replace(lines, start, end, new.split("\n") if new else [], usual)
    return "".join(line.text + line.end for line in lines)


def replaced(content: str, old: str, new: str) -> str:
    """The content with one passage replaced, which may begin and end within lines. Raises
    UnfitEdit."""
    lines = _lines(content)
    text, old, new = "\n".join(line.text for line in lines), _unix(old), _unix(new)
    start = text.find(old) if old else -1
    if start < 0:
        raise UnfitEdit(
            _ABSENT if old else "The old passage is empty. To write a file, write it whole."
        )
    if text.find(old, start + 1) >= 0:
        raise UnfitEdit(_AMBIGUOUS)
    if old == new:
        raise UnfitEdit("The new passage is the old one.")
    end = start + len(old)
    before, after = text[:start].rpartition("\n")[2], text[end:].partition("\n")[0]
    first, last = text.count("\n", 0, start), text.count("\n", 0, end)
    usual = _usual_end(lines, "\n")
    _replace(lines, first, last + 1, f"{before}{new}{after}".split("\n"), usual)
    return "".join(line.text + line.end for line in lines)


def with_line_ends(content: str, base: str) -> str:
    """The content with the line ends of `base`, and a last line end where that has one: models
    write neither."""
    if not content:
        return content
    lines = content.replace("\r\n", "\n").rstrip("\n").split("\n")
    ends_with_one = base.endswith("\n") or not base
    end = "\r\n" if "\r\n" in base and "\n" not in base.replace("\r\n", "") else "\n"
    return end.join(lines) + (end if ends_with_one else "")


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n")


def _lines(content: str) -> list[_Line]:
    """At least one: the last line has no end, and is empty where the content ends with one."""
    *whole, last = content.split("\n")
    return [
        *(_Line(each[:-1], "\r\n") if each.endswith("\r") else _Line(each, "\n") for each in whole),
        _Line(last, ""),
    ]


def _usual_end(lines: Iterable[_Line], otherwise: str) -> str:
    """The most frequent line end."""
    ends = Counter(line.end for line in lines if line.end)
    return ends.most_common(1)[0][0] if ends else otherwise


def _passage(text: str, old: str, number: int) -> tuple[int, int]:
    """Which lines they are: the first one, and the one after the last. Raises UnfitEdit."""
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
    first = text.count("\n", 0, found)
    return first, first + old.count("\n") + 1


def _replace(lines: list[_Line], start: int, end: int, new: Sequence[str], usual: str) -> None:
    """Without new lines the old ones go with their line ends."""
    old = lines[start:end]
    lines[start:end] = _ended(old, new, _usual_end(old, usual))
    if lines:  # perhaps another last one
        lines[-1] = _Line(lines[-1].text, "")


def _ended(old: Sequence[_Line], new: Sequence[str], usual: str) -> list[_Line]:
    """The new lines with their ends. The lines that the old ones begin or end with as well keep
    theirs, and what follows the passage stays apart from it as it was."""
    ends = [usual] * len(new)
    for place in range(_shared(old, new)):
        ends[place] = old[place].end or usual
    for place in range(1, _shared(old[::-1], new[::-1]) + 1):
        ends[-place] = old[-place].end or usual
    if ends:
        ends[-1] = old[-1].end
    return [_Line(text, end) for text, end in zip(new, ends, strict=True)]


def _shared(old: Sequence[_Line], new: Sequence[str]) -> int:
    """How many lines both begin with."""
    pairs = zip((line.text for line in old), new, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
