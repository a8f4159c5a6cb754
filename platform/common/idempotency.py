"""The `Idempotency-Key` header of a POST that is to be carried out once.

The semantics are those of the IETF draft "The Idempotency-Key HTTP Header Field".
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from common.errors import ValidationFailed

KEY = re.compile(r"[\x20-\x7e]{1,255}")
KEY_HOURS = 24  # for which a key stands for its request
MALFORMED = "`Idempotency-Key` must be 1 to 255 printable ASCII characters."

# For `extend_schema` of a view that supports the header.
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
    OpenApiParameter.HEADER,
    description=f"The same key and body within {KEY_HOURS} hours are carried out once.",
)


def read_key(request: Request) -> str | None:
    """The key of a request to `/api`, if any. Raises ValidationFailed for a malformed one."""
    key = request.headers.get("Idempotency-Key")
    if key is not None and not KEY.fullmatch(key):
        raise ValidationFailed(MALFORMED)
    return key


def digest(values: Mapping[str, Any]) -> bytes:
    """The SHA-256 of a body's values, independent of their order and spacing."""
    return hashlib.sha256(json.dumps(values, sort_keys=True, default=str).encode()).digest()
