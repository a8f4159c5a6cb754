"""Texts that match a simple regular expression: one is made of the smallest choices."""

import re

_CLASSES = {"d": "0", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a"}
_LONGEST = 1000
_ATOM = re.compile(
    r"\\(?P<escaped>.)|\[(?P<set>\^?\]?(?:\\.|[^\]])*)\]|(?P<open>\((?:\?:|\?P<\w+>)?)|(?P<char>.)",
    re.DOTALL,
)
_COUNT = re.compile(r"\{(\d+)(?:,\d*)?\}|[+*?]")


def matches(pattern: str, text: str) -> bool:
    """Does the pattern match somewhere in the text? A pattern that Python cannot read matches
    anything."""
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return True


def example(pattern: str) -> str:
    """A short text that matches a pattern of characters, sets, groups, alternatives and counts;
    other patterns get some text."""
    return _sequence(pattern, 0)[0][:_LONGEST]


def _sequence(pattern: str, start: int) -> tuple[str, int]:
    """The text of the first alternative from there to the end of the group, and its end."""
    text, position, is_first = "", start, True
    while position < len(pattern) and pattern[position] != ")":
        if pattern[position] == "|":
            is_first = False
            position += 1
            continue
        found, position = _atom(pattern, position)
        count = _COUNT.match(pattern, position)
        if count:
            position = count.end() + pattern[count.end() : count.end() + 1].count("?")
            found *= min(int(count[1]), _LONGEST) if count[1] else int(count[0] == "+")
        if is_first and len(text) < _LONGEST:
            text += found
    return text, position + 1


def _atom(pattern: str, position: int) -> tuple[str, int]:
    found = _ATOM.match(pattern, position)
    if found is None:
        return "", position + 1
    if found["open"]:
        return _sequence(pattern, found.end())
    if (escaped := found["escaped"]) is not None:
        return ("" if escaped in "bBAZ" else _CLASSES.get(escaped, escaped)), found.end()
    if (members := found["set"]) is not None:
        return _member(members), found.end()
    return {"^": "", "$": "", ".": "a"}.get(found["char"], found["char"]), found.end()


def _member(members: str) -> str:
    """A character of a set."""
    if members.startswith("^"):
        return next((char for char in "a0 -_" if not re.search(f"[{members[1:]}]", char)), "~")
    if members.startswith("\\"):
        return _CLASSES.get(members[1:2], members[1:2])
    return members[:1]
