"""The difference between two texts: pure, deterministic, and quick for any texts.

Git's algorithm (E. W. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986, with a bound
on the work) compares lines. Here each line stands for a piece of text, by its number.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct
from pygit2 import Patch

from council.unified import Op, Span, stretches, unified

Format = Literal["unified", "words", "json"]

# Two texts with this many pieces take less than a second. Longer ones are compared in larger
# pieces.
MAX_PIECES = 100_000

_LINES = re.compile(r"[^\n]*\n|[^\n]+")
# Words of scripts with spaces, single characters of scripts without, and the rest between them.
_CHARACTERS = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORDS = re.compile(rf"[{_CHARACTERS}]|[^\W{_CHARACTERS}]+|\s+|.")
_WHOLE = re.compile(r".+", re.DOTALL)
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


class Hunk(Struct, frozen=True):
    """A stretch of text that both sides have (`equal`), or only the right one (`insert`), or only
    the left one (`delete`)."""

    op: Op
    text: str


class Stats(Struct, frozen=True):
    """The number of lines, or words, on the right only and on the left only; and the part of the
    characters of both in `equal` hunks, from 0 to 1."""

    added: int
    removed: int
    similarity: float


class Difference(Struct, frozen=True):
    """`unified` is None where it was not requested."""

    hunks: list[Hunk]
    unified: str | None
    stats: Stats


def compare(left: str, right: str, form: Format) -> Difference:
    """The changes from the left text to the right one."""
    before, after, pattern = _cut(left, right, _WORDS if form == "words" else _LINES)
    changes = list(_changes(before, after))
    pieces_by_op = stretches(before, after, changes, 0, len(before))
    hunks = [Hunk(op, "".join(pieces)) for op, pieces in pieces_by_op if pieces]
    return Difference(
        hunks,
        unified(before, after, changes) if form == "unified" else None,
        Stats(
            added=sum(_count(after[c:d], pattern) for _, _, c, d in changes),
            removed=sum(_count(before[a:b], pattern) for a, b, _, _ in changes),
            similarity=_similarity(left, right, hunks),
        ),
    )


def _cut(
    left: str, right: str, finest: re.Pattern[str]
) -> tuple[list[str], list[str], re.Pattern[str]]:
    """The pieces of both, and their kind: the finest kind with few enough pieces."""
    cuts = (
        (pattern.findall(left), pattern.findall(right), pattern)
        for pattern in (finest, _LINES, _WHOLE)
    )
    return next(cut for cut in cuts if max(len(cut[0]), len(cut[1])) <= MAX_PIECES)


def _changes(before: Sequence[str], after: Sequence[str]) -> Iterator[Span]:
    """The differing ranges, from the beginning to the end."""
    numbers: dict[str, int] = {}
    # The patch reads them where they are, and does not keep them.
    old, new = _as_lines(before, numbers), _as_lines(after, numbers)
    patch = Patch.create_from(old, new, context_lines=0)
    for hunk in _HUNK.finditer(patch.data):
        yield *_span(hunk[1], hunk[2]), *_span(hunk[3], hunk[4])


def _as_lines(pieces: Sequence[str], numbers: dict[str, int]) -> bytes:
    return b"".join(b"%d\n" % numbers.setdefault(piece, len(numbers)) for piece in pieces)


def _span(first: bytes, count: bytes | None) -> tuple[int, int]:
    """A range of lines, counted from 1; an empty range names the line before it."""
    length = 1 if count is None else int(count)
    start = int(first) - 1 if length else int(first)
    return start, start + length


def _count(pieces: Sequence[str], pattern: re.Pattern[str]) -> int:
    """Lines, or words without the spaces between them."""
    return sum(not piece.isspace() for piece in pieces) if pattern is _WORDS else len(pieces)


def _similarity(left: str, right: str, hunks: Iterable[Hunk]) -> float:
    total = len(left) + len(right)
    same = sum(len(hunk.text) for hunk in hunks if hunk.op == "equal")
    return round(2 * same / total, 4) if total else 1.0
