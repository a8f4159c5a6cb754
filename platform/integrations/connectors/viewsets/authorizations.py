"""`/api/connectors/{provider}`: consents that are asked for, and where they end."""

from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpResponseRedirect
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.types import AuthenticatedRequest
from common.errors import NotFound
from common.openapi import error_responses
from common.validation import read
from common.viewsets import ViewSet
from integrations.connectors.errors import ConnectorNotConfigured, TooManyConnectors
from integrations.connectors.request_serializers import AuthorizationQuerySerializer
from integrations.connectors.serializers import AuthorizationSerializer, ProviderSerializer
from integrations.connectors.services import authorizations
from integrations.connectors.types import MAX_CODE, MAX_STATE, Provider

_PROVIDER: Final = OpenApiParameter(
    "provider", str, OpenApiParameter.PATH, enum=[provider.value for provider in Provider]
)
# What the pages of the web app learn of a consent that did not come about.
_DENIED: Final = "access_denied"
_FAILED: Final = "provider_failed"
_OVER: Final = "authorization_expired"


class AuthorizationViewSet(ViewSet):
    """Accounts elsewhere that can be connected."""

    @extend_schema(operation_id="listConnectorProviders", responses=ProviderSerializer(many=True))
    def list(self, request: AuthenticatedRequest) -> Response:
        """The providers whose accounts can be connected, and those that the operator has not set
        up."""
        return Response(ProviderSerializer([*settings.CONNECTORS.values()], many=True).data)

    @extend_schema(
        operation_id="authorizeConnector",
        parameters=[_PROVIDER, AuthorizationQuerySerializer],
        responses={
            200: AuthorizationSerializer,
            **error_responses(ConnectorNotConfigured, TooManyConnectors),
        },
    )
    def authorize(self, request: AuthenticatedRequest, provider: str) -> Response:
        """Begin to connect an account.

        Send the browser to `authorize_url`. It comes back to the page `return_to` with `state` and
        `code`, or with `error`; connect the account with `POST /api/connectors` then.
        """
        asked = read(AuthorizationQuerySerializer, request.query_params.dict())
        begun = authorizations.begin(
            user=request.user, provider=_provider(provider), page=asked["return_to"]
        )
        answer = Response(AuthorizationSerializer(begun).data)
        answer["Cache-Control"] = "no-store"
        return answer


class CallbackViewSet(ViewSet):
    """Where providers send browsers back to."""

    authentication_classes = ()
    permission_classes = ()

    @extend_schema(
        operation_id="receiveConnectorCallback",
        parameters=[
            _PROVIDER,
            OpenApiParameter("state", str),
            OpenApiParameter("code", str),
            OpenApiParameter("error", str),
        ],
        responses={302: OpenApiResponse(description="To the page of the web app.")},
        auth=[],
    )
    def retrieve(self, request: Request, provider: str) -> HttpResponseRedirect:
        """Lead the browser to the page of the web app, with `provider`, and with `state` and `code`
        or with `error`. The account is connected by that page, for the user who began it."""
        found = {name: request.query_params.get(name, "") for name in ("state", "code", "error")}
        state, code = found["state"], found["code"]
        is_usable = 0 < len(state) <= MAX_STATE and 0 < len(code) <= MAX_CODE and not found["error"]
        end = authorizations.find_return(
            provider=_provider(provider), state=state[:MAX_STATE], is_refused=not is_usable
        )
        if not end.is_open:
            outcome = {"error": _OVER}
        elif is_usable:
            outcome = {"state": state, "code": code}
        else:
            outcome = {"error": _DENIED if found["error"] == _DENIED else _FAILED}
        return _redirect(end.page, {"provider": provider, **outcome})


def _provider(name: str) -> Provider:
    try:
        return Provider(name)
    except ValueError:
        raise NotFound("There is no such provider.") from None


def _redirect(page: str, query: dict[str, Any]) -> HttpResponseRedirect:
    joint = "&" if "?" in page else "?"
    answer = HttpResponseRedirect(f"{page}{joint}{urlencode(query)}")
    answer["Cache-Control"] = "no-store"
    answer["Referrer-Policy"] = "no-referrer"
    return answer
