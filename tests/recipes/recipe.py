"""What a recipe is: parts, each of which edits files and runs a command, and the gate of each."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Edit:
    """A change of a file: `text` in the place of `anchor`, which stands there once. An empty anchor
    makes a new file."""

    file: str
    anchor: str
    text: str


def replace(file: str, anchor: str, text: str) -> Edit:
    return Edit(file, anchor, text)


def after(file: str, anchor: str, text: str) -> Edit:
    return Edit(file, anchor, anchor + text)


def before(file: str, anchor: str, text: str) -> Edit:
    return Edit(file, anchor, text + anchor)


def write(file: str, text: str) -> Edit:
    return Edit(file, "", text)


@dataclass(frozen=True)
class Gate:
    """What fails where a part is left out: checks (`tree_copy.CHECKS`) or tests, by path or id. The
    output then has the words of `says`, which tell what is lacking."""

    checks: tuple[str, ...]
    says: str


def noticed(*checks: str, says: str) -> Gate:
    return Gate(checks, says)


@dataclass(frozen=True)
class Part:
    """A part of the numbered step `step`. `command` is what its text tells to run after the edits
    (`tree_copy.COMMANDS`). The gate is None where nothing fails without it: the step then has the
    mark **!**; or else `untried` says why it is not left out."""

    step: int
    what: str
    edits: tuple[Edit, ...]
    gate: Gate | None
    command: str = ""
    untried: str = ""


@dataclass(frozen=True)
class Recipe:
    """A recipe, with an example. `otherwise` are the files that it names for other cases than the
    example's, and `unneeded` the steps; `<app>` in its paths is `app`."""

    name: str
    title: str
    parts: tuple[Part, ...]
    tests: tuple[str, ...]
    otherwise: frozenset[str] = frozenset()
    unneeded: frozenset[int] = frozenset()
    app: str = ""


class AnchorMissing(AssertionError):
    """A recipe can no longer be carried out as its file says."""


def carry_out(edit: Edit, *, tree: Path, recipe: Recipe) -> None:
    """Change a file of a tree. Raises AnchorMissing."""
    if edit.anchor:
        _swap(tree, edit.file, edit.anchor, edit.text, f"the recipe {recipe.name}")
        return
    (tree / edit.file).parent.mkdir(parents=True, exist_ok=True)
    (tree / edit.file).write_text(edit.text)


def take_back(edit: Edit, *, tree: Path, recipe: Recipe) -> None:
    """Undo a change of a file. Raises AnchorMissing, as where `make format` has changed it."""
    _swap(tree, edit.file, edit.text, edit.anchor, f"the recipe {recipe.name}, carried out,")


def _swap(tree: Path, file: str, old: str, new: str, who: str) -> None:
    found = (tree / file).read_text() if (tree / file).exists() else ""
    if (count := found.count(old)) != 1:
        raise AnchorMissing(f"{who} looks once for {old!r} in {file}: it is there {count} times.")
    (tree / file).write_text(found.replace(old, new))
