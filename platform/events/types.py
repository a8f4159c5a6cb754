"""What is written to a stream."""

from typing import Any

from msgspec import Struct

USER = "user"
SYSTEM = "system"


class NewEvent(Struct, frozen=True):
    """An event to be. `type` is `resource.verb`; `data` is whatever JSON can say."""

    type: str
    data: Any
    actor: str = SYSTEM


def model_actor(model: str) -> str:
    """The actor of what the model of that catalog key says."""
    return f"model:{model}"
