"""The layout: what platform/README.md promises."""

import platform
from pathlib import Path

from config.checks import shadows
from devserver.paths import ROOT


def test_platform_is_a_source_root_and_no_package() -> None:
    assert shadows(ROOT / "platform") == []
    assert not (ROOT / "platform").resolve().samefile(platform.__file__)


def test_every_folder_that_shadows_is_found(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").touch()
    (tmp_path / "tests").mkdir()
    assert [path.name for path in shadows(tmp_path)] == ["__init__.py", "tests"]
