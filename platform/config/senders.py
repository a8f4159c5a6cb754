"""Who sends the body of a request to Django: asked of the head alone, before anything is read."""

from django.urls import Resolver404, resolve
from rest_framework.permissions import AllowAny

from accounts.authentication import read_claims
from accounts.errors import InvalidToken
from common import bodies
from common.asgi import Scope
from common.bodies import Sender
from common.errors import Unauthenticated


def sender_of(scope: Scope) -> Sender:
    """The user whom the access token names, or else the client's address.

    The token's signature is checked, and no more: its row is looked at with the request's own.
    Raises Unauthenticated or InvalidToken where the view would refuse the request anyway.
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
    """The user whom the access token names. Raises Unauthenticated, InvalidToken."""
    claims = read_claims(scope["headers"])
    if claims is None:
        raise Unauthenticated
    return bodies.user_of_long_ones(claims.user_id)


def _needs_token(path: str) -> bool:
    """Does the view of REST framework at this path have only signed-in users?"""
    try:
        view = getattr(resolve(path).func, "cls", None)
    except Resolver404:  # such as the target `*`: Django answers 404 itself
        return False
    return any(not issubclass(each, AllowAny) for each in getattr(view, "permission_classes", ()))
