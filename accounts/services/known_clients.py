"""The clients that have signed in to an account: by network address, and by the `device_id` that a
client generates and keeps. Guesses of other clients do not delay them (lockout.py)."""

from datetime import timedelta

from django.db import connection
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.models import KnownClient, User
from accounts.types import Client

KNOWN_FOR = timedelta(days=90)
# Clients per account; above it, the one with the oldest sign-in is forgotten.
MAX_KNOWN = 50

_REMEMBER = """
INSERT INTO accounts_knownclient (digest, account_id, seen_at)
SELECT digest, %s, now() FROM unnest(%s::bytea[]) AS new (digest)
ON CONFLICT (digest) DO UPDATE SET account_id = excluded.account_id, seen_at = excluded.seen_at
"""


def remember(*, user: User, client: Client) -> None:
    """Record that the user has signed in, or redeemed a mailed token, from this client."""
    digests = [digest(user.email, str(name)) for name in (client.ip, client.device_id) if name]
    if not digests:
        return
    with connection.cursor() as cursor:
        cursor.execute(_REMEMBER, (user.pk, digests))
    known = KnownClient.objects.filter(account=user)
    surplus = list(known.order_by("-seen_at").values_list("pk", flat=True)[MAX_KNOWN:])
    if surplus:
        known.filter(pk__in=surplus).delete()


def forget(*, user: User) -> None:
    """Forget all clients of an account that is closed or gets another owner."""
    KnownClient.objects.filter(account=user).delete()


def purge_known_clients() -> None:
    """Delete clients that have not signed in for KNOWN_FOR."""
    KnownClient.objects.filter(seen_at__lt=timezone.now() - KNOWN_FOR).delete()


def digest(address: str, client: str) -> bytes:
    """HMAC-SHA256 under SECRET_KEY of a network address or a device id, for the account with that
    e-mail address in lower case: the stored form."""
    value = f"{address} from {client}"
    return salted_hmac("accounts.known_clients", value, algorithm="sha256").digest()
