"""The promises of the service, read from the numbered files of this folder.

A file is of one chapter and has sections with promises:

    [[section.promise]]
    route = "GET /api/auth/me"   # of an endpoint; its ids may have other names than in the code
    says = "..."                 # what is promised, in one sentence
    kept_by = ["file::test"]     # the tests that fail where it is broken
    decided = "..."              # what this product does where the promise leaves that open

`additions.toml` lists the endpoints of which nothing is promised here, by the page that describes
them.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Promise:
    """One row. `kept_by` are ids of tests without parameters; `decided` is Markdown, whose links
    are relative to `docs/`."""

    says: str
    kept_by: tuple[str, ...]
    route: str = ""
    decided: str = ""


@dataclass(frozen=True)
class Section:
    """Promises under one heading."""

    chapter: str
    title: str
    promises: tuple[Promise, ...]


def sections() -> Iterator[Section]:
    """All sections, in the order of the files."""
    for path in sorted(FOLDER.glob("[0-9]*.toml")):
        read = tomllib.loads(path.read_text())
        for section in read["section"]:
            promises = tuple(_promise(**row) for row in section["promise"])
            yield Section(read["chapter"], section["title"], promises)


def additions() -> dict[str, list[str]]:
    """The endpoints beyond the promises, by the page that describes them."""
    pages: dict[str, list[str]] = tomllib.loads((FOLDER / "additions.toml").read_text())
    return pages


def _promise(*, kept_by: list[str], **fields: Any) -> Promise:
    return Promise(kept_by=tuple(kept_by), **fields)
