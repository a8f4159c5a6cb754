"""The list of mutations."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from devserver.paths import ROOT

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change of one file. `killed_by` are ids of pytest: files, or tests in them."""

    area: str
    breaks: str
    file: str
    old: str
    new: str
    killed_by: tuple[str, ...]

    def apply(self, tree: Path) -> str:
        """Change the file in this tree. Returns what it was. Raises ValueError where `old` is not
        there exactly once."""
        path = tree / self.file
        text = path.read_text()
        if (times := text.count(self.old)) != 1:
            raise ValueError(f"{self.file} has the text of {self.breaks!r} {times} times.")
        path.write_text(text.replace(self.old, self.new))
        return text


def mutations(area: str | None = None) -> Iterator[Mutation]:
    """Those of all areas, or of one."""
    for path in sorted(FOLDER.glob("*.toml")):
        if area in (None, path.stem):
            for fields in tomllib.loads(path.read_text())["mutation"]:
                tests = tuple(fields.pop("killed_by"))
                yield Mutation(area=path.stem, killed_by=tests, **fields)


def problems(mutation: Mutation) -> list[str]:
    """What is wrong with an entry of the list."""
    path, found = ROOT / mutation.file, []
    if not path.is_file():
        return [f"{mutation.file} is not there"]
    if path.read_text().count(mutation.old) != 1:
        found.append(f"its text is not in {mutation.file} once")
    if mutation.old == mutation.new:
        found.append("it changes nothing")
    if not mutation.killed_by:
        found.append("no test kills it")
    return found
