"""The account that the platform's own calls belong to, such as probes: every charge has one.

It is no customer. It has no address and no password, so nobody can sign in to it, sign up with it
or have a mail sent to it; lists and numbers of accounts leave it out.
"""

from uuid import UUID

from django.db import transaction

from accounts.models import User

# billing/sql/80_platform.sql has the same.
PLATFORM_ID = UUID("00000000-0000-7000-8000-000000000001")
# No address, so that it can be nobody's.
_EMAIL = "platform"


@transaction.atomic
def ensure() -> UUID:
    """Create the account unless it exists. Returns its id."""
    if not User.objects.filter(pk=PLATFORM_ID).exists():
        made = User(pk=PLATFORM_ID, email=_EMAIL, name="Platform", email_verified=True)
        made.set_unusable_password()
        made.mailbox = _EMAIL
        User.objects.bulk_create([made], ignore_conflicts=True)
    return PLATFORM_ID
