"""The web app's packages, which tests of its build and its screens need."""

import json
import re
import shutil
from pathlib import Path

import pytest

from devserver.web_app import WebApp

_TOP = re.compile(r"node_modules/(@[^/]+/)?[^/]+")
needs_packages = pytest.mark.skipif(
    not WebApp().is_installed(tools=True),
    reason="The web app's packages are not installed: run `make web-check`.",
)


def copied(folder: Path) -> WebApp:
    """The web app copied into a folder, without packages and what builds and checks have
    written."""
    written = shutil.ignore_patterns("node_modules", ".svelte-kit", "paraglide", "build", ".meta*")
    shutil.copytree(WebApp().source, folder, ignore=written)
    return WebApp(folder)


def link_packages(app: WebApp, *, tools: bool) -> None:
    """Install the packages of a copy by links, with or without the `tools` of checks and tests.
    Not the whole folder is linked: SvelteKit writes into it."""
    source = WebApp().source
    locked = json.loads((source / "package-lock.json").read_text())["packages"]
    names = [
        name
        for name, package in locked.items()
        if _TOP.fullmatch(name) and (tools or not package.get("dev"))
    ]
    for name in (*names, "node_modules/.bin", "node_modules/.installed"):
        (app.source / name).parent.mkdir(parents=True, exist_ok=True)
        (app.source / name).symlink_to(source / name)
