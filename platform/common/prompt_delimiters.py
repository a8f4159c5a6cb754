"""Delimiters that separate a prompt's own words from the texts that it quotes.

A quoted text cannot contain a delimiter: neither one of the prompt, nor one of the chat templates
by which models tell roles apart, nor either of them in disguise, with characters that do not show
or with other forms of its letters. The first character of one becomes `&lt;` or `&#91;`, and
`ENTITIES` tells so. What ordinary code and HTML have, such as `<s>` and `list[inst]`, is no
delimiter of a chat template.
"""

import re
import unicodedata
from html import escape
from itertools import chain
from typing import Final

# For prompts whose answers may repeat what was quoted.
ENTITIES: Final = (
    "In quoted texts &lt; or &#91; stands for < or [ where these would begin something like a "
    "delimiter. Where you repeat such a text, in a file for example, write < or [."
)

# A chat template's tokens in angle brackets (Gemma), also those that end with `|>`, and in square
# brackets (Llama 2, Mistral), in capitals alone: `list[inst]` is code. Those of others (ChatML,
# Llama 3, Harmony) have any name between `<|` and `|>`.
_ANGLED: Final = ("start_of_turn", "end_of_turn")
_ENDED: Final = ("turn", "channel", "think", "tool", "tool_call", "tool_response")
_SQUARED: Final = (
    *("INST", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS", "TOOL_CONTENT"),
)

# Characters that people and models overlook: control characters, Unicode's format characters and
# Default_Ignorable_Code_Point, and marks that combine with the character before.
_UNSEEN: Final = chain(
    *(range(0x09), range(0x0E, 0x20), range(0x7F, 0xA0), [0xAD], range(0x300, 0x370)),
    *(range(0x600, 0x606), [0x61C, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x115F, 0x1160]),
    *([0x17B4, 0x17B5], range(0x180B, 0x1810), range(0x1AB0, 0x1B00), range(0x1DC0, 0x1E00)),
    *(range(0x200B, 0x2010), range(0x202A, 0x202F), range(0x2060, 0x2070), range(0x20D0, 0x2100)),
    *([0x2800, 0x3164, 0xFEFF, 0xFFA0], range(0xFE00, 0xFE10), range(0xFE20, 0xFE30)),
    *(range(0xFFF0, 0xFFFC), [0x110BD, 0x110CD], range(0x13430, 0x13440)),
    *(range(0x1BCA0, 0x1BCA4), range(0x1D173, 0x1D17B), range(0xE0000, 0xE1000)),
)
# Where Unicode has ASCII in other forms: raised, as a symbol, circled, small, wide, mathematical.
_FORMS: Final = chain(
    *([0x17F], range(0x2B0, 0x2E5), range(0x1D2C, 0x1D6B), range(0x2070, 0x209D)),
    *(range(0x2100, 0x214A), range(0x2160, 0x2180), range(0x24B6, 0x24EA), range(0xFE4D, 0xFE6C)),
    *(range(0xFF01, 0xFF5F), range(0x1D400, 0x1D800)),
)
# Characters that look like these, and that Unicode does not derive from them.
_LOOKALIKES: Final = {
    "<": "\u02c2\u1438\u2039\u2329\u276e\u27e8\u3008",
    ">": "\u02c3\u1433\u203a\u232a\u276f\u27e9\u3009",
    "|": "\u01c0\u2223\u2502\u2758",
    "/": "\u2044\u2215\u29f8",
}
_GAP: Final = r"[\s\0]*+"  # possessive: n spaces are not tried in n ways
_ENTITIES: Final = {"<": "&lt;", "[": "&#91;"}


def _plain_forms() -> dict[int, str]:
    """One character for one: NUL for what does not show, ASCII for its other forms."""
    plain = dict.fromkeys(_UNSEEN, "\0")
    for point in _FORMS:
        form = unicodedata.normalize("NFKC", chr(point))
        if form.isascii() and len(form) == 1:
            plain[point] = form
    for character, alike in _LOOKALIKES.items():
        plain |= dict.fromkeys(map(ord, alike), character)
    return plain


_PLAIN: Final = _plain_forms()


class PromptDelimiters:
    """Creates the sections of a prompt with these tags."""

    def __init__(self, *tags: str) -> None:
        slash = rf"{_GAP}(?:/{_GAP})?"
        own = rf"{slash}{_one_of(tags)}\b"
        # `<|` with a space behind it is an operator of some languages, and `<|x|>` a closure.
        named = rf"{_GAP}\|(?:\0*+[^\s\0<>|]){{2,60}}{_GAP}(?:\|{_GAP})?>"
        angled = rf"{slash}(?:{_one_of(_ANGLED)}|{_one_of(_ENDED)}{_GAP}\|){_GAP}>"
        system = rf"\0*+<\0*+(?:/\0*+)?{_one_of(('SYS',))}\0*+>"
        squared = rf"{slash}{_one_of(_SQUARED)}{_GAP}\]"
        self._delimiter = re.compile(rf"<(?=(?i:{own}|{named}|{angled})|{system})|\[(?={squared})")

    def __call__(self, tag: str, text: str, **attributes: str) -> str:
        """A section with a user's or a model's text, which can neither end the section nor begin
        another. Empty attributes are left out."""
        named = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items() if value)
        # With the end of the tag, which could be that of a token as well.
        opening = f"<{tag}{self._without(f'{named}>')}"
        return f"{opening}\n{self._without(text)}\n</{tag}>"

    def _without(self, text: str) -> str:
        """The text without anything like a delimiter."""
        parts, end = [], 0
        for found in self._delimiter.finditer(text.translate(_PLAIN)):
            parts += [text[end : found.start()], _ENTITIES[found[0]]]
            end = found.end()
        return "".join([*parts, text[end:]])


def section(tag: str, text: str) -> str:
    """A section with the prompt's own words, and other sections."""
    return f"<{tag}>\n{text}\n</{tag}>"


def _one_of(words: tuple[str, ...]) -> str:
    """A pattern of these words, with anything that does not show between their characters."""
    return "(?:" + "|".join(r"\0*+".join(word) for word in words) + ")"
