"""Waiting times between attempts."""

from collections.abc import Iterator
from itertools import chain, repeat


def backoff(*pauses: float) -> Iterator[float]:
    """Yield these seconds one after the other, and then the last of them for ever."""
    return chain(pauses, repeat(pauses[-1]))
