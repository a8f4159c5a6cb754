"""The links of Markdown: those within the text are judged here, those to files by who knows the
files."""

import re
import string
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Final
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from projects.checks.faults import MAX_FAULTS, Fault, Found, Link

_MAX_LINKS: Final = 200
_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//|/")
_ANCHOR: Final = re.compile(r"""(?:\s(?:id|name)\s*=\s*["']?|\{:?\s*#)([^"'\s>}]+)""")
# Those that a page of the host has anyway, and routes of applications.
_OTHER_ANCHOR: Final = re.compile(
    r"top|readme.*|l\d+.*|user-content-.*|.*[/=:].*|fn.*", re.IGNORECASE
)
_DROPPED: Final = re.compile(r"[\W_]+|\d+$")
_markdown: Final = MarkdownIt("commonmark").enable("table")


def read_links(text: str) -> Found:
    tokens = _markdown.parse(text)
    lines = text.splitlines()
    anchors = {_plain(each) for each in chain(_headings(tokens), _ANCHOR.findall(text))}
    faults, links = [], []
    for target, first, last in _targets(tokens):
        line = _line_of(target, lines, first, last)
        path, _, anchor = target.partition("#")
        path = unquote(path.partition("?")[0])
        if path and not any(each in path for each in string.whitespace[1:]):
            links.append(Link(line, path))
        elif anchor and not _OTHER_ANCHOR.fullmatch(anchor) and _plain(anchor) not in anchors:
            faults.append(Fault(line, f'the link "#{unquote(anchor)}" leads to no heading.'))
    return Found(tuple(faults[:MAX_FAULTS]), tuple(links[:_MAX_LINKS]))


def _headings(tokens: list[Token]) -> Iterator[str]:
    for token, inner in pairwise(tokens):
        if token.type == "heading_open":
            yield "".join(each.content for each in inner.children or [])


def _targets(tokens: list[Token]) -> Iterator[tuple[str, int, int]]:
    """The relative targets of links and pictures, with the lines of their blocks."""
    for token in tokens:
        first, last = token.map or (0, 0)
        for inner in token.children or []:
            target = inner.attrs.get("href") or inner.attrs.get("src")
            if isinstance(target, str) and not _SCHEME.match(target):
                yield target, first, last


def _line_of(target: str, lines: list[str], first: int, last: int) -> int:
    """The line of a block in which a target stands, from 1."""
    places = range(first, min(last, len(lines)))
    return next(
        (place + 1 for place in places if unquote(target) in unquote(lines[place])), first + 1
    )


def _plain(anchor: str) -> str:
    """What all ways to make anchors of headings leave as it is."""
    return _DROPPED.sub("", unquote(anchor).lower())
