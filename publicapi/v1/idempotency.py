"""The `Idempotency-Key` header: a POST that is sent again is carried out once.

The same key and body bring the stored answer, another body is a mistake, and a request that still
runs a conflict.
"""

import hashlib
from typing import Any

from billing.types import Once
from common.idempotency import KEY, MALFORMED
from inference.pump import Pump
from publicapi.v1.errors import InvalidBody
from publicapi.v1.exchange import Exchange


def once(exchange: Exchange, body: bytes) -> Once | None:
    """How the client calls this request, if it does. Raises InvalidBody for a malformed key."""
    key = exchange.header(b"idempotency-key")
    if key is None:
        return None
    if not KEY.fullmatch(key):
        raise InvalidBody(MALFORMED)
    return Once(exchange.path, key, hashlib.sha256(body).digest())


def mark_replay(exchange: Exchange, pump: Pump[Any, Any]) -> None:
    """Say so where the answer is that of an earlier request. Call it when the answer has begun."""
    if pump.replayed:
        exchange.headers.append((b"idempotency-replayed", b"true"))
