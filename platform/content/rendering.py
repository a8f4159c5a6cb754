"""Operators' Markdown as HTML that is harmless in any page.

Markdown may contain HTML. What of the result is harmless is decided by nh3 alone, which parses as
browsers do; markdown-it would leave addresses that it finds dangerous in the text.
"""

from functools import lru_cache

import nh3
from markdown_it import MarkdownIt

_WORDS = {"a", "br", "code", "del", "em", "img", "kbd", "s", "strong", "sub", "sup"}
_BLOCKS = {"blockquote", "details", "hr", "li", "ol", "p", "pre", "summary", "ul"}
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_TABLES = {"table", "tbody", "td", "th", "thead", "tr"}
TAGS = _WORDS | _BLOCKS | _HEADINGS | _TABLES
ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title", "width", "height"},
    "ol": {"start"},
}
SCHEMES = frozenset({"http", "https", "mailto"})
# The page behind a link gets no hold of ours, and no rank with search engines.
REL = "noopener nofollow"

_markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_markdown.validateLink = lambda url: True  # type: ignore[method-assign]
_cleaner = nh3.Cleaner(tags=TAGS, attributes=ATTRIBUTES, url_schemes=SCHEMES, link_rel=REL)


@lru_cache(maxsize=512)
def render(markdown: str) -> str:
    """The HTML of a text. It is not stored: a better sanitiser counts for old texts too."""
    return _cleaner.clean(_markdown.render(markdown)).strip()
