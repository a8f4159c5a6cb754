"""The names that source files define, found by their syntax in a confined process."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from common.confined_answers import ask
from integrations.workspaces.languages import language_of

# For all files of a call. Sixty ordinary ones take a tenth of a second.
SECONDS: Final = 15.0

_decode = msgspec.json.Decoder(list[tuple[str, str, int]]).decode


class Symbol(NamedTuple):
    """`kind` is class, interface, type, module, function, method, constant or export; `line` counts
    from 1."""

    name: str
    kind: str
    line: int


def symbols_of(path: str, text: str) -> list[Symbol]:
    """The symbols of one file, by line; none where nothing is known of its language, or it takes
    too long. Blocks."""
    return symbols_in({path: text}).get(path, [])


def symbols_in(files: Mapping[str, str]) -> dict[str, list[Symbol]]:
    """The symbols of files, by path: one process reads all of them. Files without any are left
    out. Blocks for at most `SECONDS`."""
    known = {path: language for path in files if (language := language_of(path)) is not None}
    questions = [f"{language}\0{files[path]}".encode() for path, language in known.items()]
    languages = sorted(set(known.values()))
    answers = ask("integrations.workspaces.symbol_reader", languages, questions, seconds=SECONDS)
    found = {
        path: [Symbol(*row) for row in _decode(answer)]
        for path, answer in zip(known, answers, strict=True)
        if answer is not None
    }
    return {path: symbols for path, symbols in found.items() if symbols}
