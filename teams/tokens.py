"""The tokens of invitations. Only mails have them."""

from common import link_tokens

_SALT = "teams.invitations"


def digest(token: str) -> bytes:
    """The stored form of a token."""
    return link_tokens.digest(token, salt=_SALT)


def digests(token: str) -> list[bytes]:
    """The stored forms that a token can have."""
    return link_tokens.digests(token, salt=_SALT)
