"""`docs/contract.md`: the promises for readers. `make contract` writes it."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from devserver.paths import ROOT
from tests.contract.promises import Promise, Section, additions, sections

PATH = ROOT / "docs" / "contract.md"

_INTRODUCTION = """\
# The contract

What the service promises, row by row. Beside each promise stand the tests that fail where it is
broken, and what this product does where the promise leaves that open. `make contract` writes this
page from the files in `tests/contract/`.
"""
_BEYOND = """
## Beyond the promises

Endpoints that the product has beside these. The page in the first column describes them.

| described in | endpoint |
|---|---|
"""


def text() -> str:
    """The content of the page."""
    chapters = groupby(sections(), lambda section: section.chapter)
    promised = "".join(_chapter(title, parts) for title, parts in chapters)
    return _INTRODUCTION + promised + _BEYOND + "".join(_beyond())


def write() -> None:
    """Write the page."""
    PATH.write_text(text())


def _chapter(title: str, parts: Iterable[Section]) -> str:
    return f"\n## {title}\n" + "".join(map(_section, parts))


def _section(section: Section) -> str:
    head = f"\n### {section.title}\n\n| promise | kept by | decided |\n|---|---|---|\n"
    return head + "".join(map(_row, section.promises))


def _row(promise: Promise) -> str:
    says = f"`{promise.route}` {promise.says}" if promise.route else promise.says
    return f"| {says} | {'<br>'.join(_tests(promise))} | {promise.decided} |\n"


def _tests(promise: Promise) -> Iterator[str]:
    """A link to each file, and the names of its tests as sentences."""
    for file, tests in groupby(promise.kept_by, lambda test: test.partition("::")[0]):
        names = [test.rpartition("::test_")[2].replace("_", " ") for test in tests]
        yield f"[{file}](../{file}): {'; '.join(names)}"


def _beyond() -> Iterator[str]:
    for page, routes in additions().items():
        link = f"[{page}]({page.removeprefix('docs/')})"
        yield from (f"| {link} | `{route}` |\n" for route in routes)
