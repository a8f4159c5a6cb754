"""Signing in by an identity provider: finds or creates the account of an identity."""

import contextlib

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.errors import (
    AccountSuspended,
    IdentityTaken,
    IdentityUnverified,
    IdTokenUsed,
    InvalidCredentials,
    SignUpClosed,
)
from accounts.google import IdentityClaims, read_id_token
from accounts.models import LinkedIdentity, UsedIdToken, User
from accounts.services.sessions import open_session
from accounts.services.users import take_over
from accounts.types import UNKNOWN_CLIENT, Client, SignedIn
from content import flags


def sign_in_with_google(
    *,
    id_token: str,
    nonce: str | None = None,
    client: Client = UNKNOWN_CLIENT,
) -> SignedIn:
    """Sign in the identity of the token, which works once; the first time this creates an account,
    or links the one with the same address. A `nonce` has to match the token's.

    Raises InvalidIdToken, IdTokenUsed, IdentityProviderOff, IdentityProviderUnavailable,
    IdentityUnverified, IdentityTaken, SignUpClosed, AccountSuspended, or InvalidCredentials for a
    deactivated account.
    """
    claims = read_id_token(id_token, nonce)
    # Another request may take the address or the identity meanwhile: the second attempt finds it.
    with contextlib.suppress(IntegrityError):
        return _sign_in(claims, client)
    return _sign_in(claims, client)


@transaction.atomic
def _sign_in(claims: IdentityClaims, client: Client) -> SignedIn:
    _use_up(claims)
    user = _known_user(claims)
    if user is None:
        user = _new_user(claims)
    _require_open(user)  # if it is not, nothing was linked: the transaction ends here
    return open_session(user, client)


def purge_used_id_tokens() -> None:
    """Delete used tokens that are too old to be accepted."""
    UsedIdToken.objects.filter(expires_at__lt=timezone.now()).delete()


def _use_up(claims: IdentityClaims) -> None:
    """Mark a token as used. Raises IdTokenUsed. If the sign-in fails for another reason, the
    caller's transaction undoes this."""
    _, is_new = UsedIdToken.objects.get_or_create(
        digest=claims.token_digest, defaults={"expires_at": claims.token_expires_at}
    )
    if not is_new:
        raise IdTokenUsed


def _known_user(claims: IdentityClaims) -> User | None:
    """The account that is linked to Google's subject; the address is ignored, because it may have a
    new owner."""
    return User.objects.filter(
        identities__issuer=claims.issuer, identities__subject=claims.subject
    ).first()


def _new_user(claims: IdentityClaims) -> User:
    """The account of the address, created if there is none, and linked to the identity."""
    if not claims.email or not claims.email_verified:
        raise IdentityUnverified
    user = User.objects.select_for_update(no_key=True).filter(email=claims.email).first()
    if user is None:
        if not flags.SIGN_UP.is_on():
            raise SignUpClosed
        user = User.objects.create_user(
            claims.email,
            name=claims.name,
            avatar_url=claims.picture,
            email_verified=True,
            verified_by_holder=True,
        )
    elif (known := _known_user(claims)) is not None:  # linked while we waited for the lock
        return known
    if not user.is_of_its_address:
        take_over(user=user)
    if user.identities.filter(issuer=claims.issuer).exists():
        raise IdentityTaken
    LinkedIdentity.objects.create(user=user, issuer=claims.issuer, subject=claims.subject)
    return user


def _require_open(user: User) -> None:
    if user.status == User.Status.SUSPENDED:
        raise AccountSuspended
    if user.is_closed:
        raise InvalidCredentials(
            "The account of this identity is closed. Ask support to reopen it."
        )
