"""How long the service needs after each fault, and how much was in flight when it came."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg

from bench.campaign.parts import Part, Parts
from bench.campaign.people import Person
from bench.campaign.stores import LIFE, Stores
from devserver import postgres

_LOOK, _ANSWER_SECONDS = 0.2, 2.0
# A job that waits for longer is not taken by any worker.
_OVERDUE = """
SELECT EXISTS (SELECT FROM jobs_job WHERE status = 'queued'
               AND queued_at < clock_timestamp() - interval '2 seconds')
"""


@dataclass
class Breakage:
    """A fault that has happened. `began_at` is in Unix seconds; `over_at`, on the monotonic clock,
    is when nothing was broken by it any more, so that the service could recover. `in_flight` are
    the calls at providers as it came, `recovery` the seconds to come back, None where it did not
    within the life."""

    kind: str
    began_at: float
    over_at: float = 0.0
    in_flight: int = 0
    recovery: float | None = None


class Watch:
    """Looks at the service again and again, as a client and an operator do: does each web process
    answer from the database, does each worker take messages, and does no job wait that a worker
    could have taken? `breakages` are the faults so far."""

    def __init__(
        self, parts: Parts, person: Person, stores: Stores, breakages: Sequence[Breakage]
    ) -> None:
        looks = [
            *(_asking(url, person) for url in parts.urls),
            *(looking_at_worker(worker, breakages) for worker in parts.workers),
            _looking_at_jobs(stores),
        ]
        self._breakages = breakages
        # By what is looked at: when it began to be looked at, and was well.
        self._well: list[list[float]] = [[] for _ in looks]
        self._is_over = threading.Event()
        self._threads = [
            threading.Thread(target=self._look, args=pair, daemon=True)
            for pair in zip(looks, self._well, strict=True)
        ]

    def __enter__(self) -> "Watch":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def judge(self, journal: Sequence[dict[str, Any]]) -> None:
        """Note what was in flight at each fault, and the time until all was well after it."""
        for each in self._breakages:
            each.in_flight = in_flight(journal, each.began_at)
            each.recovery = recovery(self._well, each.over_at)

    def _look(self, look: Callable[[], bool], well: list[float]) -> None:
        while not self._is_over.wait(_LOOK):
            began_at = time.monotonic()
            with suppress(httpx.HTTPError, psycopg.Error):
                if look():
                    well.append(began_at)


def in_flight(journal: Sequence[dict[str, Any]], at: float) -> int:
    """The calls that providers were carrying out at that time."""
    return sum(
        call["started_at"] <= at and (call["ended_at"] is None or at < call["ended_at"])
        for call in journal
    )


def recovery(well: Sequence[Sequence[float]], since: float) -> float | None:
    """The seconds from a time until everything that is looked at was well once; `well` are the
    times at which each was. None where something never was."""
    first = [next((at for at in times if at >= since), None) for times in well]
    return None if None in first else max(at - since for at in first if at is not None)


def _asking(url: str, person: Person) -> Callable[[], bool]:
    client = httpx.Client(base_url=url, timeout=_ANSWER_SECONDS)
    headers = {"Authorization": f"Bearer {person.token}"}
    return lambda: client.get("/api/billing/balance", headers=headers).status_code < 500


def looking_at_worker(worker: Part, breakages: Sequence[Breakage]) -> Callable[[], bool]:
    """One that has taken messages is not asked for it again, until it is started again, or a fault
    begins or is over."""
    taken: tuple[int, float] | None = None

    def is_well() -> bool:
        nonlocal taken
        now = (worker.starts, max((each.over_at for each in breakages), default=0.0))
        if now != taken and worker.is_ready():
            taken = now
        return now == taken and worker.process.exit_code is None

    return is_well


def _looking_at_jobs(stores: Stores) -> Callable[[], bool]:
    """As a superuser, past what the nemesis cuts. A server that is away is not waited for."""
    url = postgres.url(stores.postgres_port, LIFE)

    def is_well() -> bool:
        with psycopg.connect(url, autocommit=True, connect_timeout=2) as connection:
            row = connection.execute(_OVERDUE).fetchone()
            return row is not None and not row[0]

    return is_well
