"""The `Idempotency-Key` header of POST requests to `/api`."""

from collections.abc import Mapping
from typing import Any

from rest_framework.request import Request

from billing.types import RequestKey
from common.idempotency import digest, read_key

REPLAYED = {"Idempotency-Replayed": "true"}


def read_request_key(request: Request, values: Mapping[str, Any]) -> RequestKey | None:
    """The request key, if the client sent one; `values` are the request's parameters.

    Raises ValidationFailed for a malformed header.
    """
    key = read_key(request)
    return None if key is None else RequestKey(request.path, key, digest(values))


def replayed(is_replayed: bool) -> dict[str, str] | None:
    """The header that marks an answer as that of an earlier request."""
    return REPLAYED if is_replayed else None
