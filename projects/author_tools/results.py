"""What came of a call of a function, in bounded texts."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

# Characters of a result at most, and of what people are told of it.
MAX_RESULT: Final = 20_000
MAX_SUMMARY: Final = 200
_ROOM_FOR_A_NOTE = 300


class Carried(Struct, frozen=True):
    """What came of a call: the `text` is for the model, the `summary` for people. `ok`: it was
    carried out."""

    ok: bool
    text: str
    summary: str


def refused(sentence: str) -> Carried:
    """The result of a call that cannot be carried out."""
    return Carried(False, sentence[:MAX_RESULT], cut_text(sentence, MAX_SUMMARY))


def cut_lines(lines: Iterable[str], advice: str) -> str:
    """The lines that fit into a result, and a note where some do not."""
    kept: list[str] = []
    left = MAX_RESULT - _ROOM_FOR_A_NOTE
    lines = iter(lines)
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            missing = 1 + sum(1 for _ in lines)
            kept.append(f"[{missing:,} more. {advice}]")
            break
        kept.append(line)
    return "\n".join(kept)


def cut_text(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[: characters - 1]}…"
