"""The programs of deploy/tools.txt, which `make deploy-tools` installs."""

import subprocess
from pathlib import Path

import pytest

from devserver.paths import ROOT

FOLDER = ROOT / "var" / "deploy"
needs_tools = pytest.mark.skipif(
    not (FOLDER / "installed").exists(), reason="run make deploy-tools first"
)


def run(name: str, *arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """A program of theirs, in the folder of the project."""
    return subprocess.run(
        [FOLDER / "bin" / name, *arguments],
        input=stdin,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
