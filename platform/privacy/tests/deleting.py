"""The deletion of an account's data, as an operator has it done."""

from datetime import timedelta

from django.utils import timezone

from accounts.models import User
from privacy.models import Deletion
from privacy.services import deletions


def requested(user: User) -> Deletion:
    """As an operator has requested it some minutes ago."""
    deletions.request(user=user)
    long_ago = timezone.now() - timedelta(minutes=5)
    Deletion.objects.filter(pk=user.pk).update(requested_at=long_ago)
    return Deletion.objects.get(pk=user.pk)


def delete_data(user: User) -> None:
    """Requested, and carried out in one sweep."""
    deletion = requested(user)
    deletions.go_on_with_all()
    deletion.refresh_from_db()
    assert deletion.ended_at is not None, deletion.waits_for
