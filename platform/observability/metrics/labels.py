"""Closed sets of label values. A value that is in none of them is counted as `other`, so that no
client can add a series."""

from collections.abc import Iterator

OTHER = "other"


class Declared:
    """The values that the subclasses of `base` declare for a class attribute, such as the codes of
    errors; and the empty one, for none."""

    def __init__(self, base: type, attribute: str) -> None:
        self._base = base
        self._attribute = attribute

    def __contains__(self, value: object) -> bool:
        declared = (getattr(cls, self._attribute, None) for cls in _descendants(self._base))
        return value == "" or value in declared


class FirstSeen:
    """The first `limit` different values that are asked for: names that operators make up, such as
    those of models."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._seen: set[object] = set()

    def __contains__(self, value: object) -> bool:
        if value not in self._seen and len(self._seen) < self._limit:
            self._seen.add(value)
        return value in self._seen


def _descendants(base: type) -> Iterator[type]:
    yield base
    for subclass in base.__subclasses__():
        yield from _descendants(subclass)
