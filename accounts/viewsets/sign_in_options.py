"""`/api/auth/options`: the ways in."""

from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.selectors.sign_in_options import get_sign_in_options
from accounts.serializers.sign_in_options import SignInOptionsSerializer
from common.viewsets import ViewSet


class SignInOptionsViewSet(ViewSet):
    """For everybody. A stale Authorization header is ignored."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(operation_id="getSignInOptions", responses=SignInOptionsSerializer)
    def retrieve(self, request: Request) -> Response:
        """The ways in that a page for signing in can offer.

        Nobody needs to sign in.
        """
        return Response(SignInOptionsSerializer(get_sign_in_options()).data)
