"""Keeping those out of the admin who guess passwords."""

import math

from django.db import connection

from accounts.models import SignInFailures

# In a window that begins with the first failure.
WINDOW_MINUTES = 15
# By one client, so that nobody can lock an operator out from elsewhere ...
FAILURES_PER_CLIENT = 5
# ... unless they come from many clients, which is somebody who guesses.
FAILURES_PER_ADDRESS = 50

# One statement counts and reads, so that attempts at the same time cannot pass the limit together.
_COUNT = f"""
INSERT INTO accounts_signinfailures AS f (name, count, since) VALUES (%s, 1, now())
ON CONFLICT (name) DO UPDATE SET
    count = CASE WHEN f.since > now() - interval '{WINDOW_MINUTES} minutes'
                 THEN least(f.count, %s) + 1 ELSE 1 END,
    since = CASE WHEN f.since > now() - interval '{WINDOW_MINUTES} minutes'
                 THEN f.since ELSE now() END
RETURNING count, extract(epoch FROM since + interval '{WINDOW_MINUTES} minutes' - now())
"""  # noqa: S608
_FORGET_OLD = "DELETE FROM accounts_signinfailures WHERE since < now() - interval '1 day'"


def count_attempt(*, address: str, client_ip: str) -> int:
    """Count an attempt to sign in as a failure until `forget_failures` says that it was none.

    Returns the seconds for which it is refused: 0 where the password may be tried. The address is
    counted whether there is such an account or not. What one client tries in vain beyond its limit
    counts against itself only.
    """
    with connection.cursor() as cursor:
        cursor.execute(_FORGET_OLD)
        for name, limit in _names(address, client_ip):
            cursor.execute(_COUNT, (name, limit))
            count, seconds = cursor.fetchone()
            if count > limit:
                return max(1, math.ceil(float(seconds)))
    return 0


def forget_failures(*, address: str, client_ip: str) -> None:
    """The right password was given: begin anew."""
    names = [name for name, _ in _names(address, client_ip)]
    SignInFailures.objects.filter(name__in=names).delete()


def _names(address: str, client_ip: str) -> list[tuple[str, int]]:
    address = address.strip().lower()
    return [(f"{address}|{client_ip}", FAILURES_PER_CLIENT), (address, FAILURES_PER_ADDRESS)]
