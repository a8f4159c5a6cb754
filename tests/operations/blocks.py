"""The commands in docs/operations/, which tests run as they are written there.

A comment before a block of commands names it: `<!-- run: NAME -->`. A test runs it by
`run("DOCUMENT.md#NAME")`. One that cannot run here says why, in place of a name:
`<!-- not run: needs a Kubernetes cluster -->`. tests/operations/test_every_command.py fails for a
block without a comment, and for a name that no test mentions.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from devserver import postgres
from devserver.paths import ROOT
from tests.environment import inherited

# Of a block; a restore takes a while on a busy machine.
_SECONDS = 300
FOLDER = ROOT / "docs" / "operations"
# The fences of commands, of SQL for an operator's psql, and of lines for `.env`.
_COMMANDS = ("console", "bash", "sh", "shell", "sql", "ini")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!-- (run|not run): ([^>]+?) -->\n\Z")


@dataclass(frozen=True)
class Block:
    """A block of commands. `name` is for tests; `reason` says why none runs it."""

    document: str
    line: int
    language: str
    text: str
    name: str = ""
    reason: str = ""

    @property
    def id(self) -> str:
        return f"{self.document}#{self.name}"


def documents() -> list[Path]:
    return sorted(FOLDER.glob("*.md"))


def blocks(document: Path) -> Iterator[Block]:
    """All blocks of commands in a document, in their order."""
    text = document.read_text()
    for fence in _FENCE.finditer(text):
        language, body = fence.groups()
        if language not in _COMMANDS:
            continue
        line = text.count("\n", 0, fence.start()) + 1
        comment = _COMMENT.search(text[: fence.start()])
        kind, said = comment.groups() if comment else ("", "")
        yield Block(
            document.name,
            line,
            language,
            body,
            name=said if kind == "run" else "",
            reason=said if kind == "not run" else "",
        )


def script(block_id: str) -> str:
    """The text of a block, by `document.md#name`. In a `console` block, what follows `$ `."""
    document, _, name = block_id.partition("#")
    [found] = [each for each in blocks(FOLDER / document) if each.name == name]
    if found.language != "console":
        return found.text
    return re.sub(r"^\$ |^(?!\$ ).*\n", "", found.text, flags=re.MULTILINE)


def variables(block_id: str, **meanings: str) -> dict[str, str]:
    """The variables that an `ini` block sets; `meanings` replace the words in capitals that stand
    for values."""
    lines = [line.partition("=") for line in script(block_id).splitlines()]
    return {
        name: ",".join(meanings[word] for word in value.split(",") if word)
        for name, _, value in lines
    }


def run(block_id: str, environment: Mapping[str, str] = MappingProxyType({})) -> str:
    """Run a block as an operator does, in the project's folder, until the first command that fails.
    Returns what it printed; raises AssertionError where it fails."""
    done = attempt(block_id, environment)
    assert done.returncode == 0, f"{block_id} failed:\n{done.stdout}"
    return done.stdout


@contextmanager
def running(block_id: str, environment: Mapping[str, str], log: Path) -> Iterator[None]:
    """A block that goes on until it is ended by SIGTERM, as at the end of this one. What it prints
    goes to `log`."""
    with (
        log.open("a") as output,
        subprocess.Popen(
            _bash(block_id),
            env=_inside(environment),
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield
        finally:
            process.terminate()
            process.wait(timeout=60)
            assert process.returncode in (0, -signal.SIGTERM), log.read_text()


def _bash(block_id: str) -> list[str]:
    return ["bash", "-euo", "pipefail", "-c", script(block_id)]


def _inside(environment: Mapping[str, str]) -> dict[str, str]:
    """What a command finds in its environment."""
    inside = inherited()
    folders = (str(Path(sys.executable).parent), str(postgres.binaries()), inside["PATH"])
    return {**inside, "HOME": "/nonexistent", **environment, "PATH": os.pathsep.join(folders)}


def attempt(block_id: str, environment: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """The same for a block that may fail."""
    return subprocess.run(
        _bash(block_id),
        env=_inside(environment),
        cwd=ROOT,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS,
    )


def manage(*arguments: str, environment: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    """A command that no document has, in the environment of those that stand there."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        env=_inside(environment),
        cwd=ROOT,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS,
    )
