"""Carries out recipes on a copy of the tree, and runs checks and tests there."""

import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from devserver.paths import ROOT
from devserver.throwaway import MARK
from devserver.web_app import WebApp
from tests.recipes.recipe import Part, Recipe, carry_out, take_back
from tests.web_app import link_packages

_MAKEMIGRATIONS = (
    *("env", "DATABASE_POOL=0", sys.executable, "-W", "ignore::RuntimeWarning"),
    *("manage.py", "makemigrations"),
)
_OPENAPI = ("env", "DJANGO_SETTINGS_MODULE=config.settings.dev", sys.executable, "-m")
_RUFF = (sys.executable, "-m", "ruff")
# What the targets of the Makefile run, by their names.
COMMANDS = {
    "make migrations": (_MAKEMIGRATIONS,),
    "make format": ((*_RUFF, "check", "--fix"), (*_RUFF, "format")),
    "make openapi": ((*_OPENAPI, "apidocs.write"),),
    "make contract": ((sys.executable, "-m", "tests.contract"),),
}
_WEB_CHECK = (sys.executable, "-m", "devserver.web_app", "run", "check", "--")
CHECKS = {
    "make missing-migrations": ((*_MAKEMIGRATIONS, "--check", "--dry-run"),),
    "make lint": ((*_RUFF, "check"), (*_RUFF, "format", "--check")),
    "make web-check ARGS=types": ((*_WEB_CHECK, "types"),),
    "make web-check ARGS=messages": ((*_WEB_CHECK, "messages"),),
    "make web-check ARGS=lint": ((*_WEB_CHECK, "lint"),),
}
_PYTEST = (sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider")
# The stores of our own run are not those of the copy's tests.
_OURS = ("DATABASE_URL", "REDIS_URL", "OUTPUTS_DIR", "UPLOADS_DIR", "OUTPUTS_BUCKET", MARK)


class CommandFailed(Exception):
    """A command of a recipe, and what it has printed."""


@dataclass(frozen=True)
class Outcome:
    """What ended badly, if anything, and what it has printed."""

    failed: bool
    output: str


@dataclass(frozen=True)
class TreeCopy:
    """A copy of the tree, in a repository that has it as it was."""

    tree: Path

    def carry_out_in_copy(self, recipe: Recipe) -> "CarriedOutRecipe":
        """Carry out a recipe, and commit what has become of the tree. Raises AnchorMissing, or
        CommandFailed."""
        written: dict[str, set[str]] = {}
        for part in recipe.parts:
            for edit in part.edits:
                carry_out(edit, tree=self.tree, recipe=recipe)
            if part.command:
                so_far = self._changed()
                self._command(part.command)
                written[part.what] = self._changed() - so_far
        self._command("make format")
        changed = self._changed()
        self._commit("As the recipe says")
        return CarriedOutRecipe(self, recipe, changed, written)

    def as_it_was(self, file: str) -> None:
        """Undo what the recipe has done to a file."""
        before = self._run(("git", "show", f"HEAD^:{file}"))
        if before.failed:
            (self.tree / file).unlink()
        else:
            (self.tree / file).write_text(before.output)

    def as_carried_out(self) -> None:
        """Make the tree as the recipe has made it."""
        self._git("reset", "-q", "--hard")
        self._git("clean", "-qfd")

    def copy(self, root: Path) -> None:
        """Fill the tree with the files of `root` that git knows, as they are now."""
        listed = subprocess.run(
            ("git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"),
            capture_output=True,
            text=True,
            check=True,
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (root / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(root / name, self.tree / name)
        self._git("init", "-q")
        self._commit("As it was")

    def check(self, names: Collection[str]) -> Outcome:
        """The outcome of checks and of tests, all of which run."""
        commands: list[tuple[str, ...]] = [
            command for name in CHECKS if name in names for command in CHECKS[name]
        ]
        if tests := [name for name in names if name not in CHECKS]:
            commands.append((*_PYTEST, *tests))
        outcomes = [self._run(command) for command in commands]
        return Outcome(
            any(each.failed for each in outcomes), "\n".join(each.output for each in outcomes)
        )

    def _changed(self) -> set[str]:
        """The files that are no longer as they were, or new."""
        listed = self._git("status", "--porcelain", "-z", "--untracked-files=all", "--no-renames")
        return {line[3:] for line in listed.split("\0") if line}

    def _commit(self, subject: str) -> None:
        self._git("add", "-A")
        somebody = ("-c", "user.name=Alice", "-c", "user.email=alice@example.com")
        self._git(*somebody, "commit", "-qm", subject)

    def _git(self, *arguments: str) -> str:
        done = self._run(("git", *arguments))
        assert not done.failed, done.output
        return done.output

    def _command(self, line: str) -> None:
        """Run a command as it stands in a recipe, such as `make migrations --name this`. Raises
        CommandFailed."""
        make, target, *arguments = line.split()
        for command in COMMANDS[f"{make} {target}"]:
            done = self._run((*command, *arguments))
            if done.failed:
                raise CommandFailed(f"{line}\n{done.output}")

    def _run(self, command: tuple[str, ...]) -> Outcome:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name not in _OURS and not name.startswith(("PYTEST_", "DJANGO_"))
        }
        roots = f"{self.tree}:{self.tree}/platform:{self.tree}/tools"
        done = subprocess.run(
            command,
            cwd=self.tree,
            env={**inherited, "PYTHONPATH": roots},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Outcome(done.returncode != 0, done.stdout)


@dataclass(frozen=True)
class CarriedOutRecipe:
    """A recipe that was carried out: the files that changed, and of those each part's command has
    `written` some."""

    copied: TreeCopy
    recipe: Recipe
    changed: set[str]
    written: dict[str, set[str]]

    @contextmanager
    def without(self, part: Part) -> Iterator[None]:
        """The tree as if the part had been forgotten, until the block ends."""
        for edit in reversed(part.edits):
            if edit.anchor:
                take_back(edit, tree=self.copied.tree, recipe=self.recipe)
            else:
                (self.copied.tree / edit.file).unlink()
        for file in self.written.get(part.what, ()):
            self.copied.as_it_was(file)
        try:
            yield
        finally:
            self.copied.as_carried_out()


def copy_of_the_tree(folder: Path, *, with_packages: bool = False) -> TreeCopy:
    """The tree as it is now, in a repository of its own, `with_packages` of the web app or without
    any."""
    folder.mkdir()
    tree = TreeCopy(folder)
    tree.copy(ROOT)
    if with_packages:
        link_packages(WebApp(folder / "web"), tools=True)
    return tree
