"""`/api/auth`: signing up, in and out, and sessions."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import (
    AccountSuspended,
    EmailTaken,
    ForeignOrigin,
    IdentityProviderOff,
    IdentityProviderUnavailable,
    IdentityTaken,
    IdentityUnverified,
    IdTokenUsed,
    InvalidCredentials,
    InvalidIdToken,
    InvalidToken,
    NotSignedIn,
    SignUpClosed,
    TooManyAttempts,
    TooManySignUps,
)
from accounts.serializers.sessions import (
    IdTokenSerializer,
    RefreshSerializer,
    SessionSerializer,
    SignInSerializer,
    SignUpSerializer,
    TokenPairSerializer,
)
from accounts.serializers.users import UserSerializer
from accounts.services import identities, sessions, users
from accounts.types import AuthenticatedRequest
from accounts.viewsets import refresh_cookie
from accounts.viewsets.pair_requests import read_pair_request
from common.openapi import error_responses
from common.pagination import PAGE_PARAMETERS, NewestFirst
from common.viewsets import ViewSet


class SignInViewSet(ViewSet):
    """The endpoints that answer with a pair of tokens. A stale Authorization header is ignored."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="signUp",
        request=SignUpSerializer,
        responses={
            201: TokenPairSerializer,
            **error_responses(ForeignOrigin, SignUpClosed, EmailTaken, TooManySignUps),
        },
    )
    def sign_up(self, request: Request) -> Response:
        """Create an account and sign in.

        A mail with a link is sent, which verifies the address.
        """
        asked = read_pair_request(request, SignUpSerializer)
        return asked.answer(sessions.sign_up(**asked.values), status.HTTP_201_CREATED)

    @extend_schema(
        operation_id="signIn",
        request=SignInSerializer,
        responses={
            200: TokenPairSerializer,
            **error_responses(InvalidCredentials, ForeignOrigin, AccountSuspended, TooManyAttempts),
        },
    )
    def sign_in(self, request: Request) -> Response:
        """Sign in by address and password."""
        asked = read_pair_request(request, SignInSerializer)
        return asked.answer(sessions.sign_in(**asked.values))

    @extend_schema(
        operation_id="signInWithGoogle",
        request=IdTokenSerializer,
        responses={
            200: TokenPairSerializer,
            **error_responses(
                InvalidIdToken,
                IdTokenUsed,
                InvalidCredentials,
                ForeignOrigin,
                AccountSuspended,
                IdentityTaken,
                IdentityUnverified,
                SignUpClosed,
                IdentityProviderOff,
                IdentityProviderUnavailable,
            ),
        },
    )
    def sign_in_with_google(self, request: Request) -> Response:
        """Sign in by an ID token of Google; the first time an account is created or linked.

        A token signs in once, within ten minutes after it was issued.
        """
        asked = read_pair_request(request, IdTokenSerializer)
        return asked.answer(identities.sign_in_with_google(**asked.values))

    @extend_schema(
        operation_id="refreshTokens",
        request=RefreshSerializer,
        responses={
            200: TokenPairSerializer,
            **error_responses(InvalidToken, NotSignedIn, ForeignOrigin, AccountSuspended),
        },
    )
    def refresh(self, request: Request) -> Response:
        """Exchange a refresh token for a new pair of tokens.

        A refresh token works once. Sent again within 30 seconds it gives the same successor; later
        it counts as stolen, and its session is ended: all tokens that descend from the same sign-in
        are revoked, access tokens too. A session is also refused when it has reached its maximum
        age (90 days, unless configured otherwise). Then sign in again.

        With `cookie`, the token is read from the cookie `refresh_token`, and its successor takes
        its place there.
        """
        asked = read_pair_request(request, RefreshSerializer)
        if not asked.by_cookie:
            return asked.answer(sessions.refresh(**asked.values))
        token = refresh_cookie.read(request)
        try:
            return asked.answer(sessions.refresh(**asked.values, refresh_token=token))
        except InvalidToken as error:
            response = self.handle_exception(error)
            refresh_cookie.remove(response)
            return response


class SessionViewSet(ViewSet):
    """The signed-in user, and their sessions."""

    @extend_schema(operation_id="getCurrentUser", responses=UserSerializer)
    def me(self, request: AuthenticatedRequest) -> Response:
        """The signed-in user."""
        return Response(UserSerializer(request.user).data)

    @extend_schema(operation_id="signOutEverywhere", request=None, responses={204: None})
    def sign_out(self, request: AuthenticatedRequest) -> Response:
        """Sign out everywhere: all tokens of the account are void."""
        users.revoke_sessions(user=request.user)
        return refresh_cookie.signed_out(request)

    @extend_schema(
        operation_id="listSessions",
        parameters=PAGE_PARAMETERS,
        responses=SessionSerializer(many=True),
    )
    def list(self, request: AuthenticatedRequest) -> Response:
        """The sessions of the account, newest first. An account has at most 50."""
        context = {"current": request.auth.session_id}
        rows = request.user.sessions.all()
        return NewestFirst().answer(request, rows, SessionSerializer, context=context)

    @extend_schema(operation_id="endSession", responses={204: None})
    def destroy(self, request: AuthenticatedRequest, session_id: UUID) -> Response:
        """End a session: its tokens are void at once, its sockets and streams are closed.

        Ending the current session is signing out on this device alone.
        """
        sessions.end_session(user=request.user, session_id=session_id)
        if session_id == request.auth.session_id:
            return refresh_cookie.signed_out(request)
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(operation_id="endOtherSessions", request=None, responses={204: None})
    def end_others(self, request: AuthenticatedRequest) -> Response:
        """End all sessions of the account but the current one."""
        sessions.end_other_sessions(user=request.user, session_id=request.auth.session_id)
        return Response(status=status.HTTP_204_NO_CONTENT)
