"""Writes a set of changes to a branch as one commit, of those that fit.

Whatever somebody else commits meanwhile stays: the commit follows the newest one of the branch, and
is made anew when that has moved. A file that both have changed is merged. A commit whose answer is
lost is looked for before anything else is written.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from common.errors import DomainError
from integrations.githosts.errors import BranchProtected, TipMoved
from integrations.githosts.types import Commit, Entry, GitHost, Person
from integrations.safe_http.errors import AccessRefused, HostError, HostFailed, Rejected
from integrations.workspaces.changes import WORKFLOWS, FileFault, Fitting, StagedChange, fit
from integrations.workspaces.services.rebasing import Merge, Rebased, rebase

# The first try, and the three after the branch has moved.
_TRIES: Final = 4
_OF_A_MERGE: Final = ("conflict", "not_found")
# Seconds between two questions whether a commit was written whose answer is lost.
_PAUSES: Final = (0.5, 1.0, 2.0)

Faults = Mapping[str, FileFault]


class Outcome(Struct, frozen=True):
    """What a commit leaves out, and what it has merged, or could not merge, by path."""

    faults: Faults = {}
    merges: Mapping[str, Merge] = {}

    def is_merged(self, path: str) -> bool:
        """Is what both sides have changed written there?"""
        return path in self.merges and self.merges[path].is_clean


# Told before the commit becomes part of the branch: its id where the host has given one, and what
# becomes of the changes. What it raises stops the write.
Announce = Callable[[str, Outcome], None]


class WriteRequest(Struct, frozen=True, kw_only=True):
    """Changes of files that are as in `tree` at the commit `base`. A branch that does not exist
    begins there. `key` is that of `integrations.githosts.types.Commit`."""

    repository: str
    branch: str
    base: str
    tree: Mapping[str, Entry]
    changes: tuple[StagedChange, ...]
    message: str
    author: Person
    committer: Person
    key: UUID
    trailers: Mapping[str, str]
    may_write_workflows: bool


class Written(Struct, frozen=True):
    """The commit, None where no change fits, and what becomes of the changes."""

    commit: str | None
    outcome: Outcome


def write_changes(host: GitHost, request: WriteRequest, *, announce: Announce) -> Written:
    """Write what fits, in one commit. Raises HostError: nothing was written, unless it is a
    HostFailed that `may_be_done`."""
    return _Writing(host, request, announce).run()


class _Writing:
    def __init__(self, host: GitHost, request: WriteRequest, announce: Announce) -> None:
        self._host = host
        self._request = request
        self._announce = announce
        self._may_write_workflows = request.may_write_workflows
        # What the announced commits leave out, by their ids. Where the answer to one was lost, the
        # host may write it at any later time.
        self._announced: dict[str, Outcome] = {}
        self._is_announced = False  # in this try
        self._is_unsure = False

    def run(self) -> Written:
        """While a commit may still be written, nothing but a commit ends the write."""
        try:
            written = self._run()
        except (HostError, DomainError) as error:
            if self._is_unsure:
                raise _unknown() from error
            raise
        if written.commit is None and self._is_unsure:
            raise _unknown()
        return written

    def _run(self) -> Written:
        for _ in range(_TRIES):
            fitted, commit = self._fitted()
            # After the tip is read: a commit that lands later moves the tip, and stops this try.
            if self._is_unsure and (found := self._find(pauses=(0,))):
                return found
            if commit is None:
                return Written(None, fitted)
            tried = commit
            try:
                return Written(self._write(commit, fitted), fitted)
            except TipMoved as error:
                reason: HostError = error
            except (AccessRefused, Rejected) as error:
                if not self._gives_up_workflows(commit, error):
                    return Written(None, _refused(fitted, commit, error))
                reason = error
            except HostFailed as error:
                if not error.may_be_done:
                    raise
                reason = error
                self._is_unsure |= self._is_announced
                if self._is_unsure and (found := self._find(pauses=_PAUSES)):
                    return found
        if isinstance(reason, HostFailed):
            raise reason
        moved = TipMoved(f"The branch {self._request.branch} keeps changing. Try again.")
        return Written(None, _refused(fitted, tried, moved))

    def _fitted(self) -> tuple[Outcome, Commit | None]:
        """What becomes of the changes on the branch as it is now, and the commit of those that fit
        it."""
        request = self._request
        tip = self._host.get_branch(request.repository, request.branch)
        parent = tip.commit if tip is not None else request.base
        tree = request.tree if parent == request.base else self._tree_at(parent)
        rebased = rebase(self._host, request.repository, request.branch, request.changes, tree)
        fitting = fit(rebased.changes, tree, may_write_workflows=self._may_write_workflows)
        fitted = _outcome(fitting, rebased)
        if not fitting.changes:
            return fitted, None
        commit = Commit(
            repository=request.repository,
            branch=request.branch,
            is_new=tip is None,
            parent=parent,
            tree=tree,
            changes=fitting.changes,
            message=request.message,
            author=request.author,
            committer=request.committer,
            key=request.key,
            trailers=request.trailers,
        )
        return fitted, commit

    def _tree_at(self, commit: str) -> dict[str, Entry]:
        entries = self._host.list_tree(self._request.repository, commit)
        return {entry.path: entry for entry in entries}

    def _write(self, commit: Commit, outcome: Outcome) -> str:
        def announce(commit_id: str) -> None:
            self._announce(commit_id, outcome)
            self._announced[commit_id] = outcome
            self._is_announced = True

        self._is_announced = False
        return self._host.write(commit, announce=announce)

    def _find(self, *, pauses: Sequence[float]) -> Written | None:
        """The commit whose answer was lost; None where it is not written yet."""
        request = self._request
        for pause in pauses:
            time.sleep(pause)
            found = self._host.find(request.repository, request.branch, commit="", key=request.key)
            if found is not None:
                # A host that gives no id before the write has announced all of them as "".
                last = list(self._announced.values())[-1]
                return Written(found, self._announced.get(found, last))
        return None

    def _gives_up_workflows(self, commit: Commit, error: HostError) -> bool:
        """Are there workflows to be left out, which a token whose rights are not known may not
        write?"""
        has_some = any(change.path.startswith(WORKFLOWS) for change in commit.changes)
        if isinstance(error, BranchProtected) or not has_some:
            return False
        self._may_write_workflows = False
        return True


def _unknown() -> HostFailed:
    return HostFailed("It is not known yet whether the commit was written.", may_be_done=True)


def _outcome(fitting: Fitting, rebased: Rebased) -> Outcome:
    """A merge counts where its file is written, or left out because of it."""
    faults = {
        path: replace(fault, message=rebased.problems.get(path, fault.message))
        for path, fault in fitting.faults.items()
    }
    merges = {
        path: merge
        for path, merge in rebased.merges.items()
        if merge.is_clean == (path not in faults)
        and (merge.is_clean or faults[path].code in _OF_A_MERGE)
    }
    return Outcome(faults, merges)


def _refused(outcome: Outcome, commit: Commit, error: HostError) -> Outcome:
    """What becomes of a set that the host refuses as a whole."""
    match error:
        case BranchProtected():
            fault = FileFault("protected", str(error))
        case TipMoved():
            fault = FileFault("conflict", str(error))
        case _:
            fault = FileFault("rejected", str(error))
    refused = {change.path: fault for change in commit.changes}
    merges = {path: merge for path, merge in outcome.merges.items() if path not in refused}
    return Outcome({**outcome.faults, **refused}, merges)
