"""The tasks: what is asked for, and what is given."""

import tomllib
from functools import cache
from pathlib import Path

import msgspec

_FOLDER = Path(__file__).parent


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A task. `uploads` are texts by their names, `messages` are sent when the run has completed.
    `repository`: it works on the shop. `meanwhile` are lines that somebody else replaces in its
    files while the run is at work, by path. `executes`: its judge runs what comes out."""

    name: str
    goal: str
    uploads: dict[str, str] = {}
    messages: tuple[str, ...] = ()
    repository: bool = False
    executes: bool = False
    meanwhile: dict[str, dict[str, str]] = {}


def tasks() -> list[Task]:
    """All of them, by name."""
    return [_read(path) for path in sorted((_FOLDER / "tasks").glob("*.toml"))]


def _read(path: Path) -> Task:
    return msgspec.convert({"name": path.stem, **tomllib.loads(path.read_text())}, Task)


@cache
def shop() -> dict[str, str]:
    """The files of the repository, by path."""
    files: dict[str, str] = tomllib.loads((_FOLDER / "material/shop.toml").read_text())
    return files
