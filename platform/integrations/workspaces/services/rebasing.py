"""Brings changes onto a branch on which somebody else has changed the same files.

What both have changed in different lines is merged. What cannot be is left as it is, and told: no
line of somebody else is lost.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from integrations.githosts.types import FILE, SUBMODULE, SYMLINK, Entry, GitHost
from integrations.safe_http.errors import Missing
from integrations.safe_http.rest import side_by_side
from integrations.workspaces.changes import StagedChange, blob_id
from integrations.workspaces.merging import MAX_LINES, merge
from integrations.workspaces.services.checkouts import read_text

# Files of one commit that are merged: both versions of each are asked for.
MAX_MERGES: Final = 50

_TOO_MANY = (
    "Somebody has changed the file since the run has read it, and more files than can be merged at "
    "a time. Apply fewer files."
)
_NO_TEXT = "Somebody has changed the file since the run has read it: it is no text, or too long."
_DELETED = "Somebody has changed the file that is to be deleted."
_MOVED = "The file is not there any more. Its content is at {path} now."


class Merge(Struct, frozen=True, kw_only=True):
    """How a change meets the version of somebody else, which has the id `sha`, "" where it is gone,
    and the text `theirs`. `text` is that of both, with conflict markers unless it `is_clean`, or
    theirs where the file is to be deleted. Texts are None where there is none."""

    sha: str
    theirs: str | None = None
    text: str | None = None
    is_clean: bool = False


class Rebased(Struct, frozen=True):
    """The changes, with the texts of both sides where these could be merged. `merges` are of the
    files that somebody else has changed, `problems` say why one could not be merged, by path."""

    changes: Sequence[StagedChange]
    merges: Mapping[str, Merge]
    problems: Mapping[str, str]


def rebase(
    host: GitHost,
    repository: str,
    branch: str,
    changes: Sequence[StagedChange],
    tree: Mapping[str, Entry],
) -> Rebased:
    """Merge the changes with the entries of the newest commit of a branch. Raises HostError."""
    rebasing = _Rebasing(branch, tree)
    changed = [each for each in changes if rebasing.is_changed(each)]
    texts = _Texts(host, repository, tree)
    texts.read([each for each in changed if each.source in tree][:MAX_MERGES])
    for change in changed:
        rebasing.add(change, texts)
    rebased = [rebasing.merged.get(each.path, each) for each in changes]
    return Rebased(rebased, rebasing.merges, rebasing.problems)


class _Texts:
    """Both versions of files, by path; None for what is no text, too long or gone."""

    def __init__(self, host: GitHost, repository: str, tree: Mapping[str, Entry]) -> None:
        self._host, self._repository, self._tree = host, repository, tree
        self.theirs: dict[str, str | None] = {}
        self.bases: dict[str, str | None] = {}

    def read(self, changes: Sequence[StagedChange]) -> None:
        """Read what is not known yet, side by side."""
        unread = [each for each in changes if each.base is None and each.base_sha]
        wanted = [self._tree[each.source] for each in changes]
        wanted += [Entry(each.source, FILE, each.base_sha, None) for each in unread]
        found = side_by_side(self._read, wanted)
        paths = [each.path for each in changes]
        self.theirs = dict(zip(paths, found, strict=False))
        self.bases = {each.path: each.base for each in changes}
        self.bases |= zip([each.path for each in unread], found[len(paths) :], strict=True)

    def _read(self, entry: Entry) -> str | None:
        try:
            return read_text(self._host, self._repository, entry)[0]
        except Missing:  # nobody has a commit with this version any more
            return None


class _Rebasing:
    def __init__(self, branch: str, tree: Mapping[str, Entry]) -> None:
        self.merged: dict[str, StagedChange] = {}
        self.merges: dict[str, Merge] = {}
        self.problems: dict[str, str] = {}
        self._branch, self._tree = branch, tree
        self._lines = 0

    def is_changed(self, change: StagedChange) -> bool:
        """Has somebody else changed the file? Links and folders are not for merges."""
        entry = self._tree.get(change.source)
        if entry is None:
            return change.op != "create"
        if entry.mode in (SYMLINK, SUBMODULE) or entry.sha in change.seen:
            return False
        is_same = change.op != "move" and entry.sha == blob_id(change.content or "")
        return not is_same or change.op == "delete"

    def add(self, change: StagedChange, texts: _Texts) -> None:
        entry = self._tree.get(change.source)
        if entry is None and change.op == "update" and change.origin == "":
            self.merged[change.path] = replace(change, op="create")
            return
        if entry is None:
            self._add_gone(change)
            return
        if change.path not in texts.theirs:
            self.problems[change.path] = _TOO_MANY
            return
        theirs, base = texts.theirs[change.path], texts.bases[change.path]
        if change.op == "delete":
            self.problems[change.path] = _DELETED
            self.merges[change.path] = Merge(sha=entry.sha, theirs=theirs, text=theirs)
        elif theirs is None or base is None or change.content is None:
            self.problems[change.path] = _NO_TEXT
            self.merges[change.path] = Merge(sha=entry.sha, theirs=theirs)
        else:
            self._merge(change, entry, base, change.content, theirs)

    def _merge(self, change: StagedChange, entry: Entry, base: str, ours: str, theirs: str) -> None:
        self._lines += sum(text.count("\n") + 1 for text in (base, ours, theirs))
        if self._lines > MAX_LINES:
            self.problems[change.path] = _TOO_MANY
            return
        found = merge(base, ours, theirs, theirs_name=self._branch)
        origin = theirs if entry.sha == change.origin_sha else change.origin
        if not found.is_clean and origin is not None:
            # The branch may have nothing of what the content was made from.
            again = merge(origin, ours, theirs, theirs_name=self._branch)
            found = again if again.is_clean else found
        self.merges[change.path] = Merge(
            sha=entry.sha, theirs=theirs, text=found.text, is_clean=found.is_clean
        )
        if found.is_clean:
            self.merged[change.path] = replace(
                change, content=found.text, seen=change.seen | {entry.sha}
            )

    def _add_gone(self, change: StagedChange) -> None:
        """What is to be deleted needs no more than that."""
        if change.op != "delete":
            self.merges[change.path] = Merge(sha="")
        places = [path for sha in change.seen for path in self._paths_by_id.get(sha, ())]
        if len(places) == 1:
            self.problems[change.path] = _MOVED.format(path=places[0])

    @cached_property
    def _paths_by_id(self) -> Mapping[str, Sequence[str]]:
        paths: dict[str, list[str]] = {}
        for path, entry in self._tree.items():
            paths.setdefault(entry.sha, []).append(path)
        return paths
