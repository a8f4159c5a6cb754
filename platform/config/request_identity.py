"""Finds the sender of a request to Django from its head, before the body is read."""

from django.urls import Resolver404, resolve
from rest_framework.permissions import AllowAny

from accounts.authentication import read_claims
from accounts.errors import InvalidToken
from common.errors import Unauthenticated
from server import bodies
from server.asgi import Scope
from server.bodies import Sender


def sender_of(scope: Scope) -> Sender:
    """The user of the access token, or else the client's address.

    Only the token's signature is checked; the request itself looks up its row. Raises
    Unauthenticated or InvalidToken where the view would refuse the request anyway.
    """
    try:
        claims = read_claims(scope["headers"])
    except InvalidToken:
        if _needs_token(scope["path"]):
            raise
        claims = None
    if claims is not None:
        return bodies.user(claims.user_id)
    if _needs_token(scope["path"]):
        raise Unauthenticated
    return bodies.address(scope)


def sender_of_file(scope: Scope) -> Sender:
    """The user of the access token. Raises Unauthenticated, InvalidToken."""
    claims = read_claims(scope["headers"])
    if claims is None:
        raise Unauthenticated
    return bodies.user_of_long_ones(claims.user_id)


def _needs_token(path: str) -> bool:
    """Does the view at this path serve signed-in users only?"""
    try:
        view = getattr(resolve(path).func, "cls", None)
    except Resolver404:  # such as the target `*`: Django answers 404 itself
        return False
    return any(not issubclass(each, AllowAny) for each in getattr(view, "permission_classes", ()))
