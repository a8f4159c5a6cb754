"""The client of a request."""

from typing import Any

from rest_framework.request import Request
from rest_framework.serializers import Serializer

from accounts.types import Client
from common.validation import read
from server.client_ip import client_ip_of


def read_with_client(request: Request, serializer: type[Serializer[Any]]) -> dict[str, Any]:
    """The validated values of a body, with the client in the place of its `device_id`."""
    values = read(serializer, request.data)
    values["client"] = Client(
        ip=client_ip_of(request),
        user_agent=request.headers.get("User-Agent", ""),
        device_id=values.pop("device_id", None),
    )
    return values
