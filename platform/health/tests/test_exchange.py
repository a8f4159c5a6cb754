"""Boards of two processes, shared through a real Redis."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest
from msgspec.structs import replace
from pytest_django import Settings

from health import board as boards
from health.board import Board, FailureNote, Name
from health.circuit import CLOSED, Answered, Claim, Release, Rules
from health.exchange import Exchange
from health.statistics import fields_of
from health.store import Store
from providers.keys import KeyRests, keys_of
from tests.own_redis import OwnRedis

RULES = Rules(window=60.0, min_calls=4, share=0.5, open_seconds=0.2, probe_seconds=1.0)
NAME = Name("openai", "org/model")
ALICE, BOB = 1, 2


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnRedis]:
    redis = OwnRedis(Path(tmp_path_factory.mktemp("redis")))
    yield redis
    redis.stop()


class Process:
    """The board and the rests of one process."""

    def __init__(self) -> None:
        self.board = Board(lambda: RULES)
        self.rests = KeyRests()
        self.exchange = Exchange(self.board, Store(), self.rests, lambda: RULES)

    def share(self) -> None:
        self.exchange._share()

    def fail(self, *callers: int) -> None:
        for caller in callers:
            self.board.count(NAME, caller, failed=True, ours=False)

    @property
    def is_closed(self) -> bool:
        return not self.board.circuit(NAME).open_until


@pytest.fixture
def processes(redis: OwnRedis, settings: Settings) -> list[Process]:
    settings.REDIS_URL = redis.url
    Store()._redis.flushdb()
    processes = [Process(), Process()]
    for process in processes:
        process.share()
    return processes


def test_what_one_process_sees_alone_opens_its_circuit_at_once(processes: list[Process]) -> None:
    here, there = processes
    here.fail(ALICE, BOB, ALICE, BOB)
    assert (here.is_closed, there.is_closed) == (False, True)
    here.share()
    there.share()
    assert not there.is_closed


def test_counts_of_all_processes_add_up(processes: list[Process]) -> None:
    here, there = processes
    here.fail(ALICE, ALICE)
    there.fail(BOB, BOB)
    for process in (here, there, here):
        process.share()
    assert (here.is_closed, there.is_closed) == (False, False)


def test_calls_that_are_served_elsewhere_keep_a_circuit_closed(processes: list[Process]) -> None:
    here, there = processes
    for _ in range(9):
        there.board.count(NAME, BOB, failed=False, ours=False)
    there.share()
    here.share()
    here.fail(ALICE, BOB, ALICE, BOB)
    assert here.is_closed


def test_one_of_many_claims_is_granted(processes: list[Process]) -> None:
    here, there = processes
    here.fail(ALICE, BOB, ALICE, BOB)
    here.share()
    there.share()
    while here.board.circuit(NAME).wait(here.board.now()):
        pass
    probes = [uuid4().hex for _ in range(20)]

    def claim(index: int) -> bool:
        return processes[index % 2].exchange.claim(NAME, probes[index])

    with ThreadPoolExecutor(20) as threads:
        granted = list(threads.map(claim, range(20)))
    assert granted.count(True) == 1


def test_only_one_call_of_a_process_asks_for_the_probe(processes: list[Process]) -> None:
    here, _ = processes
    here.fail(ALICE, BOB, ALICE, BOB)
    here.share()
    assert not here.board.begin_probe(NAME, "early")
    while here.board.circuit(NAME).wait(here.board.now()):
        pass
    assert [here.board.begin_probe(NAME, each) for each in "ab"] == [True, False]
    here.share()
    assert not here.board.begin_probe(NAME, "c"), "not forgotten with the news of others"
    here.board.end_probe("a")


def test_a_probe_that_runs_is_renewed(processes: list[Process]) -> None:
    here, there = processes
    here.fail(ALICE, BOB, ALICE, BOB)
    here.share()
    while here.board.circuit(NAME).wait(here.board.now()):
        pass
    assert here.board.begin_probe(NAME, "a")
    assert here.exchange.claim(NAME, "a")
    first = here.board.circuit(NAME).probe_until
    here.share()
    assert here.board.circuit(NAME).probe_until > first
    here.board.take(NAME, Answered("a"))
    here.board.end_probe("a")
    here.share()
    there.share()
    assert there.board.circuit(NAME) == CLOSED


def test_a_call_that_takes_long_is_not_the_only_probe_of_its_process() -> None:
    rules = replace(RULES, open_seconds=0.0, probe_seconds=0.0, longest_probe=0.0)
    board = Board(lambda: rules)
    for caller in (ALICE, BOB, ALICE, BOB):
        board.count(NAME, caller, failed=True, ours=False)
    assert [board.begin_probe(NAME, each) for each in "ab"] == [True, True]
    board.take(NAME, Answered("a"))
    assert board.circuit(NAME) == CLOSED


def test_a_probe_that_has_just_ended_makes_room_for_the_next(processes: list[Process]) -> None:
    """Before the others were told that it has."""
    here, there = processes
    here.fail(ALICE, BOB, ALICE, BOB)
    here.share()
    while here.board.circuit(NAME).wait(here.board.now()):
        pass
    assert here.board.begin_probe(NAME, "a")
    assert here.exchange.claim(NAME, "a")
    here.board.take(NAME, Release("a"))
    here.board.end_probe("a")
    assert here.board.begin_probe(NAME, "b")
    assert here.exchange.claim(NAME, "b")
    there.share()
    assert there.board.circuit(NAME).probe == "b"


def test_without_redis_every_circuit_counts_as_closed(
    processes: list[Process], redis: OwnRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _ = processes
    here.fail(ALICE, BOB, ALICE, BOB)
    assert not here.is_closed
    with redis.dead():
        here.share()
        monkeypatch.setattr(boards, "STALE_SECONDS", 0.0)
        assert here.is_closed
        here.fail(ALICE, BOB, ALICE, BOB)
        assert here.is_closed
        assert here.exchange.claim(NAME, "a"), "nobody waits for what is away"
    monkeypatch.undo()
    here.share()


def test_what_happened_while_redis_was_away_is_told_later(
    processes: list[Process], redis: OwnRedis
) -> None:
    here, there = processes
    [key] = keys_of("openai", ["a"])
    with redis.dead():
        here.fail(ALICE, BOB, ALICE, BOB)
        here.rests.rest(key, "key")
        here.share()
    here.share()
    there.share()
    assert not there.is_closed
    assert there.rests.rest_of(key)


def test_a_process_keeps_little_while_redis_is_away(
    processes: list[Process], redis: OwnRedis
) -> None:
    here, _ = processes
    with redis.dead():
        for number in range(1000):
            here.fail(number)
            here.board.take(NAME, Claim(str(number)))
            note = FailureNote(0.0, str(number), NAME.model, "connect")
            here.board.note_failure(NAME.provider, note)
            here.board.add_statistics(NAME, fields_of("connect", is_failure=True))
        here.share()
        pending = here.board.take_pending()
    assert len(pending.events[NAME]) <= boards.MAX_EVENTS
    assert not pending.statistics


def test_what_another_release_has_written_counts_as_nothing(processes: list[Process]) -> None:
    here, _ = processes
    Store()._redis.hset("health:circuits", mapping={"/".join(NAME): b"\xc1"})
    Store()._redis.hset("health:keys", mapping={"x": b"\xc1"})
    here.share()
    assert here.is_closed
    here.fail(ALICE, BOB, ALICE, BOB)
    here.share()
    assert not here.is_closed
