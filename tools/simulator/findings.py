"""What a question names: numbers, names, quoted words, an arithmetic expression."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

_QUOTED = re.compile(
    r"\"([^\"\n]{1,200})\"|“([^”\n]{1,200})”|(?<!\w)'([^'\n]{1,200})'(?!\w)"
    r"|(?<!`)`([^`\n]{1,200})`(?!`)"
)
_CAPITALISED = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w'\u2019.-]*\w(?:[ ]+[A-ZÀ-ÖØ-Þ][\w'\u2019.-]*\w)*")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w]|\.\d)")
_EXPRESSION = re.compile(r"[\d(][\d\s.()]*(?:(?:\*\*|[-+*/^%])[\s(]*[\d.]+[\s.\d)]*)+")
_JOINED = re.compile(
    r"\s*(?:,|&|,?\s*\b(?:and|or|und|et|y)\b)\s*(?:\b(?:in|for|of|at|to|the|by|also)\b\s*)*",
    re.IGNORECASE,
)
# Words that begin a sentence and name nothing.
_STARTERS = re.compile(
    r"a|add|also|an|and|answer|any|are|ask|at|book|by|calculate|call|can|check|compare|compute"
    r"|convert|could|create|count|describe|divide|do|does|each|execute|explain|extract|fetch"
    r"|find|first|for|from|generate|get|give|has|have|hello|hey|hi|how|i|if|in|is|it|its|list"
    r"|look|make|multiply|my|name|no|now|of|on|open|or|please|provide|put|read|return|run"
    r"|search|send|should|show|solve|some|subtract|sum|summarise|summarize|tell|that|the|then"
    r"|there|this|to|translate|use|user|using|want|was|we|were|what|when|where|which|who|why"
    r"|will|with|would|write|yes|you|your",
    re.IGNORECASE,
)


class Named(NamedTuple):
    """A word or some that name one thing, and where they begin and end in the question."""

    text: str
    start: int
    end: int


@dataclass(slots=True)
class Findings:
    """What can be taken from a text, in its order; what was taken is not taken again."""

    text: str
    names: list[str]
    numbers: list[str]
    expression: str = ""
    whole: str = ""  # what a free text says
    answer: str = field(default="")

    def take_name(self) -> str | None:
        return self.names.pop(0) if self.names else None

    def take_number(self, *, whole: bool) -> str | None:
        """The next number, with `whole` the next that has no fraction."""
        found = next((each for each in self.numbers if not whole or "." not in each), None)
        if found is not None:
            self.numbers.remove(found)
        return found


def find(text: str, names: Sequence[str] | None = None, answer: str = "") -> Findings:
    """All that the text names; with `names`, these and no others."""
    found = _EXPRESSION.search(text)
    return Findings(
        text=text,
        names=[named.text for named in named_in(text)] if names is None else list(names),
        numbers=_NUMBER.findall(text),
        expression=found[0].strip() if found else "",
        whole=" ".join(text.split())[:200],
        answer=answer,
    )


def named_in(text: str) -> list[Named]:
    """The quoted and the capitalised words, in their order. What is quoted comes alone, where
    there is any."""
    quoted = [
        Named(next(filter(None, found.groups())), *found.span()) for found in _QUOTED.finditer(text)
    ]
    return quoted or [named for found in _CAPITALISED.finditer(text) if (named := _name(found))]


def joined_in(text: str) -> list[str]:
    """The longest list of named things in the text: `Paris, Rome and Berlin`. Two with no more than
    a comma between them are one thing and where it is: `Paris, France`."""
    longest: list[str] = []
    run: list[Named] = []
    for named in named_in(text):
        between = text[run[-1].end : named.start] if run else ""
        run = [*run, named] if _JOINED.fullmatch(between) else [named]
        is_list = len(run) > 2 or (len(run) == 2 and between.strip() != ",")
        if is_list and len(run) > len(longest):
            longest = [each.text for each in run]
    return list(dict.fromkeys(longest))


def _name(found: re.Match[str]) -> Named | None:
    """The capitalised words without a first one that only begins a sentence."""
    start, words = found.start(), found[0]
    while words and _STARTERS.fullmatch(words.partition(" ")[0]):
        rest = words.partition(" ")[2].lstrip()
        start += len(words) - len(rest)
        words = rest
    return Named(words, start, found.end()) if words not in ("", "JSON") else None
