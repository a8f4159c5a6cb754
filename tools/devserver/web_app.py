"""The web app of `web/`: its packages, its build and its scripts, by the Node of the wheel.

`python -m devserver.web_app build FOLDER`: build it into the folder, unless that has it.
`python -m devserver.web_app run SCRIPT...`: a script of web/package.json, with all packages.
`python -m devserver.web_app serve OPTION...`: the sources, by Vite's development server.
"""

import argparse
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import psutil

from devserver import node
from devserver.errors import LocalError
from devserver.paths import ROOT

# In a built folder: of which sources it is.
STAMP = ".built-from"
# What no build reads, and what is written by builds and checks, beside names that begin with a dot.
_NO_SOURCES = {"node_modules", "paraglide", "build", "tests", "test-results"}
_NO_SOURCE_SUFFIXES = (".d.ts", ".test.ts", ".md")
_WITH_TOOLS = " with tools"
_VITE = "node_modules/vite/bin/vite.js"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m devserver.web_app", description=__doc__)
    parser.add_argument("--source", type=Path, default=WebApp.source)
    commands = parser.add_subparsers(dest="what", required=True)
    commands.add_parser("build").add_argument("folder", type=Path)
    commands.add_parser("run").add_argument("script", nargs=argparse.REMAINDER)
    commands.add_parser("serve")
    options, others = parser.parse_known_args()
    app = WebApp(options.source)
    try:
        if options.what == "run":
            app.run(*options.script)
        if options.what == "serve":
            app.serve(*others)
        signal.signal(signal.SIGTERM, lambda *_: _end())
        app.build(options.folder)
    except LocalError as error:
        print(error, flush=True)  # noqa: T201 - the last line says why
        return 1
    return 0


@dataclass(frozen=True)
class WebApp:
    """The web app whose sources are in that folder. Those who build it take turns."""

    source: Path = ROOT / "web"

    def is_built(self, folder: Path) -> bool:
        """Was it built into the folder from the sources as they are now?"""
        stamp = folder / STAMP
        return stamp.exists() and stamp.read_text() == self.digest

    @property
    def digest(self) -> str:
        """A hash of all that a build reads."""
        return self._digest_of(self._sources())

    def build(self, folder: Path) -> None:
        """Build it into the folder, unless that has it. Raises LocalError; the folder is then as it
        was."""
        with self._turn():
            if self.is_built(folder):
                return
            self._install()
            digest, fresh = self.digest, folder.with_name(f"{folder.name}.new")
            shutil.rmtree(fresh, ignore_errors=True)
            if not self._succeeds(node.node(_VITE, "build"), WEB_BUILD=str(fresh)):
                raise LocalError("The web app cannot be built.")
            (fresh / STAMP).write_text(digest)
            _replace(folder, fresh)

    def run(self, *script: str) -> NoReturn:
        """Become a script of package.json, once all packages are there. Raises LocalError."""
        with self._turn():
            self._install(tools=True)
            # The turn ends with the script.
            self._become(node.npm("run", "--silent", *script))

    def serve(self, *options: str, **variables: str) -> NoReturn:
        """Become Vite's development server, once its packages are there. Raises LocalError."""
        with self._turn():
            self._install()
        self._become(node.node(_VITE, "dev", *options), **variables)

    def _become(self, command: list[str], **variables: str) -> NoReturn:
        os.chdir(self.source)
        env = {**node.environment(self.source), **variables}
        os.execve(command[0], command, env)  # noqa: S606 - no shell wanted

    def is_installed(self, *, tools: bool = False) -> bool:
        """Are the packages there that a build needs, and with `tools` those of checks and tests?"""
        locked, installed = self._locked, self._installed
        return installed == locked + _WITH_TOOLS or (installed == locked and not tools)

    @property
    def _locked(self) -> str:
        """A hash of the list of packages."""
        return self._digest_of([self.source / "package-lock.json"])

    @property
    def _installed(self) -> str:
        """The hash of the list whose packages are there."""
        return self._note.read_text() if self._note.exists() else ""

    @property
    def _note(self) -> Path:
        return self.source / "node_modules" / ".installed"

    def _install(self, *, tools: bool = False) -> None:
        """Install the packages, unless they are there. Raises LocalError."""
        if self.is_installed(tools=tools):
            return
        # A registry that is away is told at once: `npm ci` would try for minutes.
        ask = ("view", "svelte", "version", "--fetch-retries=0", "--fetch-timeout=5000")
        if not self._succeeds(node.npm(*ask)):
            raise LocalError("npm reaches no registry to install the web app's packages from.")
        with_tools = tools or self._installed.endswith(_WITH_TOOLS)
        if not self._succeeds(node.npm("ci", *([] if with_tools else ["--omit=dev"]))):
            raise LocalError("npm cannot install what web/package-lock.json names.")
        self._note.write_text(self._locked + (_WITH_TOOLS if with_tools else ""))

    def _sources(self) -> Iterator[Path]:
        for parent, folders, files in os.walk(self.source):
            folders[:] = [name for name in folders if name not in _NO_SOURCES and name[0] != "."]
            yield from (
                Path(parent, name)
                for name in files
                if not name.endswith(_NO_SOURCE_SUFFIXES) and name[0] != "."
            )

    def _digest_of(self, files: Iterable[Path]) -> str:
        """A hash of names and contents."""
        whole = hashlib.sha256()
        for path in sorted(files):
            whole.update(hashlib.sha256(str(path.relative_to(self.source)).encode()).digest())
            whole.update(hashlib.sha256(path.read_bytes()).digest())
        return whole.hexdigest()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """A program that outlives its builder keeps the turn."""
        with (self.source / "package.json").open() as file:
            os.set_inheritable(file.fileno(), True)
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _succeeds(self, command: list[str], **variables: str) -> bool:
        """Run a command to its end. What it prints is printed."""
        done = subprocess.run(  # noqa: S603 - our own command lines
            command,
            cwd=self.source,
            env={**node.environment(self.source), **variables},
            close_fds=False,
            check=False,
        )
        return done.returncode == 0


def _replace(folder: Path, fresh: Path) -> None:
    """Put a folder in the place of another one, which is removed."""
    old = folder.with_name(f"{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    fresh.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _end() -> None:
    """End, and what was started before: nobody else would end it."""
    for child in psutil.Process().children(recursive=True):
        child.kill()
    sys.exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
