"""Each command in docs/operations/ runs in a test, and each document stands in the index."""

import re
from pathlib import Path

import pytest

from devserver.paths import ROOT
from tests.operations import blocks
from tests.operations.blocks import FOLDER, Block, documents

ALL = [block for document in documents() for block in blocks.blocks(document)]
# Programs of other machines than this one: only their blocks may go without a test.
ELSEWHERE = re.compile(
    r"\b(docker|kubectl|helm|systemctl|apt-get|aws|rclone|promtool|nginx|certbot)\b"
)


def mentioned() -> set[str]:
    """The ids of blocks that tests mention."""
    tests = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]
    names = "|".join(re.escape(document.name) for document in documents())
    pattern = re.compile(rf'"((?:{names})#[\w-]+)"')
    return {name for path in tests for name in pattern.findall(path.read_text())}


@pytest.mark.parametrize("block", ALL, ids=lambda block: f"{block.document}:{block.line}")
def test_a_block_is_run_by_a_test_or_says_why_not(block: Block) -> None:
    where = f"docs/operations/{block.document}, line {block.line}"
    assert block.name or block.reason, f"{where}: write <!-- run: NAME --> before the block"
    if block.name:
        assert block.id in mentioned(), f'{where}: no test in tests/ has "{block.id}"'
    else:
        assert ELSEWHERE.search(block.text), f"{where}: this runs here, so a test shall run it"


def test_a_name_stands_for_one_block() -> None:
    names = [block.id for block in ALL if block.name]
    assert len(set(names)) == len(names)


def test_tests_mention_no_block_that_is_gone() -> None:
    assert mentioned() - {block.id for block in ALL} == set()


def test_the_index_has_each_document_once() -> None:
    index = (FOLDER / "README.md").read_text()
    linked = re.findall(r"^\| \[[^\]]+\]\(([\w-]+\.md)\)", index, re.MULTILINE)
    assert sorted(linked) == [path.name for path in documents() if path.name != "README.md"]


def test_commands_are_told_from_what_they_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "FOLDER", tmp_path)
    (tmp_path / "a.md").write_text(
        "<!-- run: one -->\n```console\n$ echo 1\n1\n$ echo 2\n2\n```\n```sh\nls\n```\n"
        "<!-- not run: needs a daemon -->\n```bash\ndocker ps\n```\n```python\n1\n```\n"
    )
    found = list(blocks.blocks(tmp_path / "a.md"))
    assert [(each.name, each.reason, each.line) for each in found] == [
        ("one", "", 2),
        ("", "", 8),
        ("", "needs a daemon", 12),
    ]
    assert blocks.script("a.md#one") == "echo 1\necho 2\n"
