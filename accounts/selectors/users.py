"""Reading users by their tokens."""

from collections.abc import Sequence

from accounts import tokens
from accounts.errors import AccountSuspended, InvalidToken
from accounts.models import User
from common.database import get_database

_LIVE_USER = """
SELECT account.*
FROM accounts_usersession session
JOIN accounts_user account ON account.id = session.account_id
WHERE account.id = %s AND session.id = %s
"""
_STANDINGS = """
SELECT session.id, account.id, account.status, account.token_version
FROM accounts_usersession session
JOIN accounts_user account ON account.id = session.account_id
WHERE session.id = ANY (%s)
"""


def get_live_user(claims: tokens.Claims) -> User:
    """The user of a token, as of now: one row read, so that revocation works at once.

    Raises InvalidToken if the token's session was ended, if the token was issued before the user's
    last revocation or if the account is deactivated, AccountSuspended if it is suspended.
    """
    # Each request to `/api` begins here: Django would need longer to write it than to carry it out.
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
    """What `get_live_user` would raise by now for each of these tokens; None where it would not.

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
    """What stands against a token of `token_version`, for a user as they are now; where there is
    no such session of theirs, both are None."""
    if token_version != version or status == User.Status.DEACTIVATED:
        return InvalidToken
    return AccountSuspended if status == User.Status.SUSPENDED else None
