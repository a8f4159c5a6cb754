"""Threads that use the ORM, and their connections."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async
from django.db import close_old_connections, connection

P = ParamSpec("P")
T = TypeVar("T")

# In a worker each of them keeps a database connection.
MAX_THREADS = 16

# Not the event loop's own threads: those look up host names, and must not wait for a database.
_executor = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="orm")
# Those for outside services: a slow one keeps its thread, and none that the database needs.
_outside = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="outside")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` in one of these threads; stale database connections are closed first."""
    run = database_sync_to_async(function, thread_sensitive=False, executor=_executor)
    return await run(*args, **kwargs)


async def in_outside_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for a `function` that calls an outside service; it closes its connection itself."""
    run = database_sync_to_async(function, thread_sensitive=False, executor=_outside)
    return await run(*args, **kwargs)


def release_connection() -> None:
    """Give this thread's connection back to the pool before a long wait. A transaction keeps it."""
    if not connection.in_atomic_block:
        close_old_connections()
