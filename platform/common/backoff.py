"""How long to wait before something is tried again."""

from collections.abc import Iterator
from itertools import chain, repeat


def backoff(*pauses: float) -> Iterator[float]:
    """These seconds, one after the other, and then the last of them for ever."""
    return chain(pauses, repeat(pauses[-1]))
