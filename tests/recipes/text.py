"""The text of the recipes in CONTRIBUTING.md: what the heading counts, and what each step names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from devserver.paths import ROOT
from tests.documents import section
from tests.recipes.recipe import Recipe

MARK = "**!**"


@dataclass(frozen=True)
class Text:
    """`count` is the number of files that the heading tells, `steps` are the texts of the numbered
    steps, the first one first."""

    count: int
    steps: list[str]

    @property
    def paths(self) -> set[str]:
        """The files and folders that the steps name: what stands between code marks and has a
        slash, or is a file of the root; and what links lead to."""
        text = " ".join(self.steps)
        named = re.findall(r"`([\w.<>/()+-]+)`", text) + re.findall(r"\]\(([\w./-]+)\)", text)
        return {name for name in named if "/" in name or (ROOT / name).is_file()}

    @property
    def marked(self) -> set[int]:
        """The numbers of the steps of which something is marked as noticed by no test."""
        return {number for number, step in enumerate(self.steps, 1) if MARK in step}


def texts() -> dict[str, Text]:
    """The recipes by their titles, as they stand there."""
    return dict(_texts(section(ROOT / "CONTRIBUTING.md", "Recipes")))


def _texts(page: str) -> Iterator[tuple[str, Text]]:
    _, *parts = re.split(r"^\*\*(.+)\*\* \(", page, flags=re.MULTILINE)
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        heading, *steps = re.split(r"^\d+\. ", text, flags=re.MULTILINE)
        # What follows the last step is of no step.
        steps = [step.partition("\n\n")[0] for step in steps]
        [count] = re.findall(r"(\d+) files", heading)
        yield title, Text(int(count), steps)


def missing(text: Text, recipe: Recipe, changed: set[str]) -> tuple[set[str], set[str]]:
    """The changed files that the recipe does not name, and the paths that it names in vain. A
    folder stands for the files in it."""
    named = {path.replace("<app>", recipe.app) for path in text.paths} - recipe.otherwise
    stands_for = {
        path: {file for file in changed if file == path or _is_in(file, path)} for path in named
    }
    return changed.difference(*stands_for.values()), {
        path for path, files in stands_for.items() if not files
    }


def _is_in(file: str, folder: str) -> bool:
    return folder.endswith("/") and file.rpartition("/")[0] + "/" == folder
