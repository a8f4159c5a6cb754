"""Names that Git refuses (git help check-ref-format; verify_path of its index)."""

import re

_BAD_BRANCH = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|\Z)|[./]\Z|^[/.-]|^(@|HEAD)?\Z"
)


def branch_is_bad(name: str) -> bool:
    return _BAD_BRANCH.search(name) is not None


def path_is_bad(path: str) -> bool:
    """Would Git refuse it in a tree?"""
    parts = path.split("/")
    is_git = any(part.lower() in ("", ".", "..", ".git") for part in parts)
    return is_git or "\0" in path or len(path.encode()) > 4096
