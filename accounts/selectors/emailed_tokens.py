"""Reads tokens that were mailed."""

from accounts import emailed_tokens
from accounts.errors import InvalidEmailedToken
from accounts.models import EmailedToken


def get_emailed_token(purpose: EmailedToken.Purpose, token: str) -> EmailedToken:
    """The row of a token, with its user. Raises InvalidEmailedToken if it cannot be used."""
    found = (
        EmailedToken.objects.usable()
        .filter(purpose=purpose, digest__in=emailed_tokens.digests(token))
        .select_related("user")
        .first()
    )
    if found is None:
        raise InvalidEmailedToken
    return found


def is_reset_token(token: str) -> bool:
    """Can the token reset a password?"""
    try:
        get_emailed_token(EmailedToken.Purpose.RESET_PASSWORD, token)
    except InvalidEmailedToken:
        return False
    return True
