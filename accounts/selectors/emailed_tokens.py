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


def get_reset_address(token: str) -> str | None:
    """The address whose password the token can reset; None where it cannot be used."""
    try:
        return get_emailed_token(EmailedToken.Purpose.RESET_PASSWORD, token).email
    except InvalidEmailedToken:
        return None
