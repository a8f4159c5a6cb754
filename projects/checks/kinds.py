"""What a file is checked as, by its path, and what is never checked."""

import re
from pathlib import PurePosixPath
from typing import Final

from integrations.workspaces.filetypes import is_generated_folder, is_written_by_hand
from integrations.workspaces.languages import language_of

# By the ends of names. Scripts are known by their grammars.
_KINDS: Final = {
    ".htm": "html",
    ".html": "html",
    ".json": "json",
    ".ipynb": "json",
    ".geojson": "json",
    ".webmanifest": "json",
    ".md": "markdown",
    ".markdown": "markdown",
    ".toml": "toml",
    ".yaml": "yaml",
    ".yml": "yaml",
}
# Grammars by which a file may be read, where its own does not fit: types in JavaScript are Flow's.
GRAMMARS: Final = {
    "javascript": ("javascript", "tsx"),
    "python": ("python",),
    "tsx": ("tsx",),
    "typescript": ("typescript", "tsx"),
}

# Placeholders that a program fills in before anybody parses the file. Those of GitHub's workflows,
# `${{ }}`, stand in strings.
_PLACEHOLDER: Final = re.compile(r"(?<!\$)\{\{|\{%|<%|<\?(?!xml)")
# In a program, two braces are mostly its own.
_PLACEHOLDER_IN_CODE: Final = re.compile(r"\{%.*?%\}|\{\{[-~\s]*[\w.]+\s*(\|[^{}]*)?[-~]?\}\}|<%")


def kind_of(path: str) -> str | None:
    """A language, html, json, markdown, toml or yaml; None for a file that is not checked."""
    *folders, name = path.split("/")
    if "{{" in path or not is_written_by_hand(name) or any(map(is_generated_folder, folders)):
        return None
    language = language_of(name)
    if language is not None:
        return language if language in GRAMMARS else None
    return _KINDS.get(PurePosixPath(name).suffix.lower())


def is_template(kind: str, text: str) -> bool:
    """Whether a program is to fill something in first."""
    in_code = kind in GRAMMARS or kind == "markdown"
    return bool((_PLACEHOLDER_IN_CODE if in_code else _PLACEHOLDER).search(text))
