"""Workspaces: accounts at Git hosts, the tokens that reach them, and what runs read there."""

from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.functional import cached_property

from accounts.models import User
from common.encryption import EncryptedField
from common.ids import uuid7
from integrations.connectors.models import Connector
from integrations.githosts.types import Entry, HostKind
from integrations.workspaces.branches import MAX_BRANCH
from integrations.workspaces.listings import unpack
from integrations.workspaces.types import MAX_BASE_URL, MAX_NAME, MAX_REPOSITORY, WorkspaceStatus

# What the tokens are encrypted for.
TOKEN_PURPOSE = "workspaces.token"  # noqa: S105


class Workspace(models.Model):
    """A user's account `login` at a host, reached with a token of theirs or by a connector, whose
    state `scopes`, `expires_at` and `refused_at` then follow.

    `base_url` is that of the host's pages, empty for the cloud of GitHub or GitLab. `scopes` are
    null where the host does not say what the token may do. `refused_at`: when the host refused it.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False, related_name="+")
    provider = models.CharField(max_length=16, choices=[(kind, kind) for kind in HostKind])
    base_url = models.CharField(max_length=MAX_BASE_URL, blank=True)
    name = models.CharField(max_length=MAX_NAME)
    login = models.CharField(max_length=255)
    connector = models.ForeignKey(Connector, on_delete=models.CASCADE, null=True, related_name="+")
    token = EncryptedField(purpose=TOKEN_PURPOSE, blank=True)
    scopes = models.JSONField(null=True)
    expires_at = models.DateTimeField(null=True)
    refused_at = models.DateTimeField(null=True)
    checked_at = models.DateTimeField(db_default=Now())
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["account", "-id"], name="workspace_newest_first")]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def status(self) -> WorkspaceStatus:
        is_expired = self.expires_at is not None and self.expires_at <= timezone.now()
        if is_expired or self.refused_at is not None:
            return WorkspaceStatus.NEEDS_REAUTH
        return WorkspaceStatus.CONNECTED


class CheckoutManager(models.Manager["Checkout"]):
    """Reads checkouts without their listings, which can have a megabyte."""

    def get_queryset(self) -> models.QuerySet["Checkout"]:
        return super().get_queryset().defer("listing")


class Checkout(models.Model):
    """A repository at one commit, which a run works on.

    `repository` is the full name at the host of the workspace, which may be disconnected meanwhile,
    and `branch` the one whose newest commit it was. `listing` are the entries of the commit
    (integrations/workspaces/listings.py), `digest` is what a planner is shown of them.
    `has_symbols`: files were read for the symbols in the digest, as far as the host has answered.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    workspace_id = models.UUIDField()
    provider = models.CharField(max_length=16, choices=[(kind, kind) for kind in HostKind])
    repository = models.CharField(max_length=MAX_REPOSITORY)
    url = models.CharField(max_length=1_000)
    branch = models.CharField(max_length=MAX_BRANCH)
    default_branch = models.CharField(max_length=MAX_BRANCH)
    commit = models.CharField(max_length=64)
    listing = models.BinaryField()
    digest = models.TextField()
    has_symbols = models.BooleanField(db_default=False)
    created_at = models.DateTimeField(db_default=Now())

    objects = CheckoutManager()

    class Meta:
        base_manager_name = "objects"

    def __str__(self) -> str:
        return f"{self.repository} {self.commit}"

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """The files, symlinks and submodules of the commit, by path."""
        return {entry.path: entry for entry in unpack(bytes(self.listing))}


class CheckoutFile(models.Model):
    """A file of a checkout that was read. `content` is null where it is no text, or too long."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    checkout = models.ForeignKey(Checkout, on_delete=models.CASCADE, related_name="files")
    path = models.TextField()
    content = models.TextField(null=True)  # noqa: DJ001 - an empty file is a text
    size = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["checkout", "path"], name="checkout_files_are_read_once"
            )
        ]

    def __str__(self) -> str:
        return self.path
