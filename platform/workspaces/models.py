"""Workspaces: accounts at Git hosts, and the tokens that reach them."""

from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from accounts.models import User
from common.encryption import EncryptedField
from common.ids import uuid7
from githosts.types import HostKind
from workspaces.types import MAX_NAME, WorkspaceStatus

# What the tokens are encrypted for.
TOKEN_PURPOSE = "workspaces.token"  # noqa: S105


class Workspace(models.Model):
    """A user's account `login` at a host, reached with a token of theirs.

    `base_url` is that of the host's pages, empty for the cloud of GitHub or GitLab. `scopes` are
    null where the host does not say what the token may do. `refused_at`: when the host refused it.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(User, on_delete=models.CASCADE, db_index=False, related_name="+")
    provider = models.CharField(max_length=16, choices=[(kind, kind) for kind in HostKind])
    base_url = models.CharField(max_length=500, blank=True)
    name = models.CharField(max_length=MAX_NAME)
    login = models.CharField(max_length=255)
    token = EncryptedField(purpose=TOKEN_PURPOSE)
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
