"""The `Idempotency-Key` header: a POST that is sent again is carried out once.

The same key and request bring the stored answer, another request is a mistake, and one that still
runs a conflict.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from billing.types import Once
from common.idempotency import KEY, MALFORMED
from inference.pump import Pump
from publicapi.v1.errors import InvalidBody
from publicapi.v1.exchange import Exchange

# How an answer is sent, which is not what is asked: the same request may be sent for a stream, and
# again without one.
_FORM = ("stream", "stream_options")


def once(exchange: Exchange, body: bytes) -> Once | None:
    """How the client calls this request, if it does. Raises InvalidBody for a malformed key."""
    key = exchange.header(b"idempotency-key")
    if key is None:
        return None
    if not KEY.fullmatch(key):
        raise InvalidBody(MALFORMED)
    return Once(exchange.path, key, hashlib.sha256(_what_is_asked(body)).digest())


@contextmanager
def marked(exchange: Exchange, pump: Pump[Any, Any]) -> Iterator[None]:
    """Say in the headers where the answer that is waited for is that of an earlier request, be it
    an error."""
    try:
        yield
    finally:
        if pump.replayed:
            exchange.headers.append((b"idempotency-replayed", b"true"))
            if pump.error is not None:
                exchange.headers.append((b"x-should-retry", b"false"))


def _what_is_asked(body: bytes) -> bytes:
    """The body without how the answer is sent, in one order of its fields. As it is where it is no
    such object: its endpoint refuses it, or does not read what is wrong with it."""
    try:
        fields = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return body
    asked = {name: value for name, value in fields.items() if name not in _FORM}
    return msgspec.json.encode(asked, order="deterministic")
