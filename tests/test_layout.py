"""The layout: what platform/README.md promises."""

import platform
import re
from pathlib import Path

from common.local.paths import ROOT
from config.checks import shadows


def test_platform_is_a_source_root_and_no_package() -> None:
    assert shadows(ROOT / "platform") == []
    assert not (ROOT / "platform").resolve().samefile(platform.__file__)


def test_every_folder_that_shadows_is_found(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").touch()
    (tmp_path / "tests").mkdir()
    assert [path.name for path in shadows(tmp_path)] == ["__init__.py", "tests"]


def test_every_variable_of_the_settings_is_in_the_example() -> None:
    settings = (ROOT / "platform" / "config" / "settings").glob("*.py")
    read = {
        name
        for path in settings
        for name in re.findall(r'\benv\.\w+\(\s*"([A-Z_]+)"', path.read_text())
    }
    listed = re.findall(r"^#([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE)
    assert read - set(listed) == set()
    assert len(read) > 10
