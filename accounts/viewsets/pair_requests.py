"""Requests that are answered with a pair of tokens: in the body, or with its refresh token in a
cookie."""

from dataclasses import dataclass
from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from accounts.serializers.sessions import TokenPairSerializer
from accounts.types import SignedIn
from accounts.viewsets import refresh_cookie
from accounts.viewsets.clients import read_with_client


@dataclass(frozen=True, slots=True)
class PairRequest:
    """A validated request for a pair. `values` are those of its body, with the client."""

    request: Request
    values: dict[str, Any]
    by_cookie: bool

    def answer(self, signed_in: SignedIn, status_code: int = status.HTTP_200_OK) -> Response:
        """The pair. What is in the cookie is not in the body, which scripts read."""
        pair = TokenPairSerializer(signed_in).data
        if not self.by_cookie:
            return Response(pair, status=status_code)
        response = Response({**pair, "refresh_token": None}, status=status_code)
        refresh_cookie.put(self.request, response, signed_in)
        return response


def read_pair_request(request: Request, serializer: type[Serializer[Any]]) -> PairRequest:
    """Read the body. Raises DRF's ValidationError, and ForeignOrigin where the page that asks for
    the cookie is not ours."""
    values = read_with_client(request, serializer)
    by_cookie = values.pop("cookie")
    if by_cookie:
        refresh_cookie.require_own_page(request)
    return PairRequest(request, values, by_cookie)
