"""What requests have made that their client named."""

from uuid import UUID

from django.db import connection

from accounts.models import User
from billing.types import Once


def find_made(account: User, once: Once) -> UUID | None:
    """What that very request made when it was sent before, as it stands now: `named.take` is for
    whoever acts on it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT charge_id FROM find_named_request(%s, %s, %s) WHERE digest = %s",
            (account.pk, once.route, once.key, once.digest),
        )
        row = cursor.fetchone()
    made: UUID | None = row and row[0]
    return made
