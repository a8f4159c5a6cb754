"""Which lines of a part are worth the terminal: its warnings and errors, and its mails."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from devserver.mails import PREFIX

LONGEST = 200  # characters
# A line like the one before is not shown for so many seconds; then it says how many there were.
QUIET_SECONDS = 30.0
MOST_KINDS = 1_000
_LEVELS = ("warning", "error", "critical")
# As `common.logging` writes them: time, level, event, logger, fields.
_LINE = re.compile(rf"\S+Z \[({'|'.join(_LEVELS)}) *\] (.*)")
_LOGGER = re.compile(r" +\[[\w.]+\]")
# How an event begins; other words of a sentence may be ids and numbers.
_EVENT = re.compile(r"[a-z_]+(\.[a-z_]+)+|\D{1,40}")


@dataclass
class _Kind:
    """The lines of one kind: when one was shown, and how many were not since."""

    shown_at: float
    hidden: int = 0


class NotableLines:
    """The lines of one part, each with its level. Of those that come again and again, few."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kinds: dict[str, _Kind] = {}

    def notable(self, line: str) -> str | None:
        """The line as it is shown; None where it is for the log alone."""
        if line.startswith(PREFIX):
            return line
        said = _said(line)
        if said is None:
            return None
        name, now = _kind_of(said), self._clock()
        before = self._kinds.get(name)
        if before and now - before.shown_at < QUIET_SECONDS:
            before.hidden += 1
            return None
        if len(self._kinds) >= MOST_KINDS:
            self._kinds.clear()
        self._kinds[name] = _Kind(now)
        more = f" (and {before.hidden} more like it)" if before and before.hidden else ""
        return _cut(said, LONGEST - len(more)) + more


def _kind_of(said: str) -> str:
    level, _, text = said.partition(" ")
    found = _EVENT.match(text)
    return f"{level} {found[0] if found else ''}"


def _said(line: str) -> str | None:
    """`level event fields` of a warning or an error, whichever form the log has."""
    if found := _LINE.match(line):
        level, text = found.groups()
        return f"{level} {' '.join(_LOGGER.sub('', text, count=1).split())}"
    if not line.startswith("{"):
        return None
    try:
        record = json.loads(line)
    except ValueError:
        return None
    if record.get("level") not in _LEVELS:
        return None
    fields = {name: value for name, value in record.items() if name not in _OF_EVERY_LINE}
    shown = " ".join(f"{name}={_first_line(value)}" for name, value in fields.items())
    return f"{record['level']} {_first_line(record.get('event', ''))} {shown}".rstrip()


_OF_EVERY_LINE = ("level", "event", "timestamp", "logger", "exception")


def _first_line(value: object) -> str:
    return str(value).partition("\n")[0]


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3]}..."
