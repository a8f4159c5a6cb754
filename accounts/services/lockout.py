"""Counts wrong passwords and codes, and delays further attempts. `verify` checks all of them.

After five wrong guesses by one client, or ten by all clients that the account does not know,
further ones are refused for 30 seconds, then for twice as long after each, up to an hour. A client
that has lately signed in to the account (known_clients.py) has a count of its own, so that others
cannot delay it. At the fifth wrong guess of unknown clients the owner gets a mail. Refused attempts
are not counted and cost no hash.

Codes of a second factor are counted separately, by the account alone: whoever is asked for a code
knows the password, and could sign in elsewhere with it to reset the other counts or to make a
client known.

Guesses are counted by the address as it was typed: refusals are the same whether the account exists
or not. Operators wait 15 minutes where others wait 30 seconds for their own guesses.

Guesses of clients that the account does not know are also counted for their network address, over
all accounts: after twenty, further ones of it wait, whatever the account. Every three minutes one
of these is forgotten, because many people may share the address; the right password resets nothing,
or a guesser would sign in to an account of their own in between.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Self

import structlog
from django.db import connection, transaction

from accounts.errors import TooManyAttempts
from accounts.metrics import guessing_clients
from accounts.models import SignInFailures
from accounts.services.account_emails import AccountEmail
from accounts.services.emails import request_email
from accounts.services.known_clients import KNOWN_FOR, digest
from accounts.types import UNKNOWN_CLIENT, Client

log = structlog.get_logger(__name__)

FAILURES_PER_CLIENT = 5
FAILURES_OF_STRANGERS = 10
# Of one network address over all accounts that do not know it, and the seconds after which one of
# them is forgotten.
FAILURES_OVER_ACCOUNTS = 20
FORGOTTEN_OVER_ACCOUNTS_AFTER = 180
FIRST_WAIT = 30
OPERATORS_FIRST_WAIT = 900
LONGEST_WAIT = 3_600
# Counts are reset after this long without a guess.
QUIET_HOURS = 24
# Rows that are kept: those of the latest guesses.
MAX_KEPT = 100_000
# No account has a longer address.
_MAX_ADDRESS = 254

_STRANGERS = "anywhere"
_OF_CODES = "anywhere, of codes"
_ANY_ACCOUNT = "any account"
# The owner gets a mail at the fifth failure of these: a known client is the owner's own.
_TOLD = {
    _STRANGERS: AccountEmail.PASSWORD_GUESSED,
    _OF_CODES: AccountEmail.CODE_GUESSED,
}
_IS_OVER = f"f.last_at <= now() - interval '{QUIET_HOURS} hours'"


# SQL: is it the count of a network address?
_IS_OVER_ACCOUNTS = f"f.name LIKE '%% from {_ANY_ACCOUNT}'"
_SECONDS_SINCE = "extract(epoch FROM now() - f.last_at)"
# A guess that has waited for another one's row began before that was counted.
_FORGOTTEN = f"floor(greatest({_SECONDS_SINCE}, 0) / {FORGOTTEN_OVER_ACCOUNTS_AFTER})::int"
# SQL: the failures that count.
_FAILURES = (
    f"CASE WHEN {_IS_OVER} THEN 0 "
    f"WHEN {_IS_OVER_ACCOUNTS} THEN greatest(f.count - {_FORGOTTEN}, 0) "
    "ELSE f.count END"
)


def _seconds_left(first_wait: int) -> str:
    """SQL: the seconds until the next guess may be made; 0 or less where it may be made now."""
    free = (
        f"CASE WHEN {_IS_OVER_ACCOUNTS} THEN {FAILURES_OVER_ACCOUNTS} "
        f"WHEN f.name LIKE '%% from {_STRANGERS}' "
        f"THEN {FAILURES_OF_STRANGERS} ELSE {FAILURES_PER_CLIENT} END"
    )
    # From the seventh doubling on it is the longest one.
    doublings = f"least({_FAILURES} - {free}, 7)"
    wait = f"least({first_wait} * 2 ^ {doublings}, {LONGEST_WAIT})"
    return f"CASE WHEN {_FAILURES} < {free} THEN 0 ELSE coalesce({wait} - {_SECONDS_SINCE}, 0) END"


_READ = f"""
SELECT place.name, {_seconds_left(FIRST_WAIT)}, {_seconds_left(OPERATORS_FIRST_WAIT)},
    EXISTS (SELECT FROM accounts_knownclient k
            WHERE k.digest = place.digest AND k.seen_at > now() - interval '{KNOWN_FOR.days} days')
