"""What the checks of one text find."""

from typing import Final

from msgspec import Struct

MAX_FAULTS: Final = 3  # of a file: the first is most often the cause of the others


class Fault(Struct, frozen=True, array_like=True):
    """`line` counts from 1; `message` is a sentence."""

    line: int
    message: str


class Link(Struct, frozen=True, array_like=True):
    """A relative link to a file."""

    line: int
    target: str


class Found(Struct, frozen=True, array_like=True):
    """What is wrong in a text, and which files it links to."""

    faults: tuple[Fault, ...] = ()
    links: tuple[Link, ...] = ()


def near(line: str) -> str:
    """A passage of a text as it stands in a message."""
    words = " ".join(line.split())
    return f'"{words if len(words) <= 60 else words[:59] + "…"}"'
