"""The web app's routes, which its build lists in the notation of its own router."""

import re
from collections.abc import Iterable

# Longer ones are no pages.
MAX_PATH = 2_000

_PARAMETER = re.compile(r"(\[[\w=]+\])")
_REST = re.compile(r"\[\.\.\.\w+\]")
_LITERAL = re.compile(r"[\w.~@-]*")


class Routes:
    """Says which paths are pages of the app."""

    def __init__(self, patterns: Iterable[str]) -> None:
        """Raises ValueError for a pattern of another form than `/a/[one]/[...rest]`."""
        self._pattern = re.compile("|".join(f"(?:{_compiled(each)})" for each in patterns))

    def have(self, path: str) -> bool:
        """Is it a page? One slash at its end makes no difference."""
        return len(path) <= MAX_PATH and bool(self._pattern.fullmatch(path.removesuffix("/")))


def _compiled(pattern: str) -> str:
    if not pattern.startswith("/"):
        raise ValueError(f"The route {pattern!r} must begin with a slash.")
    segments = pattern.split("/")[1:]
    return "" if segments == [""] else "".join(map(_segment, segments))


def _segment(segment: str) -> str:
    if _REST.fullmatch(segment):
        return "(?:/[^/]+)*"
    parts = _PARAMETER.split(segment)
    literals = parts[::2]
    if not segment or not all(_LITERAL.fullmatch(literal) for literal in literals):
        raise ValueError(f"The segment {segment!r} of a route has an unknown form.")
    return "/" + "[^/]+".join(map(re.escape, literals))
