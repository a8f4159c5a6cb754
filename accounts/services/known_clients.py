"""The clients from which an account was signed in to: by network address, and by the `device_id`
that a client makes up and keeps. Guesses from elsewhere do not delay them (lockout.py).
"""

from datetime import timedelta

from django.db import connection
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.models import KnownClient, User
from accounts.types import Client

KNOWN_FOR = timedelta(days=90)
# Clients that an account knows; beyond that, those whose last sign-in is the oldest are forgotten.
MAX_KNOWN = 50

_REMEMBER = """
INSERT INTO accounts_knownclient (digest, account_id, seen_at)
SELECT digest, %s, now() FROM unnest(%s::bytea[]) AS new (digest)
ON CONFLICT (digest) DO UPDATE SET account_id = excluded.account_id, seen_at = excluded.seen_at
"""


def remember(*, user: User, client: Client) -> None:
    """Note that the user has signed in, or redeemed a mailed token, from this client."""
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
    """HMAC-SHA256 under SECRET_KEY: what is stored of a client, a network address or a device id,
    of the account with that e-mail address in lower case."""
    value = f"{address} from {client}"
    return salted_hmac("accounts.known_clients", value, algorithm="sha256").digest()
