"""`/api/auth/verify-email`: verification of an address."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import AccountSuspended, InvalidToken
from accounts.serializers.emails import (
    AcceptedSerializer,
    VerifiedEmailSerializer,
    VerifyEmailSerializer,
)
from accounts.services import verification
from accounts.types import AnybodysRequest, AuthenticatedRequest
from common.validation import read
from common.viewsets import ViewSet

_SENT = "If your address is not verified yet, a mail is on its way to it."


class VerifyEmailViewSet(ViewSet):
    """The link of a mail may open in a browser that nobody is signed in to."""

    permission_classes = (AllowAny,)

    def perform_authentication(self, request: Request) -> None:
        """A stale or broken Authorization header counts as none."""
        try:
            super().perform_authentication(request)
        except (InvalidToken, AccountSuspended):
            request.user = None  # type: ignore[assignment]

    @extend_schema(
        operation_id="verifyEmail", request=VerifyEmailSerializer, responses=VerifiedEmailSerializer
    )
    def verify(self, request: AnybodysRequest) -> Response:
        """Verify an address by the token that was mailed to it."""
        body = read(VerifyEmailSerializer, request.data)
        user = verification.verify_email(**body, signed_in=request.user)
        return Response(VerifiedEmailSerializer(user).data)


class VerificationMailViewSet(ViewSet):
    """The signed-in user's own address."""

    @extend_schema(
        operation_id="resendVerificationEmail", request=None, responses={202: AcceptedSerializer}
    )
    def send(self, request: AuthenticatedRequest) -> Response:
        """Request another mail that verifies your address."""
        verification.request_verification(user=request.user)
        answer = AcceptedSerializer({"detail": _SENT})
        return Response(answer.data, status=status.HTTP_202_ACCEPTED)
