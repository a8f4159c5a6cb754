"""The grammars of tree-sitter.

They are C code that reads what strangers have written: they are loaded in confined processes alone
(`common.confinement`).
"""

import time
from importlib import import_module
from typing import Final

from tree_sitter import Language, Parser, Tree

# Seconds for one file. One of 400 KB takes a tenth.
MAX_SECONDS: Final = 0.5
_CHUNK: Final = 65_536  # bytes

# The package and its function, where they are not both named by the language.
_GRAMMARS: Final = {
    "php": ("tree_sitter_php", "language_php"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
}


def load(language: str) -> Parser:
    """A parser of the language. It opens files: for the time before a process is confined."""
    package, function = _GRAMMARS.get(language, (f"tree_sitter_{language}", "language"))
    return Parser(Language(getattr(import_module(package), function)()))


def parse(parser: Parser, source: bytes) -> Tree | None:
    """The syntax tree of a text in UTF-8; None where it takes more than `MAX_SECONDS`."""
    view, until = memoryview(source), time.monotonic() + MAX_SECONDS
    try:
        return parser.parse(
            lambda offset, _: view[offset : offset + _CHUNK],
            progress_callback=lambda *_: time.monotonic() > until,
        )
    except ValueError:
        parser.reset()
        return None
