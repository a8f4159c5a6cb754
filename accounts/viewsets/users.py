"""`/api/users/me`: the profile, and closing the account."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from accounts.serializers.users import ProfileChangesSerializer, ProfileSerializer
from accounts.services import users
from accounts.types import AuthenticatedRequest
from accounts.viewsets import refresh_cookie
from common.validation import read
from common.viewsets import ViewSet


class ProfileViewSet(ViewSet):
    """The signed-in user's own account."""

    @extend_schema(operation_id="getProfile", responses=ProfileSerializer)
    def retrieve(self, request: AuthenticatedRequest) -> Response:
        """The profile."""
        return Response(ProfileSerializer(request.user).data)

    @extend_schema(
        operation_id="updateProfile", request=ProfileChangesSerializer, responses=ProfileSerializer
    )
    def partial_update(self, request: AuthenticatedRequest) -> Response:
        """Change some fields of the profile."""
        body = read(ProfileChangesSerializer, request.data)
        user = users.update_profile(user=request.user, **body)
        return Response(ProfileSerializer(user).data)

    @extend_schema(operation_id="deactivateAccount", responses={204: None})
    def destroy(self, request: AuthenticatedRequest) -> Response:
        """Deactivate the account.

        Nobody can sign in to it any more, and its API keys are revoked. Its data is removed on
        request.
        """
        users.deactivate(user=request.user)
        return refresh_cookie.signed_out(request)
