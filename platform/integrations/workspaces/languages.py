"""The programming languages of files, by their paths: those of which there is a grammar
(`integrations.workspaces.grammars`)."""

from pathlib import PurePosixPath
from typing import Final

_ENDS: Final = {
    "c": (".c", ".h"),
    "go": (".go",),
    "java": (".java",),
    "javascript": (".js", ".jsx", ".mjs", ".cjs"),
    "php": (".php",),
    "python": (".py", ".pyi"),
    "ruby": (".rb", ".rake", ".gemspec"),
    "rust": (".rs",),
    "tsx": (".tsx",),
    "typescript": (".ts", ".mts", ".cts"),
}
_LANGUAGES: Final = {end: name for name, ends in _ENDS.items() for end in ends}


def language_of(path: str) -> str | None:
    """The language of a file; None where there is no grammar of it."""
    return _LANGUAGES.get(PurePosixPath(path).suffix.lower())
