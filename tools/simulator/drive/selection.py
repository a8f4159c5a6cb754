"""The `fields` of a request: which parts of a resource are answered.

Names are separated by commas; `a/b` and `a(b,c)` select inside of `a`; `*` is everything.
"""

import re
from collections.abc import Iterator
from typing import Any

from simulator.provider import Json, Problem, Refused

Selection = dict[str, "Selection"]

_TOKEN = re.compile(r"[\w*]+|[(),/]|\S")
_NAME = re.compile(r"\w+|\*")
_OF_FILES = frozenset(
    {
        *("*", "kind", "id", "name", "mimeType", "size", "md5Checksum", "modifiedTime", "trashed"),
        *("capabilities", "createdTime", "description", "driveId", "exportLinks"),
        *("fileExtension", "headRevisionId", "iconLink", "lastModifyingUser", "originalFilename"),
        *("ownedByMe", "owners", "parents", "permissions", "properties", "sha1Checksum"),
        *("sha256Checksum", "shared", "shortcutDetails", "starred", "version", "viewedByMe"),
        *("viewedByMeTime", "webContentLink", "webViewLink", "resourceKey"),
    }
)
_OF_LISTS = frozenset({"*", "kind", "files", "nextPageToken", "incompleteSearch"})


def of_file(text: str) -> Selection:
    """The selection for one file. Raises `Refused`."""
    return _known(_parsed(text), _OF_FILES)


def of_list(text: str) -> Selection:
    """The selection for a list of files. Raises `Refused`."""
    found = _known(_parsed(text), _OF_LISTS)
    _known(found.get("files", {}), _OF_FILES)
    return found


def select(resource: Any, selection: Selection) -> Any:
    """The selected parts; all of them without a selection, or with `*`."""
    if isinstance(resource, list):
        return [select(each, selection) for each in resource]
    if not selection or "*" in selection or not isinstance(resource, dict):
        return resource
    kept: Json = {
        name: select(value, selection[name])
        for name, value in resource.items()
        if name in selection
    }
    return kept


def _parsed(text: str) -> Selection:
    found, end = _list(iter(_TOKEN.findall(text)))
    if end:
        raise _invalid(text)
    return found


def _list(tokens: Iterator[str]) -> tuple[Selection, str]:
    """The names up to a closing parenthesis, and that, or up to the end, and nothing."""
    found: Selection = {}
    while True:
        end = _item(tokens, found)
        if end != ",":
            return found, end


def _item(tokens: Iterator[str], found: Selection) -> str:
    """Read one name with what is selected inside of it. Returns the token after it."""
    name = next(tokens, "")
    if _NAME.fullmatch(name) is None:
        raise _invalid(name)
    inside = found.setdefault(name, {})
    after = next(tokens, "")
    if after == "/":
        return _item(tokens, inside)
    if after == "(":
        parts, end = _list(tokens)
        if end != ")":
            raise _invalid(name)
        inside |= parts
        after = next(tokens, "")
    if after not in (",", ")", ""):
        raise _invalid(after)
    return after


def _known(selection: Selection, names: frozenset[str]) -> Selection:
    for name in selection:
        if name not in names:
            raise _invalid(name)
    return selection


def _invalid(text: str) -> Refused:
    return Refused(Problem(400, f"Invalid field selection {text}", "invalidParameter", "fields"))
