"""The unified format of a difference between lines, as `diff -u` and Git write it."""

from collections.abc import Iterator, Sequence
from typing import Literal

Op = Literal["equal", "insert", "delete"]
# Ranges of pieces: from and to on the left, from and to on the right.
Span = tuple[int, int, int, int]

CONTEXT = 3
_MARKS: dict[Op, str] = {"equal": " ", "delete": "-", "insert": "+"}


def stretches(
    before: Sequence[str], after: Sequence[str], changes: Sequence[Span], start: int, end: int
) -> Iterator[tuple[Op, Sequence[str]]]:
    """The pieces from `start` to `end` on the left, with those that replace some of them; any of
    the stretches may be empty."""
    done = start
    for a, b, c, d in changes:
        yield "equal", before[done:a]
        yield "delete", before[a:b]
        yield "insert", after[c:d]
        done = b
    yield "equal", before[done:end]


def unified(before: Sequence[str], after: Sequence[str], changes: Sequence[Span]) -> str:
    """The text, with three lines around each change; empty where there is none."""
    if not changes:
        return ""
    written = ["--- left\n", "+++ right\n"]
    for group in _groups(changes):
        written += _group(before, after, group)
    return "".join(written)


def _groups(changes: Sequence[Span]) -> Iterator[list[Span]]:
    """Changes that are so near each other that they share their surroundings."""
    group: list[Span] = []
    for change in changes:
        if group and change[0] - group[-1][1] > 2 * CONTEXT:
            yield group
            group = []
        group.append(change)
    yield group


def _group(before: Sequence[str], after: Sequence[str], group: Sequence[Span]) -> Iterator[str]:
    (first_a, _, first_c, _), (_, last_b, _, last_d) = group[0], group[-1]
    lead = min(CONTEXT, first_a)
    trail = min(CONTEXT, len(before) - last_b)
    left = _range(first_a - lead, last_b + trail)
    right = _range(first_c - lead, last_d + trail)
    yield f"@@ -{left} +{right} @@\n"
    for op, lines in stretches(before, after, group, first_a - lead, last_b + trail):
        yield from _lines(_MARKS[op], lines)


def _range(start: int, end: int) -> str:
    """Lines are counted from 1; of none, the line before is named."""
    length = end - start
    first = start + 1 if length else start
    return str(first) if length == 1 else f"{first},{length}"


def _lines(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        ended = line.endswith("\n")
        yield f"{mark}{line}" if ended else f"{mark}{line}\n\\ No newline at end of file\n"
