"""The audit log of operators, which is Django's."""

from django.contrib.admin.models import CHANGE, LogEntry

from accounts.models import User


def record(user: User, message: str) -> None:
    """An entry by the user and about the user."""
    LogEntry.objects.log_actions(user.pk, [user], CHANGE, message, single_object=True)
