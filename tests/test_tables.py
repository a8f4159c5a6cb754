"""The tables of the documents are whole: no line and no cell of them was lost."""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from devserver.paths import ROOT

DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
# A divider of cells; a cell that has the sign writes it with a backslash.
_DIVIDER = re.compile(r"(?<!\\)\|")
_CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def tables(text: str) -> Iterator[list[str]]:
    """The lines of each table of a document."""
    lines = _CODE.sub("", text).splitlines()
    for is_row, found in groupby(lines, key=lambda line: line.startswith("|")):
        if is_row:
            yield [*found]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_row_of_a_table_has_the_cells_of_its_head(path: Path) -> None:
    for head, line, *rows in tables(path.read_text()):
        dividers = len(_DIVIDER.findall(head))
        assert line.replace(":", "") == "|" + "---|" * (dividers - 1)
        assert [row for row in rows if len(_DIVIDER.findall(row)) != dividers] == []
