"""What a conversation shows: its sections, the files in them, the facts."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from html import unescape

from simulator.competence.knowledge import Knowledge

_OPENING = re.compile(r'^<(\w+)((?: \w+="[^"\n]*")*)>\n', re.MULTILINE)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
_NAME = re.compile(r"\{(\w+)\}")
_LEFT_OUT = re.compile(r"\[(?:No text, or too long|\d+ characters, left out)[^\n]*\]")
# The prompt's own words, in which nobody finds a fact.
_OWN = re.compile(r"<(rules|form|models)>\n.*?\n</\1>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Section:
    """One section of a prompt, with the others in it."""

    tag: str
    attributes: dict[str, str]
    text: str


class Shown:
    """The messages of others: the first one and, where there is one, the latest; what stands
    between them are answers of one's own. `hears_all`: they are results of calls."""

    def __init__(self, texts: Sequence[str], *, hears_all: bool = False) -> None:
        others = texts if hears_all else [*texts[:1], *texts[1:][-1:]]
        self.first = texts[0] if texts else ""
        self.sections = [each for text in others for each in _sections(text)]
        self.text = "\n".join(_OWN.sub("", text) for text in others)
        self.files = {
            each.attributes["name"]: _plain(each.text)
            for each in self.sections
            if each.tag == "file"
            and "name" in each.attributes
            and not _LEFT_OUT.fullmatch(each.text)
        }

    def section(self, tag: str) -> str:
        """The last section with that tag; empty where there is none."""
        return next((each.text for each in reversed(self.sections) if each.tag == tag), "")

    def with_sections(self, tags: Collection[str]) -> str:
        """The first message without anything but the sections of these tags."""
        return "\n".join(found[0] for found in _named(tags).finditer(self.first))

    def without_sections(self, tags: Collection[str]) -> str:
        """The first message without the sections of these tags."""
        return _named(tags).sub("", self.first)

    def has_path(self, path: str) -> bool:
        """Is the path, or the name at its end, anywhere to be seen?"""
        name = re.escape(path.rpartition("/")[2])
        return re.search(rf"(?<![\w.-]){name}(?![\w-])", self.text) is not None

    def facts(self, knowledge: Knowledge) -> dict[str, str]:
        """The facts that are to be seen."""
        found = {}
        for name, fact in knowledge.facts.items():
            if match := re.search(fact.pattern, self.text):
                found[name] = next(group for group in match.groups() if group is not None).strip()
        return found


def filled(text: str, knowledge: Knowledge, facts: dict[str, str]) -> str:
    """A text with its facts, of which some may be wrong."""

    def value(found: re.Match[str]) -> str:
        fact = knowledge.facts.get(found[1])
        return found[0] if fact is None else facts.get(found[1], fact.wrong)

    return _NAME.sub(value, text)


def names_in(text: str, knowledge: Knowledge) -> list[str]:
    """The facts that a text has."""
    return [name for name in _NAME.findall(text) if name in knowledge.facts]


def _named(tags: Collection[str]) -> re.Pattern[str]:
    return re.compile(rf"^<({'|'.join(tags)})>\n.*?\n</\1>$", re.DOTALL | re.MULTILINE)


def _sections(prompt: str) -> Iterator[Section]:
    for opened in _OPENING.finditer(prompt):
        end = prompt.find(f"\n</{opened[1]}>", opened.end() - 1)
        if end >= 0:
            attributes = {name: unescape(value) for name, value in _ATTRIBUTE.findall(opened[2])}
            yield Section(opened[1], attributes, prompt[opened.end() : max(end, opened.end())])


def _plain(text: str) -> str:
    return text.replace("&lt;", "<").replace("&#91;", "[")
