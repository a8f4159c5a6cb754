"""Names of branches, as `git check-ref-format --branch` allows them."""

import re

MAX_BRANCH = 200  # bytes: file systems limit each part, and hosts the whole

_FORBIDDEN = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|\Z)|\.\Z|/\Z|^[/.-]|^(@|HEAD)\Z"
)


def branch_fault(name: str) -> str | None:
    """Why a branch cannot have this name, in a sentence; None for a good one. Beside what Git
    refuses, these are `@`, which its commands take for HEAD, `refs/...`, which hosts take for the
    full name of something else, and what is invisible in part."""
    if not name or len(name.encode()) > MAX_BRANCH:
        return f"A branch has a name of 1 to {MAX_BRANCH} bytes."
    if _FORBIDDEN.search(name) or not name.isprintable() or name.startswith("refs/"):
        return "Git takes no branch with this name."
    return None
