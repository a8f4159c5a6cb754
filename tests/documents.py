"""Reading our own documents: a section, its tables, its examples."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable
from pathlib import Path


def section(page: Path, title: str) -> str:
    """What stands under a heading, without its subsections."""
    _, _, rest = page.read_text().partition(f"# {title}\n")
    assert rest, title
    return re.split(r"^#+ ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def rows(text: str) -> list[list[str]]:
    """The cells of its tables, without code marks and headings."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]
    heads = [index - 1 for index, row in enumerate(cells) if set(row[0]) <= set("-:")]
    return [row for index, row in enumerate(cells) if index not in heads and index - 1 not in heads]


def examples(text: str, language: str) -> list[str]:
    """Its blocks of code."""
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def assert_same(stated: Iterable[Hashable], existing: Iterable[Hashable], where: str) -> None:
    """Assert that a document tells what exists, each once. The message says what to change, and
    `where`."""
    stated, existing = list(stated), list(existing)
    lacks = sorted((Counter(existing) - Counter(stated)).elements(), key=repr)
    exceeds = sorted((Counter(stated) - Counter(existing)).elements(), key=repr)
    assert (lacks, exceeds) == ([], []), f"{where}: add {lacks}, remove {exceeds}"
