"""How a client calls a POST to `/api` that moves money or begins something."""

from collections.abc import Mapping
from typing import Any

from rest_framework.request import Request

from billing.types import RequestKey
from common.idempotency import digest, read_key

REPLAYED = {"Idempotency-Replayed": "true"}


def read_request_key(request: Request, values: Mapping[str, Any]) -> RequestKey | None:
    """The request as one that happens once, where its client named it; `values` are what it asks.

    Raises ValidationFailed for a malformed name.
    """
    key = read_key(request)
    return None if key is None else RequestKey(request.path, key, digest(values))


def replayed(is_replayed: bool) -> dict[str, str] | None:
    """The header that says that an answer is that of an earlier request."""
    return REPLAYED if is_replayed else None
