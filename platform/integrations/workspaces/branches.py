"""Names of branches, as Git allows them (git help check-ref-format)."""

import re

MAX_BRANCH = 200  # bytes: file systems limit each part, and hosts the whole

_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|$)|\.$|/$|^[/.-]|^@$")


def branch_fault(name: str) -> str | None:
    """Why a branch cannot have this name, in a sentence; None for a good one."""
    if not name or len(name.encode()) > MAX_BRANCH:
        return f"A branch has a name of 1 to {MAX_BRANCH} bytes."
    if _FORBIDDEN.search(name) or not name.isprintable() or name.startswith("refs/"):
        return "Git takes no branch with this name."
    return None
