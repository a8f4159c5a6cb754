"""Sections of a prompt, and what they hold kept apart from what the prompt says itself."""

import re
from html import escape


class PromptDelimiters:
    """Makes the sections of a prompt whose tags are these."""

    def __init__(self, *tags: str) -> None:
        # What would look like one of the prompt's own tags, at the beginning or the end of a
        # section. No space is given back (`+`): else n spaces after a `<` would be cut in two in n
        # ways.
        self._forged = re.compile(rf"<(?=\s*+(?:/\s*+)?(?:{'|'.join(tags)})\b)", re.IGNORECASE)

    def __call__(self, tag: str, text: str, **attributes: str) -> str:
        """A section with somebody's words, which can neither end it nor begin another."""
        return section(tag, self._forged.sub("&lt;", text), **attributes)


def section(tag: str, text: str, **attributes: str) -> str:
    """A section with words of the prompt itself, other sections among them. Attributes that are
    empty are left out."""
    named = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items() if value)
    return f"<{tag}{named}>\n{text}\n</{tag}>"
