"""Deletes what is kept no longer: ended invitations and old entries of the audit log."""

from django.db.models import Q
from django.utils import timezone

from common.ids import uuid7
from teams.models import AuditEntry, Invitation
from teams.types import AUDIT_KEPT, ENDED_INVITATIONS_KEPT


def purge() -> None:
    """Delete them, of all teams."""
    now = timezone.now()
    before = now - ENDED_INVITATIONS_KEPT
    over = Q(ended_at__lt=before) | Q(ended_at=None, expires_at__lt=before)
    Invitation.objects.filter(over).delete()
    AuditEntry.objects.filter(pk__lt=uuid7(now - AUDIT_KEPT)).delete()
