"""`/api/auth`: passwords, forgotten and changed."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import ForeignOrigin, TooManyAttempts, TooManyEmails
from accounts.selectors.emailed_tokens import get_reset_address
from accounts.serializers.emails import AcceptedSerializer
from accounts.serializers.passwords import (
    ChangePasswordSerializer,
    ForgotPasswordSerializer,
    ResetPasswordSerializer,
    ResetTokenSerializer,
    ResetTokenStateSerializer,
)
from accounts.serializers.sessions import TokenPairSerializer
from accounts.services import passwords
from accounts.types import AuthenticatedRequest
from accounts.viewsets.clients import read_with_client
from accounts.viewsets.pair_requests import read_pair_request
from common.openapi import error_responses
from common.validation import read
from common.viewsets import ViewSet
from server.client_ip import client_ip_of

_SENT = "If there is an account with this address, a mail is on its way to it."


class ForgottenPasswordViewSet(ViewSet):
    """Password reset by mail. No answer reveals whether there is an account."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="requestPasswordReset",
        request=ForgotPasswordSerializer,
        responses={202: AcceptedSerializer, **error_responses(TooManyEmails)},
    )
    def forgot(self, request: Request) -> Response:
        """Request a mail with a link that resets the password.

        The answer is the same for an address without an account.
        """
        body = read(ForgotPasswordSerializer, request.data)
        passwords.request_reset(**body, client_ip=client_ip_of(request))
        answer = AcceptedSerializer({"detail": _SENT})
        return Response(answer.data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(
        operation_id="resetPassword", request=ResetPasswordSerializer, responses={204: None}
    )
    def reset(self, request: Request) -> Response:
        """Set a new password by a mailed token, and sign out everywhere."""
        passwords.reset_password(**read_with_client(request, ResetPasswordSerializer))
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(
        operation_id="checkResetToken",
        request=ResetTokenSerializer,
        responses=ResetTokenStateSerializer,
    )
    def verify(self, request: Request) -> Response:
        """Can this token still be used to reset a password?"""
        email = get_reset_address(**read(ResetTokenSerializer, request.data))
        state = {"valid": email is not None, "email": email}
        return Response(ResetTokenStateSerializer(state).data)


class PasswordViewSet(ViewSet):
    """The signed-in user's password."""

    @extend_schema(
        operation_id="changePassword",
        request=ChangePasswordSerializer,
        responses={200: TokenPairSerializer, **error_responses(ForeignOrigin, TooManyAttempts)},
    )
    def change(self, request: AuthenticatedRequest) -> Response:
        """Set a new password, and sign out everywhere but here."""
        asked = read_pair_request(request, ChangePasswordSerializer)
        return asked.answer(passwords.change_password(user=request.user, **asked.values))