FROM unnest(%s::text[], %s::bytea[]) WITH ORDINALITY AS place (name, digest, n)
LEFT JOIN accounts_signinfailures f USING (name)
ORDER BY n
"""  # noqa: S608
# One statement counts and decides, so that concurrent guesses cannot pass the limit together.
_COUNT = f"""
INSERT INTO accounts_signinfailures AS f (name, count, last_at)
SELECT name, 1, now() FROM unnest(%s::text[]) AS place (name) ORDER BY name
ON CONFLICT (name) DO UPDATE
SET count = {_FAILURES} + 1, last_at = excluded.last_at
WHERE {_seconds_left(FIRST_WAIT)} <= 0
RETURNING f.name, f.count
"""  # noqa: S608


def verify(
    check: Callable[[], bool],
    *,
    address: str,
    client: Client = UNKNOWN_CLIENT,
    is_operator: bool = False,
    in_admin: bool = False,
    is_code: bool = False,
) -> bool:
    """Does `check` accept the secret? A wrong one is counted, a right one resets the counts.

    Raises TooManyAttempts, before the check or where concurrent guesses have used up the attempts.
    Where an operator (`is_operator`) has to wait longer than others, the right secret counts as
    wrong, so that the answer does not reveal an operator; `in_admin` everybody waits that long.
    `is_code`: the secret is a code of a second factor.
    """
    read_guess = partial(_Guess.of, address, client, is_code=is_code)
    guess = read_guess()
    guess.refuse(in_admin=in_admin)
    is_right = check()
    if is_right and is_operator and guess.operators_wait > 0:
        log.warning("lockout.operator_refused", address=guess.address, client_ip=client.ip)
        is_right = False
    if is_right:
        # Guesses that were made during the check count too.
        read_guess().refuse(in_admin=in_admin)
        SignInFailures.objects.filter(name__in=guess.names).exclude(
            name=guess.over_accounts
        ).delete()
    elif not guess.count():
        read_guess().refuse(in_admin=in_admin)
    return is_right


def forget_own(*, address: str, client: Client) -> None:
    """Forget the failures of a client whose user has proved ownership in another way. Those of
    unknown clients stay."""
    names = [f"{address} from {place}" for place, _ in _places_of(address, client)]
    SignInFailures.objects.filter(name__in=names).delete()


def purge_failures(*, keep: int = MAX_KEPT) -> None:
    """Delete rows that do not count any more, and the oldest rows over `keep`."""
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM accounts_signinfailures f WHERE {_IS_OVER}")  # noqa: S608
    newest_first = SignInFailures.objects.order_by("-last_at")
    for oldest_surplus in newest_first.values_list("last_at", flat=True)[keep:][:1]:
        SignInFailures.objects.filter(last_at__lte=oldest_surplus).delete()


def _places_of(address: str, client: Client) -> list[tuple[str, bytes]]:
    """The places of a client: its device, if it sends a device id, and its network address. Each
    has a name, and the digest by which the account may know it."""
    places = [(client.ip, digest(address, client.ip))]
    if client.device_id:
        device = digest(address, str(client.device_id))
        places.insert(0, (f"device {device.hex()[:16]}", device))
    return places


@dataclass(frozen=True, slots=True)
class _Guess:
    """An attempt, counted under `names`; `over_accounts` is that of the network address over all
    accounts. `wait` and `operators_wait` are seconds."""

    address: str
    client_ip: str
    over_accounts: str
    names: list[str]
    wait: float
    operators_wait: float

    @classmethod
    def of(cls, address: str, client: Client, *, is_code: bool) -> Self:
        """Counted for the device or the network address if the account knows it, else for the
        network address, there and over all accounts, and for all unknown clients. One query."""
        address = address.strip().lower()[:_MAX_ADDRESS]
        places = [*_places_of(address, client), (_STRANGERS, b"")]
        if is_code:
            places = [(_OF_CODES, b"")]
        # The part after the last "from" was not typed, so no guess counts under the name of another
        # address.
        names = [f"{address} from {place}" for place, _ in places]
        over_accounts = f"{client.ip} from {_ANY_ACCOUNT}"
        if client.ip and not is_code:
            places.append((_ANY_ACCOUNT, b""))
            names.append(over_accounts)
        with connection.cursor() as cursor:
            cursor.execute(_READ, (names, [known_as for _, known_as in places]))
            rows = cursor.fetchall()
        of_strangers = rows[-3 if over_accounts in names else -2 :]
        counted = next(([row] for row in rows if row[-1]), of_strangers)
        waits = [float(wait) for _, wait, _, _ in counted]
        return cls(
            address=address,
            client_ip=client.ip,
            over_accounts=over_accounts,
            names=[name for name, _, _, _ in counted],
            wait=max(waits),
            # Operators wait no longer than others for the guesses of all unknown clients.
            operators_wait=max(float(counted[0][2]), *waits),
        )

    def refuse(self, *, in_admin: bool) -> None:
        """Raises TooManyAttempts while guesses are refused."""
        wait = self.operators_wait if in_admin else self.wait
        if wait > 0:
            seconds = math.ceil(wait)
            log.warning(
                "lockout.refused", address=self.address, client_ip=self.client_ip, seconds=seconds
            )
            raise TooManyAttempts(seconds)

    def count(self) -> bool:
        """Count a failure; the fifth of unknown clients, or with a code, has a mail sent to the
        owner. Was it counted everywhere? It is not where concurrent guesses have used up the
        attempts."""
        with connection.cursor() as cursor:
            cursor.execute(_COUNT, (self.names,))
            counts = dict(cursor.fetchall())
        if counts.get(self.over_accounts) == FAILURES_OVER_ACCOUNTS:
            guessing_clients.labels().inc()
            log.warning("lockout.client_delayed", client_ip=self.client_ip)
        # Unknown clients share one count, so one mail is sent however many they are.
        for place, kind in _TOLD.items():
            if counts.get(f"{self.address} from {place}") == FAILURES_PER_CLIENT:
                with transaction.atomic():
                    request_email(kind=kind, address=self.address)
        return len(counts) == len(self.names)
