"""Keeping out those who guess the passwords of operators, when signing in to the admin or at
`/api/auth/login`, and when changing a password, where they may have stolen a session.

A client that fails five times is refused, and so are all clients where an address was tried fifty
times. That many clients are cheap, and would keep its operator out, too: a client from where they
entered the admin lately is refused for its own failures only.
"""

import math

import structlog
from django.db import connection
from django.db.backends.utils import CursorWrapper

from accounts.audit import has_signed_in_from
from accounts.errors import TooManyAttempts
from accounts.models import SignInFailures

log = structlog.get_logger(__name__)

# In a window that begins with the first failure.
WINDOW_MINUTES = 15
# By one client, so that nobody can lock an operator out from elsewhere ...
FAILURES_PER_CLIENT = 5
# ... unless they come from many clients, which is somebody who guesses.
FAILURES_PER_ADDRESS = 50
# What is longer is no address of anybody.
_MAX_ADDRESS = 254

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
_FORGET_OLD = "DELETE FROM accounts_signinfailures WHERE since < now() - interval '1 hour'"


def count_attempt(*, address: str, client_ip: str) -> int:
    """Count an attempt to sign in as a failure until `forget_failures` says that it was none.

    Returns the seconds for which it is refused: 0 where the password may be tried. The address is
    counted whether there is such an account or not. What one client tries in vain beyond its limit
    counts against itself only.
    """
    address = _normal(address)
    by_client, by_all = _names(address, client_ip)
    with connection.cursor() as cursor:
        if seconds := _count(cursor, by_client, FAILURES_PER_CLIENT):
            return seconds
        seconds = _count(cursor, by_all, FAILURES_PER_ADDRESS)
    if seconds and has_signed_in_from(address=address, client_ip=client_ip):
        return 0
    return seconds


def refuse_guessing(*, address: str, client_ip: str) -> None:
    """Count an attempt. Raises TooManyAttempts, where the password may not be tried."""
    if seconds := count_attempt(address=address, client_ip=client_ip):
        log.warning("lockout.refused", address=address, client_ip=client_ip, seconds=seconds)
        raise TooManyAttempts(seconds)


def forget_failures(*, address: str, client_ip: str) -> None:
    """The right password was given: begin anew."""
    SignInFailures.objects.filter(name__in=_names(_normal(address), client_ip)).delete()


def purge_failures() -> None:
    """Delete what has long ceased to count."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGET_OLD)


def _count(cursor: CursorWrapper, name: str, limit: int) -> int:
    """One failure more; the seconds that are left of the window if it has more than `limit`."""
    cursor.execute(_COUNT, (name, limit))
    count, seconds = cursor.fetchone()
    return max(1, math.ceil(float(seconds))) if count > limit else 0


def _normal(address: str) -> str:
    return address.strip().lower()[:_MAX_ADDRESS]


def _names(address: str, client_ip: str) -> tuple[str, str]:
    """What is counted: tries from that client, and from any. The address may be any text; what
    follows the last "from" was not typed, so nobody fails under the name of somebody else."""
    return f"{address} from {client_ip}", f"{address} from anywhere"
