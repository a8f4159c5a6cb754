"""What staged files were made from: the versions that their authors have seen."""

from collections.abc import Collection, Iterable, Mapping

from django.db.models import Q
from msgspec import Struct

from integrations.workspaces.changes import blob_id
from projects.models import AttemptFile, FileMerge, Run
from projects.selectors.staged import Staged
from projects.types import MergeState


class Base(Struct, frozen=True):
    """A version of a file. `sha` is Git's id of it; `content` is None where it was not read."""

    sha: str
    content: str | None


class Bases:
    """The bases of the staged files of a run: what their conflict was resolved with; else what was
    written last from here, to the branch if one is given; else the file at the run's commit."""

    def __init__(
        self, run: Run, staged: Collection[Staged], *, target: str = "", branch: str = ""
    ) -> None:
        self._entries = run.checkout.entries if run.checkout is not None else {}
        self._contents = _contents_at_commit(run, {each.source for each in staged})
        self._written = _written(run)
        self._last = _last_written(run, target, branch)
        merges = _resolved(staged)
        self._resolved = {merge.file_id: _base_of(merge) for merge in merges}
        self._elsewhere = {
            merge.file_id for merge in merges if target and _is_of_another(merge, target, branch)
        }

    def of(self, staged: Staged) -> Base | None:
        """None where there was no file."""
        row = staged.rows[-1]
        return self._resolved[row.pk] if row.pk in self._resolved else self._first(staged)

    def base_before_conflict(self, staged: Staged) -> Base | None:
        """The base that a file had before its conflict with another branch was resolved, with the
        text and the id "" where there was no file; None where there was no such conflict."""
        if staged.rows[-1].pk not in self._elsewhere:
            return None
        return self._first(staged) or Base("", "")

    def _first(self, staged: Staged) -> Base | None:
        path = staged.source
        if path in self._last:
            content = self._last[path]
            return Base(blob_id(content), content) if content is not None else None
        entry = self._entries.get(path)
        return Base(entry.sha, self._contents.get(path)) if entry is not None else None

    def mode_of(self, staged: Staged) -> str | None:
        """The mode of the file at the run's commit."""
        entry = self._entries.get(staged.source)
        return entry.mode if entry is not None else None

    def seen(self, staged: Staged) -> frozenset[str]:
        """The ids of the versions that may be replaced: the base, and what was written from here.
        A file whose conflict was resolved is not the one of the run's commit any more."""
        own = self._written.get(staged.source, frozenset())
        row = staged.rows[-1].pk
        if row in self._resolved:
            base = self._resolved[row]
            return own | ({base.sha} if base is not None else frozenset())
        entry = self._entries.get(staged.source)
        return own | ({entry.sha} if entry is not None else frozenset())


def _contents_at_commit(run: Run, paths: Iterable[str]) -> dict[str, str | None]:
    """The files of the repository at these paths, as far as they were read."""
    if run.checkout is None:
        return {}
    rows = run.checkout.files.filter(path__in=[*paths])
    return dict(rows.values_list("path", "content"))


def _written(run: Run) -> Mapping[str, frozenset[str]]:
    """The ids of all contents that were written from here, by path."""
    rows = AttemptFile.objects.filter(attempt__subtask__run=run).exclude(applied_at=None)
    ids: dict[str, frozenset[str]] = {}
    for path, content in rows.exclude(op="delete").values_list("path", "content"):
        ids[path] = ids.get(path, frozenset()) | {blob_id(content)}
    return ids


def _last_written(run: Run, target: str, branch: str) -> dict[str, str | None]:
    """What the latest order has written, or found there, by path; None where it has deleted the
    file. Only those for a branch are looked at, if one is given."""
    rows = AttemptFile.objects.filter(attempt__subtask__run=run).exclude(applied_at=None)
    if target:
        place = Q(target=target) if target == "default" else Q(target=target, branch=branch)
        rows = rows.filter(applied_at__in=run.applies.filter(place).values("ended_at"))
    in_order = rows.order_by("applied_at", "attempt__subtask__position", "id")
    return {
        path: None if op == "delete" else content
        for path, op, content in in_order.values_list("path", "op", "content")
    }


def _resolved(staged: Iterable[Staged]) -> list[FileMerge]:
    """The conflicts that were resolved, of the rows that count."""
    merges = FileMerge.objects.filter(file__in=[each.rows[-1].pk for each in staged], has_base=True)
    return list(merges.select_related("order").defer("theirs", "text"))


def _base_of(merge: FileMerge) -> Base | None:
    return Base(merge.base_sha, merge.base) if merge.base_sha else None


def _is_of_another(merge: FileMerge, target: str, branch: str) -> bool:
    """Was the conflict one with another branch than this?"""
    order = merge.order
    if order is None or merge.state != MergeState.RESOLVED:
        return False
    return order.target != target or (target == "branch" and order.branch != branch)
