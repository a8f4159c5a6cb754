"""Patches of files, which `git apply` takes (git help diff, "Generating patch text with -p")."""

from typing import Final

from pygit2 import Patch

from integrations.githosts.types import FILE
from integrations.workspaces.changes import blob_id

_NO_BLOB: Final = "0" * 40


def patch_of(
    path: str,
    before: str | None,
    after: str | None,
    *,
    previous_path: str | None = None,
    mode: str = FILE,
) -> str:
    """What makes `after` of `before`: None for a file that is not there. `mode` is the one that it
    has, `previous_path` where a moved file was. Paths are as `projects.paths` allows them."""
    source = previous_path or path
    hunks = _hunks(before or "", after or "")
    lines = [f"diff --git a/{source} b/{path}"]
    if before is None:
        lines.append(f"new file mode {mode}")
    elif after is None:
        lines.append(f"deleted file mode {mode}")
    if previous_path is not None:
        lines += [f"rename from {source}", f"rename to {path}"]
    if before != after:
        lines.append(f"index {_id(before)}..{_id(after)}{_kept_mode(before, after, mode)}")
    if hunks:
        lines.append("--- /dev/null" if before is None else f"--- {_name('a', source)}")
        lines.append("+++ /dev/null" if after is None else f"+++ {_name('b', path)}")
    return "".join(f"{line}\n" for line in lines) + hunks


def _hunks(before: str, after: str) -> str:
    """Empty where both are the same."""
    # The patch reads them where they are, and does not keep them.
    old, new = before.encode(), after.encode()
    patch = Patch.create_from(old, new, context_lines=3)
    text: str = patch.data.decode()
    start = text.find("\n@@ ")
    return text[start + 1 :] if start >= 0 else ""


def _id(content: str | None) -> str:
    return blob_id(content) if content is not None else _NO_BLOB


def _kept_mode(before: str | None, after: str | None, mode: str) -> str:
    return f" {mode}" if before is not None and after is not None else ""


def _name(side: str, path: str) -> str:
    """A name with a space ends with a tab, so that it does not end at the space."""
    return f"{side}/{path}\t" if " " in path else f"{side}/{path}"
