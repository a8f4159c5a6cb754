"""Checkouts: a repository at the newest commit of a branch, and the files that are read of it."""

from collections.abc import Collection
from typing import Final
from uuid import UUID

from accounts.models import User
from billing.selectors.features import require_feature
from common.errors import ValidationFailed
from integrations.githosts.errors import EmptyRepository
from integrations.githosts.types import SUBMODULE, SYMLINK, Entry, GitHost, Repository
from integrations.safe_http.errors import Missing, Rejected
from integrations.safe_http.rest import side_by_side
from integrations.workspaces.digest import digest, readme_of
from integrations.workspaces.errors import WorkspaceGone
from integrations.workspaces.listings import pack
from integrations.workspaces.models import Checkout, CheckoutFile, Workspace
from integrations.workspaces.selectors.workspaces import get_workspace
from integrations.workspaces.services.hosts import open_host
from integrations.workspaces.types import FEATURE

MAX_FILE_BYTES: Final = 400_000


def check_out(*, user: User, workspace_id: UUID, repository: str, branch: str = "") -> Checkout:
    """Read what a run has to know of a repository at the newest commit of a branch, by default of
    the default branch. The checkout is not saved: that is for the transaction that needs it.

    Raises FeatureRequired, NotFound for a workspace that is not the user's, ValidationFailed for a
    repository or branch that will not do, WorkspaceNeedsReauth, HostBusy, HostUnavailable.
    """
    require_feature(user, FEATURE)
    workspace = get_workspace(user, workspace_id)
    with open_host(workspace) as host:
        try:
            found = host.get_repository(repository)
        except Missing:
            problem = "The host has no such repository, or the token does not reach it."
            raise ValidationFailed.of("repo", problem) from None
        name = branch or found.default_branch
        commit = _newest_commit(host, found, name)
        try:
            entries = host.list_tree(found.name, commit)
        except Rejected as error:
            raise ValidationFailed.of("repo", str(error)) from None
        readme = _read_readme(host, found.name, entries)
    return Checkout(
        account=user,
        workspace_id=workspace.pk,
        provider=workspace.provider,
        repository=found.name,
        url=found.url,
        branch=name,
        default_branch=found.default_branch,
        commit=commit,
        listing=pack(entries),
        digest=digest(entries, readme),
    )


def read_files(*, checkout: Checkout, paths: Collection[str]) -> None:
    """Read files of the commit that were not read before, side by side. Paths that the commit does
    not have, links and submodules are left out.

    Raises WorkspaceGone, WorkspaceNeedsReauth, HostRefused, HostBusy, HostUnavailable.
    """
    known = set(checkout.files.filter(path__in=paths).values_list("path", flat=True))
    entries = [checkout.entries[path] for path in paths if path in checkout.entries]
    wanted = [each for each in entries if each.path not in known and _is_file(each)]
    if not wanted:
        return
    with open_host(workspace_of(checkout)) as host:
        contents = side_by_side(lambda entry: _read(host, checkout.repository, entry), wanted)
    rows = [
        CheckoutFile(checkout=checkout, path=entry.path, content=text, size=size)
        for entry, (text, size) in zip(wanted, contents, strict=True)
    ]
    # Another step may have read the same file meanwhile.
    CheckoutFile.objects.bulk_create(rows, ignore_conflicts=True)


def workspace_of(checkout: Checkout) -> Workspace:
    """The workspace of a checkout. Raises WorkspaceGone."""
    rows = Workspace.objects.filter(account=checkout.account_id, pk=checkout.workspace_id)
    workspace = rows.first()
    if workspace is None:
        raise WorkspaceGone
    return workspace


def _newest_commit(host: GitHost, repository: Repository, branch: str) -> str:
    try:
        found = host.get_branch(repository.name, branch) if branch else None
    except EmptyRepository:
        found = None
    if found is not None:
        return found.commit
    if branch == repository.default_branch:
        raise ValidationFailed.of("repo", "The repository has no commit yet. Push a first one.")
    raise ValidationFailed.of("branch", f"The repository has no branch {branch}.")


def _read_readme(host: GitHost, repository: str, entries: list[Entry]) -> str:
    entry = readme_of(entries)
    if entry is None:
        return ""
    text, _ = _read(host, repository, entry)
    return text or ""


def _read(host: GitHost, repository: str, entry: Entry) -> tuple[str | None, int]:
    """The text of a file, None where it is none or too long, and its bytes, as far as known."""
    if entry.size is not None and entry.size > MAX_FILE_BYTES:
        return None, entry.size
    try:
        content = host.read_blob(repository, entry.sha, max_bytes=MAX_FILE_BYTES)
    except Rejected:
        return None, entry.size or MAX_FILE_BYTES
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None, len(content)
    return (None if "\0" in text else text), len(content)


def _is_file(entry: Entry) -> bool:
    return entry.mode not in (SYMLINK, SUBMODULE)
