"""Checks of HTML: whole pages alone, as parts of pages may open what others close."""

import re
from html.parser import HTMLParser
from typing import Final

from projects.checks.faults import MAX_FAULTS, Fault

_WHOLE: Final = re.compile(r"<!doctype html|<html[\s>]", re.IGNORECASE)
_VOID: Final = frozenset(
    "area base br col embed hr img input link meta param source track wbr".split()  # noqa: SIM905
)
# Browsers end these by themselves, or mend them without a trace.
_FORGIVEN: Final = frozenset(
    (  # noqa: SIM905
        "html head body p li dt dd rt rp optgroup option colgroup caption thead tbody tfoot tr td "
        "th a b big code em font i nobr s small strike strong tt u"
    ).split()
)


def check_html(text: str) -> tuple[Fault, ...]:
    """Elements that are not closed, and ends of those that are not open."""
    if _WHOLE.search(text) is None:
        return ()
    page = _Page()
    page.feed(text)
    page.close()
    return tuple(page.found())


class _Page(HTMLParser):
    """The elements that are open, with their lines, and what was wrong."""

    def __init__(self) -> None:
        super().__init__()
        self._open: list[tuple[str, int]] = []
        self._faults: list[Fault] = []

    def found(self) -> list[Fault]:
        self._leave(0)
        return sorted(self._faults, key=lambda fault: fault.line)[:MAX_FAULTS]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _VOID:
            self._open.append((tag, self.getpos()[0]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """As in SVG, and as is meant elsewhere."""

    def handle_endtag(self, tag: str) -> None:
        for place in range(len(self._open) - 1, -1, -1):
            if self._open[place][0] == tag:
                self._leave(place + 1)
                self._open.pop()
                return
        if tag not in _VOID | _FORGIVEN:
            self._faults.append(Fault(self.getpos()[0], f"</{tag}> closes nothing that is open."))

    def _leave(self, place: int) -> None:
        """The elements from there on end without an end tag."""
        for tag, line in self._open[place:]:
            if tag not in _FORGIVEN:
                self._faults.append(Fault(line, f"<{tag}> is not closed."))
        del self._open[place:]
