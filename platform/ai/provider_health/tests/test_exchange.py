"""Boards of two processes, shared through a real Redis."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from pytest_django import Settings

from ai.provider_health import status_cache
from ai.provider_health.callers import Caller, CallerRules
from ai.provider_health.circuit import Answered, Circuit, Claim, Failed, Rules
from ai.provider_health.exchange import Exchange
from ai.provider_health.name import Name
from ai.provider_health.statistics import fields_of
from ai.provider_health.status_cache import FailureNote, StatusCache
from ai.provider_health.store import _CIRCUITS, Store
from ai.providers.keys import KeyRests, keys_of
from tests.own_redis import OwnRedis

RULES = Rules(window=60.0, failures=4, faults=1, pause=0.2, probe_seconds=1.0, open_seconds=30.0)
CALLERS = CallerRules(in_a_row=3, pause=5.0, window=600.0, quota=100, free_quota=2)
NAME = Name("openai", "org/model")
ALICE, BOB = Caller(UUID(int=1)), Caller(UUID(int=2))
NETWORK = "192.0.2.0/24"
# The clocks of two processes may differ by the time that Redis takes to tell it.
SKEW = 0.05
CHARLIE, DORA = Caller(UUID(int=3), NETWORK), Caller(UUID(int=4), NETWORK)


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnRedis]:
    redis = OwnRedis(Path(tmp_path_factory.mktemp("redis")))
    yield redis
    redis.stop()


class Process:
    """The status cache and the rests of one process."""

    def __init__(self) -> None:
        self.status = StatusCache(lambda: RULES, lambda: CALLERS)
        self.rests = KeyRests()
        self.exchange = Exchange(self.status, Store(), self.rests, lambda: RULES, lambda: CALLERS)

    def share(self) -> None:
        self.exchange._share()

    def suspect(self, times: int) -> None:
        for _ in range(times):
            self.status.suspect(NAME)

    def fail(self, *callers: Caller) -> None:
        for caller in callers:
            self.status.failed(NAME, caller)

    def fault(self) -> None:
        self.status.fault(NAME, "connect", begun_at=self.status.now() + 2 * SKEW)

    def serve(self, caller: Caller) -> None:
        """A call that began after all that has been told."""
        self.status.served(NAME, caller, begun_at=self.status.now() + SKEW)

    @property
    def circuit(self) -> Circuit:
        return self.status.circuit(NAME)

    @property
    def is_closed(self) -> bool:
        return not self.status.is_open(NAME)

    @property
    def is_due(self) -> bool:
        return self.status.due() == [NAME]


@pytest.fixture
def processes(redis: OwnRedis, settings: Settings) -> list[Process]:
    settings.REDIS_URL = redis.url
    Store()._redis.flushdb()
    processes = [Process(), Process()]
    for process in processes:
        process.share()
    return processes


def share(*processes: Process) -> None:
    """What each knows is known to all."""
    for _ in range(2):
        for process in processes:
            process.share()


def test_a_fault_that_one_process_sees_opens_its_circuit_at_once(processes: list[Process]) -> None:
    here, there = processes
    here.fault()
    assert (here.is_closed, there.is_closed) == (False, True)
    share(here, there)
    assert not there.is_closed


def test_a_fault_says_nothing_where_a_later_call_was_served(processes: list[Process]) -> None:
    """A process without a network of its own."""
    here, there = processes
    begun_at = here.status.now()
    there.serve(ALICE)
    share(there, here)
    here.status.fault(NAME, "connect", begun_at=begun_at)
    assert here.is_closed


def test_failures_of_all_processes_add_up_to_a_probe(processes: list[Process]) -> None:
    here, there = processes
    here.suspect(2)
    there.suspect(2)
    assert (here.is_due, there.is_due) == (False, False)
    share(here, there)
    assert (here.is_due, there.is_due) == (True, True)
    assert (here.is_closed, there.is_closed) == (True, True)


def test_one_of_many_claims_is_granted(processes: list[Process]) -> None:
    processes[0].suspect(4)
    share(*processes)
    probes = [uuid4().hex for _ in range(20)]

    def claim(index: int) -> bool:
        return processes[index % 2].exchange.claim(NAME, probes[index])

    with ThreadPoolExecutor(20) as threads:
        granted = list(threads.map(claim, range(20)))
    assert granted.count(True) == 1
    assert [each.is_due for each in processes] == [False, False]


def test_failures_that_are_not_told_yet_count_for_a_claim(processes: list[Process]) -> None:
    here, _ = processes
    here.suspect(4)
    assert here.exchange.claim(NAME, "a")


def test_the_verdict_of_a_probe_is_everybodys(processes: list[Process]) -> None:
    here, there = processes
    here.suspect(4)
    assert here.exchange.claim(NAME, "a")
    here.status.take(NAME, Failed("a", "503"))
    share(here, there)
    assert not there.is_closed
    while not there.is_due:
        pass
    assert there.exchange.claim(NAME, "b")
    there.status.take(NAME, Answered("b", 0.1))
    share(there, here)
    assert here.is_closed


def test_who_is_refused_here_is_refused_everywhere(processes: list[Process]) -> None:
    """It does not help to call another process each time."""
    here, there = processes
    here.fail(ALICE)
    there.fail(ALICE)
    there.serve(BOB)
    share(there, here)
    assert here.status.wait_of(ALICE, NAME) == 0
    here.fail(ALICE)
    share(here, there)
    for process in processes:
        assert 0 < process.status.wait_of(ALICE, NAME) <= CALLERS.pause
        assert process.status.wait_of(BOB, NAME) == 0
    here.fail(ALICE)
    share(here, there)
    assert CALLERS.pause < there.status.wait_of(ALICE, NAME) <= 2 * CALLERS.pause


def test_a_served_call_ends_a_row_that_another_process_has_counted(
    processes: list[Process],
) -> None:
    here, there = processes
    here.fail(ALICE, ALICE)
    there.serve(BOB)
    share(there, here)
    there.serve(ALICE)
    share(there, here)
    here.fail(ALICE, ALICE)
    there.serve(BOB)
    share(there, here)
    assert here.status.wait_of(ALICE, NAME) == 0


def test_a_served_call_ends_a_row_before_the_failures_after_it_are_counted(
    processes: list[Process],
) -> None:
    here, there = processes
    here.fail(ALICE, ALICE)
    there.serve(BOB)
    share(there, here)
    here.serve(ALICE)
    here.fail(ALICE, ALICE)
    there.serve(BOB)
    share(there, here)
    assert here.status.wait_of(ALICE, NAME) == 0


def test_the_quota_of_failed_calls_is_of_all_processes_and_of_a_network(
    processes: list[Process],
) -> None:
    here, there = processes
    here.fail(CHARLIE)
    there.fail(DORA)
    here.fail(ALICE)
    share(here, there)
    assert here.status.wait_of(CHARLIE, NAME) == 0, "nothing is proven"
    there.serve(BOB)
    share(there, here)
    for process in processes:
        assert process.status.wait_of(CHARLIE, NAME) > 0
        assert process.status.wait_of(DORA, NAME) > 0
        assert process.status.wait_of(ALICE, NAME) == 0


def test_an_open_circuit_forgives_what_has_failed(processes: list[Process]) -> None:
    here, there = processes
    here.fail(CHARLIE, DORA, ALICE)
    there.fault()
    share(there, here)
    here.serve(BOB)
    share(here, there)
    assert here.status.wait_of(CHARLIE, NAME) == 0


def test_without_redis_every_circuit_counts_as_closed_and_nobody_probes(
    processes: list[Process], redis: OwnRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _ = processes
    here.fault()
    assert not here.is_closed
    with redis.dead():
        here.share()
        assert not here.exchange.claim(NAME, "a")
        monkeypatch.setattr(status_cache, "STALE_SECONDS", 0.0)
        assert here.is_closed
        here.fault()
        assert here.is_closed
        assert not here.is_due
    monkeypatch.undo()
    here.share()


def test_what_happened_while_redis_was_away_is_told_later(
    processes: list[Process], redis: OwnRedis
) -> None:
    here, there = processes
    [key] = keys_of("openai", ["a"])
    there.fail(ALICE)
    with redis.dead():
        here.serve(BOB)
        here.fail(CHARLIE, DORA)
        here.serve(BOB)
        here.fault()
        here.rests.rest(key, "key")
        here.share()
    share(here, there)
    assert not there.is_closed
    assert there.rests.rest_of(key)
    assert there.status.wait_of(CHARLIE, NAME) == 0, "the open circuit has forgiven them"


def test_a_process_keeps_little_while_redis_is_away(
    processes: list[Process], redis: OwnRedis
) -> None:
    here, _ = processes
    with redis.dead():
        for number in range(1000):
            here.suspect(1)
            here.status.take(NAME, Claim(str(number)))
            note = FailureNote(0.0, str(number), NAME.model, "connect")
            here.status.note_failure(NAME.provider, note)
            here.status.add_statistics(NAME, fields_of("connect", is_failure=True))
        here.share()
        pending = here.status.take_pending()
    assert len(pending.events[NAME]) <= status_cache.MAX_EVENTS
    assert not pending.statistics


def test_what_another_release_has_written_counts_as_nothing(processes: list[Process]) -> None:
    here, _ = processes
    Store()._redis.hset(_CIRCUITS, mapping={"/".join(NAME): b"\xc1"})
    Store()._redis.hset("health:keys", mapping={"x": b"\xc1"})
    here.share()
    assert here.is_closed
    here.fault()
    here.share()
    assert not here.is_closed
