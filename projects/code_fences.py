"""Code fences that models put around the whole content of a file, although nobody asked for one."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

_OPENING = re.compile(r"(`{3,}|~{3,})[ \t]*([^`\s]*)[ \t]*\r?")
_MARKDOWN = frozenset({"md", "mdx", "markdown"})
# What models call the languages of files, by the extensions of these or, without one, their names.
_LANGUAGES: dict[str, frozenset[str]] = {
    extension: frozenset(names.split())
    for extensions, names in (
        ("bash sh zsh", "bash sh shell zsh console"),
        ("c h", "c h"),
        ("cc cpp cxx hpp", "cc c++ cpp cxx hpp"),
        ("cs", "cs csharp c#"),
        ("conf ini cfg", "conf ini cfg toml"),
        ("htm html", "htm html"),
        ("cjs js jsx mjs", "cjs js jsx mjs javascript javascriptreact"),
        ("json jsonc", "json jsonc json5"),
        ("kt kts", "kt kts kotlin"),
        ("md mdx markdown", "md mdx markdown"),
        ("py pyi", "py pyi python python3"),
        ("rb", "rb ruby"),
        ("rs", "rs rust"),
        ("svg xml", "svg xml"),
        ("text txt", "text txt plain plaintext"),
        ("cts mts ts tsx", "cts mts ts tsx typescript typescriptreact"),
        ("yaml yml", "yaml yml"),
    )
    for extension in extensions.split()
}


def without_fence(path: str, lines: Sequence[str]) -> list[str] | None:
    """The lines of a file without the code fence around all of them; None where there is none.

    The language of the fence is that of the file, or not named. In Markdown a fence may be meant:
    it is one around the whole only where what it begins ends with the last line, the fences within
    it being closed before.
    """
    filled = [number for number, line in enumerate(lines) if line.strip()]
    if len(filled) < 2:
        return None
    first, last = filled[0], filled[-1]
    opening = _OPENING.fullmatch(lines[first])
    if opening is None or not _closes(lines[last], opening[1]) or not _fits(opening[2], path):
        return None
    inner = [*lines[first + 1 : last]]
    if _kind_of(path) in _MARKDOWN and not _is_balanced(inner):
        return None
    return inner


def _fits(language: str, path: str) -> bool:
    """Whether a fence with this language, `python` or `python:src/app.py`, has such a file."""
    name = language.lower().partition(":")[0]
    kind = _kind_of(path)
    names = {"", kind, path.lower(), PurePosixPath(path).name.lower()}
    return name in names or name in _LANGUAGES.get(kind, ())


def _kind_of(path: str) -> str:
    """The extension of a file, or its name where it has none, in small letters."""
    pure = PurePosixPath(path.lower())
    return pure.suffix.removeprefix(".") or pure.name


def _closes(line: str, opening: str) -> bool:
    text = line.strip()
    return len(text) >= len(opening) and text == opening[0] * len(text)


def _is_balanced(lines: Sequence[str]) -> bool:
    """Whether each fence that the lines begin is ended by a later one of them. Only one with a
    language is sure to begin: a bare one ends the fence around all where none is open."""
    opened: list[str] = []
    for line in lines:
        found = _OPENING.fullmatch(line)
        if found is None:
            continue
        if opened and _closes(line, opened[-1]):
            opened.pop()
        elif found[2]:
            opened.append(found[1])
        else:
            return False
    return not opened
