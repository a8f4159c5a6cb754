"""Reads an answer of one JSON document, or the error in its place."""

from collections.abc import Callable
from typing import TypeVar

from ai.providers.error_answers import error_from
from ai.providers.http_calls import MAX_ERROR

T = TypeVar("T")


def read_answer(decoder: Callable[[bytes], T], payload: bytes) -> T:
    """`payload`, which came with status 200, decoded by `decoder`.

    Raises the ProviderError of an error body.
    """
    try:
        return decoder(payload)
    except (ValueError, RecursionError):
        pass
    raise error_from(200, payload if len(payload) <= MAX_ERROR else b"")
