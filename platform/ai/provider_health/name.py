"""The name of a circuit."""

from typing import NamedTuple


class Name(NamedTuple):
    """A circuit: a provider and the id of a model in the catalog."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"
