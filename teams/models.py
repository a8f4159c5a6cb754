"""Teams, their members, invitations, and what was done in them."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from accounts.models import User
from common.ids import uuid7
from teams.types import MAX_NAME


class Role(models.TextChoices):
    """Each team has one owner."""

    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"


class Team(models.Model):
    """People who work together. Every change of a team, its members or its invitations locks this
    row first."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=MAX_NAME)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.name


class Member(models.Model):
    """A user's membership, of which each has at most one: it has the user's id."""

    account = models.OneToOneField(
        User, on_delete=models.CASCADE, primary_key=True, related_name="membership"
    )
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="members")
    role = models.CharField(max_length=8, choices=Role.choices)
    joined_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team"], condition=Q(role="owner"), name="one_owner_per_team"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.account} ({self.role})"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def pending(self) -> "InvitationQuerySet":
        """Neither accepted, declined nor revoked; may be expired."""
        return self.filter(status=Invitation.Status.PENDING)

    def usable(self) -> "InvitationQuerySet":
        """Those that can be accepted."""
        return self.pending().filter(
            expires_at__gt=timezone.now(), invited_by__status=User.Status.ACTIVE
        )


class Invitation(models.Model):
    """An invitation of whoever reads the mail of `address`, with or without an account.

    `digest` is that of the token in the newest mail: a mail that is sent again has another token.
    It is null until the mail is sent, and once the invitation has ended. `sent_at` is when the
    newest mail was written and handed to the mail server. `invited_by` sent it last.
    """

    class Status(models.TextChoices):
        PENDING = "pending"
        ACCEPTED = "accepted"
        DECLINED = "declined"
        REVOKED = "revoked"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    team = models.ForeignKey(
        Team, on_delete=models.CASCADE, db_index=False, related_name="invitations"
    )
    address = models.EmailField()
    role = models.CharField(max_length=8, choices=Role.choices)
    invited_by = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.PENDING)
    digest = models.BinaryField(max_length=32, null=True, unique=True)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["team", "-id"], name="invitation_newest_first")]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "address"],
                condition=Q(status="pending"),
                name="one_pending_invitation",
            ),
            models.CheckConstraint(
                condition=Q(role__in=["admin", "member"]), name="nobody_is_invited_as_owner"
            ),
            models.CheckConstraint(
                condition=Q(status="pending", ended_at=None)
                | Q(~Q(status="pending"), digest=None, ended_at__isnull=False),
                name="an_ended_invitation_has_no_token",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.address} ({self.role})"

    @property
    def is_expired(self) -> bool:
        return self.status == self.Status.PENDING and self.expires_at <= timezone.now()


class AuditEntry(models.Model):
    """What was done in a team. It outlives the team.

    `actor` did it, null for an operator of the platform and for whoever declines an invitation;
    `subject` is the member concerned, `address` an invited address. `before` and `after` are the
    role or the name.
    """

    class Action(models.TextChoices):
        TEAM_CREATED = "team_created"
        TEAM_RENAMED = "team_renamed"
        TEAM_DELETED = "team_deleted"
        MEMBER_JOINED = "member_joined"
        MEMBER_LEFT = "member_left"
        MEMBER_REMOVED = "member_removed"
        ROLE_CHANGED = "role_changed"
        OWNERSHIP_TRANSFERRED = "ownership_transferred"
        INVITATION_SENT = "invitation_sent"
        INVITATION_REVOKED = "invitation_revoked"
        INVITATION_DECLINED = "invitation_declined"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    team_id = models.UUIDField()
    action = models.CharField(max_length=24, choices=Action.choices)
    actor = models.ForeignKey(
        User, null=True, on_delete=models.SET_NULL, db_index=False, related_name="+"
    )
    subject = models.ForeignKey(
        User, null=True, on_delete=models.SET_NULL, db_index=False, related_name="+"
    )
    address = models.EmailField(blank=True)
    before = models.CharField(max_length=MAX_NAME, blank=True)
    after = models.CharField(max_length=MAX_NAME, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["team_id", "-id"], name="audit_newest_first"),
            models.Index(fields=["actor", "-id"], name="audit_of_actor"),
        ]

    def __str__(self) -> str:
        return f"{self.action} in {self.team_id}"
