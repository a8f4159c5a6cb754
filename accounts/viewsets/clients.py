"""The client of a request."""

from typing import Any

from rest_framework.request import Request
from rest_framework.serializers import Serializer

from accounts.types import Client
from server.client_ip import client_ip_of


def with_client(request: Request, body: Serializer[Any]) -> dict[str, Any]:
    """The values of a valid body, with the client in the place of its `device_id`."""
    values = dict(body.validated_data)
    values["client"] = Client(
        ip=client_ip_of(request),
        user_agent=request.headers.get("User-Agent", ""),
        device_id=values.pop("device_id", None),
    )
    return values
