"""An outage of PostgreSQL, as this process sees it: how long callers wait meanwhile, and two lines
in the log.

Attempts to connect tell of it, whoever makes them. What fails meanwhile logs no warnings of its own
(`common.logging`).
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import psycopg
import structlog
from django.db.utils import InterfaceError, OperationalError

from common.set_up import first_line

log = structlog.get_logger(__name__)

# Seconds that a caller waits for a connection, so that an outage is answered within three. A
# restart of PostgreSQL that is shorter fails no request.
PATIENCE_SECONDS = 2.5
# Seconds when PostgreSQL is known to be away for that long: attempts to connect go on meanwhile.
KNOWN_PATIENCE_SECONDS = 0.1


class Outage:
    """Of one process; its threads and event loops share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._began_at: float | None = None
        self._refused = 0

    @property
    def is_known(self) -> bool:
        """Has the last attempt to connect failed?"""
        return self._began_at is not None

    @property
    def patience(self) -> float:
        """Seconds that a caller may wait for a connection now."""
        began_at = self._began_at
        if began_at is None:
            return PATIENCE_SECONDS
        return max(KNOWN_PATIENCE_SECONDS, began_at + PATIENCE_SECONDS - time.monotonic())

    def count_refusal(self) -> None:
        """A request was answered 503."""
        if self.is_known:
            with self._lock:
                self._refused += 1

    @contextmanager
    def watched(self) -> Iterator[None]:
        """An attempt to connect: it begins the outage, or ends it."""
        try:
            yield
        except psycopg.OperationalError as error:
            self._begin(error)
            raise
        self._end()

    def _begin(self, error: psycopg.OperationalError) -> None:
        with self._lock:
            if self.is_known:
                return
            self._began_at, self._refused = time.monotonic(), 0
        log.error("database.away", error=first_line(error))

    def _end(self) -> None:
        if not self.is_known:
            return
        with self._lock:
            began_at, self._began_at = self._began_at, None
        if began_at is not None:
            seconds = round(time.monotonic() - began_at, 3)
            log.warning("database.back", seconds=seconds, refused_requests=self._refused)


OUTAGE = Outage()

_OF_CONNECTIONS = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    OperationalError,
    InterfaceError,
)


def is_away(error: BaseException | None) -> bool:
    """Is it what a database says, or is raised for one, that cannot be reached, has gone, or cannot
    serve for now?"""
    while error is not None:
        if isinstance(error, _OF_CONNECTIONS):
            return True
        error = error.__cause__
    return False


class WatchedConnection(psycopg.Connection[Any]):
    """A connection of Django's pool."""

    @classmethod
    def connect(cls, *args: Any, **options: Any) -> Self:
        with OUTAGE.watched():
            return super().connect(*args, **options)


class WatchedAsyncConnection(psycopg.AsyncConnection[Any]):
    """A connection of the pools of event loops."""

    @classmethod
    async def connect(cls, *args: Any, **options: Any) -> Self:
        with OUTAGE.watched():
            return await super().connect(*args, **options)
