"""Whether an answer reached its client, as far as the server can know.

A server that knows it offers the ASGI extension `platform.delivery`, whose `watch` watches the
answer of the request. `server.connections.http` does; under other servers nothing is known.
"""

from collections.abc import Callable
from typing import Protocol, cast

from server.asgi import Scope

EXTENSION = "platform.delivery"


class Delivery(Protocol):
    """The answer of one request on its way. It is lost where the connection is closed before the
    kernel has taken the last byte; what the kernel has taken counts as delivered."""

    @property
    def is_lost(self) -> bool:
        """Has the client gone before it could have all of the answer?"""

    def look(self) -> None:
        """Before the last part is sent: has the client gone, and is that not noticed yet?"""

    async def written(self) -> None:
        """After the last part was sent: wait until the kernel has taken it, or the client has
        gone."""


def watched(scope: Scope, lost: Callable[[], None]) -> Delivery | None:
    """Watch the answer of a request: `lost` is called when it is lost, at once where it is already.
    None under a server that does not know."""
    extension = scope.get("extensions", {}).get(EXTENSION)
    return cast(Delivery, extension["watch"](lost)) if extension else None
