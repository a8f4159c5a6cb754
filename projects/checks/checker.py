"""Checks texts, in a confined process: see `projects.checks.checking`.

The arguments are the grammars. A question is the kind, the path and the text, with nulls between
them; the answer is JSON, `Found`.
"""

import signal
import sys
from contextlib import suppress
from typing import Final

import msgspec
from tree_sitter import Parser

from common.confined_answers import serve
from common.confinement import confine
from integrations.workspaces.grammars import load
from projects.checks.data import check_json, check_toml, check_yaml
from projects.checks.faults import Found
from projects.checks.kinds import GRAMMARS
from projects.checks.links import read_links
from projects.checks.pages import check_html
from projects.checks.programs import check_python, check_script

CPU_SECONDS: Final = 6
MEMORY: Final = 512 * 1024 * 1024  # bytes of address space
# Seconds of the processor for one file, until it is left; and until the process ends, where a
# parser in C does not come back.
_SECONDS: Final = 0.8
_LAST_SECONDS: Final = 1.5


class _TookTooLong(Exception):
    pass


def main() -> None:
    parsers = {grammar: load(grammar) for grammar in sys.argv[1:]}
    signal.signal(signal.SIGVTALRM, _stop)
    confine(cpu_seconds=CPU_SECONDS, memory=MEMORY)
    serve(lambda question: msgspec.json.encode(_answer(parsers, question)))


def _stop(*_: object) -> None:
    raise _TookTooLong


def _answer(parsers: dict[str, Parser], question: bytes) -> Found:
    kind, path, text = question.decode().split("\0", 2)
    found = Found()
    # The outermost handler: whatever a parser raises now, the text is not judged.
    with suppress(Exception):
        signal.setitimer(signal.ITIMER_PROF, _LAST_SECONDS)
        signal.setitimer(signal.ITIMER_VIRTUAL, _SECONDS)
        found = _found(kind, path, text, parsers)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return found


def _found(kind: str, path: str, text: str, parsers: dict[str, Parser]) -> Found:
    match kind:
        case "html":
            return Found(check_html(text))
        case "json":
            return Found(check_json(path, text))
        case "markdown":
            return read_links(text)
        case "python":
            return Found(check_python(text, parsers))
        case "toml":
            return Found(check_toml(text))
        case "yaml":
            return Found(check_yaml(text))
    return Found(check_script(kind, text, parsers) if kind in GRAMMARS else ())


if __name__ == "__main__":
    main()
