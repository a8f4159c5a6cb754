"""Reading users by their tokens."""

import uuid
from collections.abc import Sequence

from accounts import tokens
from accounts.errors import AccountSuspended, InvalidToken
from accounts.models import User
from common.database import get_database


def get_live_user(user_id: uuid.UUID, version: int) -> User:
    """The user of a token, as of now: one row read, so that revocation works at once.

    Raises InvalidToken if the token was issued before the user's last revocation or the account
    is deactivated, AccountSuspended if it is suspended.
    """
    user = User.objects.filter(pk=user_id).first()
    if user is None:
        raise InvalidToken
    if refusal := find_refusal(user.status, user.token_version, version):
        raise refusal
    return user


async def find_refusals(
    claims: Sequence[tokens.AccessClaims],
) -> list[type[InvalidToken | AccountSuspended] | None]:
    """What `get_live_user` would raise by now for each of these tokens; None where it would not.

    For event loops, in one statement. Raises DatabaseUnavailable.
    """
    rows = await get_database().rows(
        "SELECT id, status, token_version FROM accounts_user WHERE id = ANY (%s)",
        ([claim.user_id for claim in claims],),
    )
    users = {user_id: (status, version) for user_id, status, version in rows}
    return [
        find_refusal(*users.get(claim.user_id, (None, None)), claim.version) for claim in claims
    ]


def find_refusal(
    status: str | None, version: int | None, token_version: int
) -> type[InvalidToken | AccountSuspended] | None:
    """What stands against a token of `token_version`, for a user as they are now; of nobody, both
    are None."""
    if token_version != version or status == User.Status.DEACTIVATED:
        return InvalidToken
    return AccountSuspended if status == User.Status.SUSPENDED else None
