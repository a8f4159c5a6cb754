"""The thread that shares this process's status cache with the other processes, twice a second.

No call waits for it: while Redis is away, circuits count as closed and operators' switches are read
from the database every few seconds. No error ends it.
"""

import time
from collections.abc import Callable
from threading import Event as Signal
from threading import Lock, Thread

import structlog
from django.db import Error as DatabaseError
from django.db import connection
from redis.exceptions import RedisError

from ai.provider_health.callers import CallerRules
from ai.provider_health.circuit import Circuit, Claim, Event, Rules
from ai.provider_health.models import read_switches
from ai.provider_health.name import Name
from ai.provider_health.status_cache import StatusCache, Switches
from ai.provider_health.store import News, Store
from ai.providers.keys import KeyRests

log = structlog.get_logger(__name__)

ROUND_SECONDS = 0.5
# The shortest time between two rounds, however much there is to tell.
PAUSE_SECONDS = 0.05
CLOSE_SECONDS = 2.0
# The switches are read so often without any signal.
SWITCHES_SECONDS = 5.0

_AWAY = (RedisError, OSError)


class Exchange:
    """Shares one status cache. It starts when it is first needed."""

    def __init__(
        self,
        status: StatusCache,
        store: Store,
        rests: KeyRests,
        rules: Callable[[], Rules],
        caller_rules: Callable[[], CallerRules],
    ) -> None:
        self._status = status
        self._store = store
        self._rests = rests
        self._rules = rules
        self._caller_rules = caller_rules
        self._wanted = Signal()
        self._has_begun = Signal()
        self._starting = Lock()
        # What is told and what is heard are of one moment.
        self._sharing = Lock()
        self._thread: Thread | None = None
        self._is_closing = False
        self._switches: int | None = None
        self._switches_at = -SWITCHES_SECONDS
        self._is_away = False

    @property
    def has_begun(self) -> bool:
        """Was everything read once, as far as it could be?"""
        return self._has_begun.is_set()

    def wait_until_begun(self, seconds: float) -> None:
        """Start, and wait for the first round."""
        with self._starting:
            if self._thread is None:
                self._thread = Thread(target=self._run, name="health", daemon=True)
                self._thread.start()
        self._has_begun.wait(seconds)

    def hurry(self) -> None:
        """Tell the others now."""
        self._wanted.set()

    def close(self) -> None:
        """Tell the others what is left, and end."""
        self._is_closing = True
        self._wanted.set()
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS)
            self._tell_the_rest()

    def claim(self, name: Name, probe: str) -> bool:
        """May this process make the probe? One of all processes may; none where Redis is away."""
        with self._sharing:
            events = self._status.take_events(name)
            try:
                circuit = self._update(name, [*events, Claim(probe)])
            except _AWAY:
                self._status.put_back(name, events)
                return False
            self._status.hear_circuit(name, circuit)
        return circuit.probe == probe

    # --- The thread -------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._is_closing:
            try:
                with self._sharing:
                    self._share()
                self._read_switches()
            except Exception:
                log.exception("health.not_shared")
            self._has_begun.set()
            time.sleep(PAUSE_SECONDS)
            self._wanted.wait(ROUND_SECONDS - PAUSE_SECONDS)
            self._wanted.clear()

    def _tell_the_rest(self) -> None:
        try:
            self._tell_circuits()
            self._tell_rests()
            self._tell_callers()
        except _AWAY:
            log.warning("health.not_told")

    def _share(self) -> None:
        try:
            self._tell_circuits()
            self._tell_rests()
            news = self._store.read(self._status.now())
            self._hear(news)
            # What the others have told may prove what has failed here.
            self._tell_callers()
        except _AWAY as error:
            if not self._is_away:
                log.warning("health.redis_away", error=type(error).__name__)
            self._is_away = True
            return
        self._is_away = False

    def _hear(self, news: News) -> None:
        self._status.hear_clock(news.now)
        self._status.hear(news.circuits)
        self._status.hear_callers(news.refused, are_rows=news.are_rows)
        self._rests.replace(news.rests.items())
        if news.switches != self._switches:
            self._switches, self._switches_at = news.switches, -SWITCHES_SECONDS

    def _tell_circuits(self) -> None:
        pending = self._status.take_pending()
        for name, events in list(pending.events.items()):
            try:
                self._update(name, events)
            except _AWAY:
                for each, left in pending.events.items():
                    self._status.put_back(each, left)
                raise
            del pending.events[name]
        if pending.statistics:
            self._store.add_statistics(pending.statistics)
        if pending.failures:
            self._store.add_failures(pending.failures)

    def _tell_rests(self) -> None:
        changes = self._rests.take_changes()
        if not changes:
            return
        try:
            self._store.set_rests(changes)
        except _AWAY:
            self._rests.put_back(changes)
            raise

    def _tell_callers(self) -> None:
        share = self._status.take_share()
        if share.is_empty:
            return
        try:
            self._store.publish_callers(share, self._status.now(), self._caller_rules())
        except _AWAY:
            self._status.put_back_share(share)
            raise

    def _update(self, name: Name, events: list[Event]) -> Circuit:
        before, after = self._store.update(name, events, self._status.now(), self._rules())
        names = {"provider": name.provider, "model": name.model}
        if after.open_since and not before.open_since:
            log.error("provider.circuit_opened", cause=after.cause, **names)
        elif before.open_since and not after.open_since:
            seconds = round(self._status.now() - before.open_since, 1)
            log.info("provider.circuit_closed", seconds=seconds, **names)
        return after

    def _read_switches(self) -> None:
        if time.monotonic() - self._switches_at < SWITCHES_SECONDS:
            return
        self._switches_at = time.monotonic()
        try:
            providers, models = read_switches()
        except DatabaseError:
            log.warning("health.switches_not_read")
            return
        finally:
            connection.close()
        self._status.switches = Switches(
            frozenset(providers), frozenset(Name(*each) for each in models)
        )
