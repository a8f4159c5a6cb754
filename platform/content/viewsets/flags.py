"""`/api/flags`: the feature flags."""

from typing import cast

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from common.validation import read
from common.viewsets import ViewSet
from content.flags import FLAGS
from content.request_serializers import FlagsQuerySerializer
from content.serializers import FlagsSerializer
from content.types import FlagUser


class FlagViewSet(ViewSet):
    """The flags as they are for a user."""

    @extend_schema(
        operation_id="getFlags", parameters=[FlagsQuerySerializer], responses=FlagsSerializer
    )
    def retrieve(self, request: Request) -> Response:
        """The feature flags: which are on for you.

        An operator's change is seen within seconds. What your plan includes is not here but in
        `GET /api/users/me/entitlements`.
        """
        asked = read(FlagsQuerySerializer, request.query_params.dict())
        names = [asked["name"]] if "name" in asked else sorted(FLAGS)
        user = cast(FlagUser, request.user)
        return Response({"flags": {name: FLAGS[name].value_for(user) for name in names}})
