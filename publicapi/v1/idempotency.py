"""The `Idempotency-Key` header: a POST that is sent again is carried out once.

The same key and request bring the stored answer, another request is a mistake, and one that still
runs a conflict.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from billing.types import RequestKey
from common.idempotency import KEY, MALFORMED
from inference.runner import CallRunner
from publicapi.v1.errors import InvalidBody
from publicapi.v1.exchange import Exchange

# How an answer is sent, which is not what is asked: the same request may be sent for a stream, and
# again without one.
_FORM = {"stream", "stream_options"}

_decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def read_request_key(exchange: Exchange, body: bytes) -> RequestKey | None:
    """How the client calls this request, if it does; its body has been decoded into its struct.
    Raises InvalidBody for a malformed key."""
    key = exchange.header(b"idempotency-key")
    if key is None:
        return None
    if not KEY.fullmatch(key):
        raise InvalidBody(MALFORMED)
    return RequestKey(exchange.path, key, _fingerprint(body))


@contextmanager
def marked(exchange: Exchange, runner: CallRunner[Any, Any]) -> Iterator[None]:
    """Say in the headers where the answer that is waited for is that of an earlier request, be it
    an error."""
    try:
        yield
    finally:
        if runner.replayed:
            exchange.headers.append((b"idempotency-replayed", b"true"))
            if runner.error is not None:
                exchange.headers.append((b"x-should-retry", b"false"))


def _fingerprint(body: bytes) -> bytes:
    """The SHA-256 of the fields of a body that is a JSON object, in one order, each value as it was
    written. No value is decoded: what is in a field that nobody reads can be of any size."""
    fields = _decode_fields(body)
    digest = hashlib.sha256()
    for name in sorted(fields.keys() - _FORM):
        digest.update(msgspec.json.encode(name))
        digest.update(fields[name])
    return digest.digest()
