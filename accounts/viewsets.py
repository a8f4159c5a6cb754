"""`/api/auth`: signing up, in and out."""

from rest_framework import status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts import services
from accounts.serializers import (
    RefreshSerializer,
    SignInSerializer,
    SignUpSerializer,
    UserSerializer,
    token_answer,
)
from accounts.types import AuthenticatedRequest


class SignInViewSet(ViewSet):
    """The ways to a pair of tokens. A stale Authorization header must not stand in their way."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    def sign_up(self, request: Request) -> Response:
        body = SignUpSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        signed_in = services.sign_up(**body.validated_data)
        return Response(token_answer(signed_in), status=status.HTTP_201_CREATED)

    def sign_in(self, request: Request) -> Response:
        body = SignInSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(token_answer(services.sign_in(**body.validated_data)))

    def refresh(self, request: Request) -> Response:
        body = RefreshSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(token_answer(services.refresh(**body.validated_data)))


class SessionViewSet(ViewSet):
    """The signed-in user."""

    def me(self, request: AuthenticatedRequest) -> Response:
        return Response(UserSerializer(request.user).data)

    def sign_out(self, request: AuthenticatedRequest) -> Response:
        services.sign_out(user=request.user)
        return Response(status=status.HTTP_204_NO_CONTENT)
