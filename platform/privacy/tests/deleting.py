"""The deletion of an account's data, as an operator has it done."""

from datetime import timedelta

from django.utils import timezone

from accounts.models import User
from privacy.models import Deletion
from privacy.services import deletions


def delete_data(user: User) -> None:
    """As an operator has requested it some minutes ago."""
    deletions.request(user=user)
    long_ago = timezone.now() - timedelta(minutes=5)
    Deletion.objects.filter(pk=user.pk).update(requested_at=long_ago)
    deletions.go_on_with_all()
    deletion = Deletion.objects.get(pk=user.pk)
    assert deletion.ended_at is not None, deletion.waits_for
