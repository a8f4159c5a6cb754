"""The `Idempotency-Key` header: a POST that is sent again is carried out once.

The same key and request get the stored answer, another request with the key is an error, and a
request that still runs is a conflict.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from ai.inference.runner import CallRunner
from billing.types import RequestKey
from common.idempotency import KEY, MALFORMED
from publicapi.v1.errors import InvalidBody
from publicapi.v1.exchange import Exchange

# Fields about the form of the answer: the same request may be sent with and without a stream.
_FORM = {"stream", "stream_options"}

_decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def read_request_key(exchange: Exchange, body: bytes) -> RequestKey | None:
    """The request's idempotency key, if there is one; its body has been decoded into its struct.
    Raises InvalidBody for a malformed key."""
    key = exchange.header(b"idempotency-key")
    if key is None:
        return None
    if not KEY.fullmatch(key):
        raise InvalidBody(MALFORMED)
    return RequestKey(exchange.path, key, _fingerprint(body))


@contextmanager
def marked(exchange: Exchange, runner: CallRunner[Any, Any]) -> Iterator[None]:
    """Set the header where the awaited answer, or error, is that of an earlier request."""
    try:
        yield
    finally:
        if runner.replayed and runner.call.request_key:
            exchange.headers.append((b"idempotency-replayed", b"true"))
            if runner.error is not None:
                exchange.headers.append((b"x-should-retry", b"false"))


def _fingerprint(body: bytes) -> bytes:
    """The SHA-256 of the fields of a JSON object, sorted, with each value as it was written. No
    value is decoded: an ignored field can have a value of any size."""
    fields = _decode_fields(body)
    digest = hashlib.sha256()
    for name in sorted(fields.keys() - _FORM):
        digest.update(msgspec.json.encode(name))
        digest.update(fields[name])
    return digest.digest()
