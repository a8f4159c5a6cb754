"""What authors know of a task: how it is divided, and how each part is written once the facts are
known. One file for each task, in `tasks/`."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import field

_FOLDER = Path(__file__).parent / "tasks"

CleaningStep = Literal["strip", "lower", "drop_empty", "iso_date", "latest", "sort"]


class Fact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is read in a prompt: the first group of `pattern` that is there. Where nothing is, an
    author takes the `wrong` value for right."""

    pattern: str
    wrong: str


class SymbolRead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file that a planner names where it is shown to have the symbol; otherwise it guesses."""

    symbol: str
    path: str
    otherwise: str


class Renaming(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A word that becomes another one in every file that the author sees."""

    old: str
    new: str


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A step of cleaning a table, which an author does who has read what it `says`."""

    says: str
    step: CleaningStep
    column: str = ""
    by: str = ""


class Cleaning(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table that is cleaned."""

    source: str
    rules: tuple[Rule, ...]


class Translation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A JSON object of texts, translated by a table of two columns."""

    source: str
    glossary: str


class KnownFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of a part: its `content`, or a passage `old` that becomes `new`, or what is made of
    other files."""

    path: str
    content: str | None = None
    old: str | None = None
    new: str = ""
    rename: Renaming | None = None
    clean: Cleaning | None = None
    translate: Translation | None = None


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the work. Its texts have the names of facts in braces. `is_later`: it is in no
    plan, and a message may ask for it."""

    key: str
    title: str
    instructions: str
    text: str
    acceptance: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    reads: tuple[str | SymbolRead, ...] = ()
    writes: tuple[str, ...] = ()
    files: tuple[KnownFile, ...] = ()
    is_later: bool = False


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a planner does where a message `asks` for it: the instructions of `part` get those of
    the part `adds`, or that becomes a subtask of its own."""

    asks: str
    part: str
    adds: str
    says: str


class Knowledge(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A task."""

    title: str
    summary: str
    final: str
    parts: tuple[Part, ...]
    facts: dict[str, Fact] = {}
    replies: tuple[Reply, ...] = field(default=())

    def part(self, key: str) -> Part:
        return next(part for part in self.parts if part.key == key)

    @property
    def planned(self) -> list[Part]:
        return [part for part in self.parts if not part.is_later]


@cache
def of_task(name: str) -> Knowledge | None:
    """None for a task that nobody knows."""
    path = _FOLDER / f"{name}.toml"
    if path.parent != _FOLDER or not path.is_file():
        return None
    return msgspec.convert(tomllib.loads(path.read_text()), Knowledge)
