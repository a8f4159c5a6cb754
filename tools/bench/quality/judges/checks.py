"""What the judges share. They run as programs of their own, in the folder of an outcome, with
nothing but the standard library: `final.md`, `texts/`, `files/`, and `repository/`, a clone of the
default branch."""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DONE = "judged"
REPOSITORY, FILES = Path("repository"), Path("files")


def main(name: str) -> None:
    """Print what the judge of that name finds wrong, a line for each fault. The last line says that
    all was looked at."""
    judge = importlib.import_module(f"bench.quality.judges.{name}")
    try:
        for fault in judge.faults():
            print(" ".join(fault.split())[:300])
    except Exception as error:  # whatever the result does
        print(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
    print(DONE)


def read(path: Path) -> str:
    """A file of the outcome; empty where it is not there."""
    return path.read_text() if path.is_file() else ""


def module(name: str) -> Any:
    """A module of the repository."""
    if str(REPOSITORY) not in sys.path:
        sys.path.insert(0, str(REPOSITORY))
    return importlib.import_module(name)


def lacking(text: str, *wanted: str) -> Iterator[str]:
    """What the text does not say."""
    plain = re.sub(r"\s+", " ", text)
    for words in wanted:
        if words not in plain:
            yield f'it does not say "{words}"'


def differing(paths: dict[str, str]) -> Iterator[str]:
    """Files of the repository without what they had before."""
    for path, words in paths.items():
        if words not in read(REPOSITORY / path):
            yield f'{path} has lost "{words}"'
