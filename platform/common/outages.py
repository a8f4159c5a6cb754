"""An outage of PostgreSQL, as this process sees it: how long callers wait meanwhile, and two lines
in the log.

Failed attempts to connect begin it, connections that work end it, whoever has them. What fails
meanwhile logs no warnings of its own (`common.logging`).
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import structlog
from django.db.utils import InterfaceError, OperationalError
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from common.set_up import first_line

log = structlog.get_logger(__name__)

# Seconds that a caller waits for a connection, so that an outage is answered within three. A
# restart fails nobody who waits if it takes less than 0.9 seconds: the pools try again after 0.9 to
# 1.1 seconds, and then after 3.
PATIENCE_SECONDS = 2.5
# Seconds when nobody has got a connection for that long: attempts to connect go on meanwhile.
KNOWN_PATIENCE_SECONDS = 0.1
# Seconds without a connection that works, after which a failed attempt is an outage. A pool that
# gets no further connection (`max_connections`) goes on with those that it has. It is less than the
# pools' first pause, so that their second attempt tells.
UNSERVED_SECONDS = 0.8
# Seconds after an outage in which somebody may still learn that they have waited in vain in it.
AFTERMATH_SECONDS = 1.0


class Outage:
    """Of one process; its threads and event loops share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._served_at = -UNSERVED_SECONDS
        # When the first attempt failed since then.
        self._failed_at: float | None = None
        self._is_known = False
        self._ended_at = -AFTERMATH_SECONDS
        self._refused = 0

    @property
    def is_known(self) -> bool:
        """Is there one: have attempts to connect failed, and has nobody a connection?"""
        return self._is_known

    def caused(self, error: BaseException | None) -> bool:
        """Whether an error comes of an outage that lasts, or of one that ended a moment ago."""
        if self._is_known:
            return is_away(error)
        return time.monotonic() < self._ended_at + AFTERMATH_SECONDS and _waited_in_vain(error)

    @property
    def patience(self) -> float:
        """Seconds that a caller may wait for a connection now."""
        failed_at = self._failed_at
        if failed_at is None:
            return PATIENCE_SECONDS
        return max(KNOWN_PATIENCE_SECONDS, failed_at + PATIENCE_SECONDS - time.monotonic())

    def count_refusal(self) -> None:
        """A request was answered 503."""
        if self.is_known:
            with self._lock:
                self._refused += 1

    def served(self) -> None:
        """Somebody has got a connection that works."""
        self._served_at = time.monotonic()
        if self._failed_at is not None:
            self._end()

    @contextmanager
    def watched(self) -> Iterator[None]:
        """An attempt to connect."""
        began_at = time.monotonic()
        try:
            yield
        except psycopg.OperationalError as error:
            if self._served_at <= began_at:
                self._failed(error)
            raise
        self.served()

    def _failed(self, error: psycopg.OperationalError) -> None:
        now = time.monotonic()
        with self._lock:
            if self._failed_at is None:
                self._failed_at = now
            if self._is_known or now < self._served_at + UNSERVED_SECONDS:
                return
            self._is_known, self._refused = True, 0
        log.error("database.away", error=first_line(error))

    def _end(self) -> None:
        with self._lock:
            failed_at, self._failed_at = self._failed_at, None
            was_known, self._is_known = self._is_known, False
        if was_known and failed_at is not None:
            seconds = round(time.monotonic() - failed_at, 3)
            log.warning("database.back", seconds=seconds, refused_requests=self._refused)
            # The line itself may be written by somebody who has waited in vain.
            self._ended_at = time.monotonic()


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
    return any(isinstance(each, _OF_CONNECTIONS) for each in _causes(error))


def _waited_in_vain(error: BaseException | None) -> bool:
    return any(isinstance(each, PoolTimeout) for each in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and what it was raised from."""
    while error is not None:
        yield error
        error = error.__cause__


# What they tell is in their names: somebody has waited in vain, or a standby was asked to write.
_TOLD = (
    PoolClosed,
    PoolTimeout,
    TooManyRequests,
    TimeoutError,
    psycopg.errors.ReadOnlySqlTransaction,
)


def report(error: BaseException) -> None:
    """Log what a database says, but not in an outage, which has lines of its own, nor what its
    class tells: that is the `cause` of a request."""
    if not OUTAGE.is_known and not isinstance(error.__cause__ or error, _TOLD):
        log.warning("database.failed", exc_info=error)
