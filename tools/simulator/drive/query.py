"""The search language of `files.list`, as far as it is simulated, and the order of its results."""

import re
from collections.abc import Callable

from simulator.drive.files import File
from simulator.provider import Problem, Refused

Test = Callable[[File], bool]

_STRING = r"'((?:[^'\\]|\\.)*)'"
_TERM = re.compile(
    rf"\s*(?:name\s+contains\s+{_STRING}|trashed\s*(=|!=)\s*(true|false)"
    rf"|(name|mimeType)\s*(=|!=)\s*{_STRING})\s*"
)
_AND = re.compile(r"and\b")
_KEYS: dict[str, Callable[[File], str | float]] = {
    "name": lambda file: file.name.casefold(),
    "name_natural": lambda file: file.name.casefold(),
    "modifiedTime": lambda file: file.modified_at,
    "createdTime": lambda file: file.modified_at,
    "recency": lambda file: file.modified_at,
    "folder": lambda file: file.google_type != "folder",
    "quotaBytesUsed": lambda file: len(file.content),
}


def tests(text: str) -> list[Test]:
    """What a file must fulfil: terms joined by `and`. Raises `Refused`."""
    found, position = [], 0
    while True:
        term = _TERM.match(text, position)
        if term is None:
            raise _invalid("q", f"The query is not understood from character {position} on.")
        found.append(_test(term))
        joint = _AND.match(text, term.end())
        if joint is None:
            break
        position = joint.end()
    if term.end() != len(text):
        raise _invalid("q", f"The query is not understood from character {term.end()} on.")
    return found


def ordered(files: list[File], order: str) -> list[File]:
    """The files by keys such as `folder,modifiedTime desc`. Raises `Refused`."""
    for each in reversed(order.split(",")):
        name, _, direction = each.strip().partition(" ")
        key = _KEYS.get(name)
        if key is None or direction.strip() not in ("", "desc"):
            raise _invalid("orderBy", f"There is no order {each.strip()}.")
        files = sorted(files, key=key, reverse=direction.strip() == "desc")
    return files


def _test(term: re.Match[str]) -> Test:
    contained, trashed_sign, trashed, field, sign, value = term.groups()
    if contained is not None:
        # Words are found by their beginnings, as Google documents it for names.
        pattern = re.compile(rf"(?<![^\W_]){re.escape(_unescaped(contained))}", re.IGNORECASE)
        return lambda file: pattern.search(file.name) is not None
    if trashed is not None:
        wanted = (trashed == "true") == (trashed_sign == "=")
        return lambda file: file.is_trashed == wanted
    text, is_equal = _unescaped(value), sign == "="
    if field == "name":
        return lambda file: (file.name == text) == is_equal
    return lambda file: (file.mime_type == text) == is_equal


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _invalid(param: str, message: str) -> Refused:
    return Refused(Problem(400, message, "invalid", param))
