"""Code that uses the ORM, called from an event loop."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` in one of the loop's threads, whose stale database connections are closed
    first."""
    return await database_sync_to_async(function, thread_sensitive=False)(*args, **kwargs)
