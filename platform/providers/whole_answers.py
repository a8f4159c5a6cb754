"""Reading an answer that is one JSON document, or the error that came in its place."""

from collections.abc import Callable
from typing import TypeVar

from providers.error_answers import error_from
from providers.http_calls import MAX_ERROR

T = TypeVar("T")


def read_answer(decoder: Callable[[bytes], T], payload: bytes) -> T:
    """What `decoder` makes of `payload`, which came with status 200.

    Raises the ProviderError that it stands for where it is something else.
    """
    try:
        return decoder(payload)
    except (ValueError, RecursionError):
        pass
    raise error_from(200, payload if len(payload) <= MAX_ERROR else b"")
