"""Checkouts: a repository at the newest commit of a branch, and the files that are read of it."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from threading import Event
from typing import Final
from uuid import UUID

from django.db import transaction

from accounts.models import User
from billing.selectors.features import require_feature
from common.errors import DomainError, ValidationFailed
from integrations.githosts.errors import EmptyRepository
from integrations.githosts.types import SUBMODULE, SYMLINK, Entry, GitHost, Repository
from integrations.safe_http.errors import HostError, Missing, Rejected
from integrations.safe_http.rest import side_by_side
from integrations.workspaces.digest import MAX_BYTES, digest, readme_of, sources_of
from integrations.workspaces.errors import WorkspaceGone
from integrations.workspaces.listings import pack
from integrations.workspaces.models import Checkout, CheckoutFile, Workspace
from integrations.workspaces.selectors.workspaces import get_workspace
from integrations.workspaces.services.hosts import open_host
from integrations.workspaces.symbols import symbols_in
from integrations.workspaces.types import FEATURE

MAX_FILE_BYTES: Final = 400_000
# A run waits so long for the files whose symbols its planner is shown.
SYMBOL_SECONDS: Final = 5.0
_LEAST_ROOM: Final = 500  # bytes of the digest that are worth it


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
    wanted = _unread(checkout, paths)
    if not wanted:
        return
    with open_host(workspace_of(checkout)) as host:
        contents = side_by_side(lambda entry: read_text(host, checkout.repository, entry), wanted)
    _keep(checkout, zip(wanted, contents, strict=True))


def add_symbols(*, checkout: Checkout) -> None:
    """Read source files of the commit, as far as the host answers within `SYMBOL_SECONDS`, and add
    what they define to the digest. Where nothing can be read, the digest stays without. Blocks."""
    entries = [*checkout.entries.values()]
    readme, sources = readme_of(entries), sources_of(entries)
    if sources and len(checkout.digest.encode()) < MAX_BYTES - _LEAST_ROOM:
        paths = [entry.path for entry in (readme, *sources) if entry is not None]
        with suppress(DomainError):
            _read_in_time(checkout, paths)
        texts = dict(checkout.files.filter(path__in=paths).values_list("path", "content"))
        symbols = symbols_in({path: text for path, text in texts.items() if text})
        if symbols and (readme is None or readme.path in texts):
            top = texts[readme.path] if readme is not None else None
            checkout.digest = digest(entries, top or "", symbols)
    checkout.has_symbols = True
    # It may be deleted by now.
    Checkout.objects.filter(pk=checkout.pk).update(digest=checkout.digest, has_symbols=True)


def delete_checkout(*, checkout_id: UUID) -> None:
    """Delete a checkout with its files, in the caller's transaction."""
    # Whoever keeps a file at the same time has kept it when the files are deleted, or finds no
    # checkout any more.
    for checkout in Checkout.objects.select_for_update().filter(pk=checkout_id):
        checkout.delete()


def workspace_of(checkout: Checkout) -> Workspace:
    """The workspace of a checkout. Raises WorkspaceGone."""
    rows = Workspace.objects.filter(account=checkout.account_id, pk=checkout.workspace_id)
    workspace = rows.first()
    if workspace is None:
        raise WorkspaceGone
    return workspace


def _read_in_time(checkout: Checkout, paths: Collection[str]) -> None:
    """Read files as `read_files` does, and keep those that came before the first error. Raises what
    that raises where the host is not called at all."""
    wanted, failed = _unread(checkout, paths), Event()

    def read(entry: Entry) -> tuple[str | None, int] | None:
        try:
            return None if failed.is_set() else read_text(host, checkout.repository, entry)
        except HostError:
            failed.set()
            return None

    with open_host(workspace_of(checkout)) as host:
        host.end_within(SYMBOL_SECONDS)
        contents = side_by_side(read, wanted)
    came = [(entry, found) for entry, found in zip(wanted, contents, strict=True) if found]
    _keep(checkout, came)


def _unread(checkout: Checkout, paths: Collection[str]) -> list[Entry]:
    """Those of the files that nobody has read yet."""
    known = set(checkout.files.filter(path__in=paths).values_list("path", flat=True))
    entries = [checkout.entries[path] for path in paths if path in checkout.entries]
    return [each for each in entries if each.path not in known and _is_file(each)]


@transaction.atomic
def _keep(checkout: Checkout, read: Iterable[tuple[Entry, tuple[str | None, int]]]) -> None:
    """Keep what was read, unless the checkout was deleted meanwhile."""
    rows = [
        CheckoutFile(checkout=checkout, path=entry.path, content=text, size=size)
        for entry, (text, size) in read
    ]
    held = Checkout.objects.select_for_update(no_key=True).filter(pk=checkout.pk)
    if held.values_list("pk").first() is not None:
        # Another step may have read the same file meanwhile.
        CheckoutFile.objects.bulk_create(rows, ignore_conflicts=True)


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
    text, _ = read_text(host, repository, entry)
    return text or ""


def read_text(host: GitHost, repository: str, entry: Entry) -> tuple[str | None, int]:
    """The text of a file, None where it is none or too long, and its bytes, as far as known. Raises
    HostError."""
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
