"""The layout: what the maps in README.md, platform/README.md and tools/README.md promise."""

import platform
from pathlib import Path

import pytest

from config.checks import shadows
from devserver.paths import ROOT
from tests.documents import assert_same, rows, section


def test_platform_is_a_source_root_and_no_package() -> None:
    assert shadows(ROOT / "platform") == []
    assert not (ROOT / "platform").resolve().samefile(platform.__file__)


@pytest.mark.parametrize("root", ["platform", "tools"])
def test_the_map_of_a_source_root_lists_its_packages(root: str) -> None:
    listed = [name for name, _ in rows((ROOT / root / "README.md").read_text())]
    packages = [path.parent.name for path in (ROOT / root).glob("*/__init__.py")]
    assert_same(listed, packages, f"{root}/README.md")


def test_the_map_lists_all_folders() -> None:
    listed = [name for name, _ in rows(section(ROOT / "README.md", "Find your way"))]
    folders = [f"{path.name}/" for path in ROOT.iterdir() if path.is_dir() and is_ours(path.name)]
    assert_same(listed, folders, "README.md")


def is_ours(name: str) -> bool:
    return not name.startswith((".", "__")) and name not in ("var", "staticfiles")


def test_every_folder_that_shadows_is_found(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").touch()
    (tmp_path / "tests").mkdir()
    assert [path.name for path in shadows(tmp_path)] == ["__init__.py", "tests"]
