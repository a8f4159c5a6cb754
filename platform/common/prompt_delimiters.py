"""Delimiters that separate a prompt's own words from the texts that it quotes."""

import re
from html import escape


class PromptDelimiters:
    """Creates the sections of a prompt with these tags."""

    def __init__(self, *tags: str) -> None:
        # Anything like one of the prompt's own tags, at the start or the end of a section. The `+`
        # does not backtrack: otherwise n spaces after a `<` would be tried in n ways.
        self._forged = re.compile(rf"<(?=\s*+(?:/\s*+)?(?:{'|'.join(tags)})\b)", re.IGNORECASE)

    def __call__(self, tag: str, text: str, **attributes: str) -> str:
        """A section with a user's or a model's text, which can neither end the section nor begin
        another."""
        return section(tag, self._forged.sub("&lt;", text), **attributes)


def section(tag: str, text: str, **attributes: str) -> str:
    """A section with the prompt's own words, and other sections. Empty attributes are left out."""
    named = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items() if value)
    return f"<{tag}{named}>\n{text}\n</{tag}>"
