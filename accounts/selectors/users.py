"""Reads users by their tokens."""

from collections.abc import Sequence

from accounts import tokens
from accounts.errors import AccountSuspended, InvalidToken
from accounts.models import User
from common.database import get_database

_LIVE_USER = """
SELECT account.*, subscription.plan_id AS plan
FROM accounts_usersession session
JOIN accounts_user account ON account.id = session.account_id
JOIN billing_subscription subscription USING (account_id)
WHERE account.id = %s AND session.id = %s
"""
_STANDINGS = """
SELECT session.id, account.id, account.status, account.token_version
FROM accounts_usersession session
JOIN accounts_user account ON account.id = session.account_id
WHERE session.id = ANY (%s)
"""


def get_live_user(claims: tokens.Claims) -> User:
    """The user of a token with the plan, in one query, so that revocation works at once.

    Raises InvalidToken if the token's session was ended, if the token was issued before the user's
    last revocation or if the account is deactivated, AccountSuspended if it is suspended.
    """
    # Raw SQL, because each request to `/api` begins here: Django would need longer to build the
    # query than PostgreSQL to run it.
    users = User.objects.raw(_LIVE_USER, [claims.user_id, claims.session_id])
    user = next(iter(users), None)
    if user is None:
        raise InvalidToken
    if refusal := find_refusal(user.status, user.token_version, claims.version):
        raise refusal
    return user


async def find_refusals(
    claims: Sequence[tokens.AccessClaims],
) -> list[type[InvalidToken | AccountSuspended] | None]:
    """The error of `get_live_user` for each of these tokens; None for valid ones.

    For event loops, in one statement. Raises DatabaseUnavailable.
    """
    rows = await get_database().rows(_STANDINGS, ([claim.session_id for claim in claims],))
    standings = {
        (session_id, user_id): (status, version) for session_id, user_id, status, version in rows
    }
    nobody = (None, None)
    return [
        find_refusal(*standings.get((claim.session_id, claim.user_id), nobody), claim.version)
        for claim in claims
    ]


def find_refusal(
    status: str | None, version: int | None, token_version: int
) -> type[InvalidToken | AccountSuspended] | None:
    """The error of a token with `token_version`, or None. `status` and `version` are the user's
    now; both are None where the session does not exist."""
    if token_version != version or status in (User.Status.DEACTIVATED, User.Status.DELETED):
        return InvalidToken
    return AccountSuspended if status == User.Status.SUSPENDED else None
