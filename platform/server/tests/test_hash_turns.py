"""Who gets the next turn to have a password hashed, and in which lane; and whose place is given to
others."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.errors import ServiceUnavailable, TooManyRequests
from server import hash_turns
from server.hash_turns import MAX_OF_ADDRESS, MAX_WAITING, Attempt, HashTurns, Lane

GUESSERS = [f"198.51.100.{number}" for number in range(60)]
HOME = "192.0.2.1"


class Line:
    """Attempts at one turn in each lane; the test ends them."""

    def __init__(self) -> None:
        self.turns = HashTurns(1)
        self.begun: list[tuple[Attempt, Lane]] = []
        self.tasks: dict[int, asyncio.Task[None]] = {}
        self.running: list[tuple[Attempt, Lane]] = []

    async def ask(self, attempt: Attempt) -> int:
        number = len(self.tasks)
        self.tasks[number] = asyncio.create_task(self._wait(attempt))
        await settle()
        return number

    async def _wait(self, attempt: Attempt) -> None:
        lane = await self.turns.acquire(attempt)
        self.begun.append((attempt, lane))
        self.running.append((attempt, lane))

    async def end(self, lane: Lane, *, was_right: bool | None = False) -> None:
        """The turn that runs in the lane."""
        [running] = [each for each in self.running if each[1] is lane]
        self.running.remove(running)
        self.turns.release(*running, was_right=was_right)
        await settle()

    async def end_all_of(self, lane: Lane) -> None:
        while any(each is lane for _, each in self.running):
            await self.end(lane)

    def lane_of(self, attempt: Attempt) -> Lane | None:
        return next((lane for begun, lane in self.begun if begun is attempt), None)


async def settle() -> None:
    for _ in range(4):
        await asyncio.sleep(0)


@pytest.fixture
async def line() -> AsyncIterator[Line]:
    line = Line()
    yield line
    for task in line.tasks.values():
        task.cancel()
    await asyncio.gather(*line.tasks.values(), return_exceptions=True)


async def flood(line: Line, each: int, *, account: str = "") -> None:
    """Guesses from all addresses, `each` of one, at accounts of their own or at this one."""
    for number in range(each):
        for address in GUESSERS:
            await line.ask(Attempt(address, account or f"{address}-{number}"))


@pytest.mark.parametrize("account", ["", "bob"])
async def test_a_newcomer_waits_for_no_guess_of_sixty_addresses(line: Line, account: str) -> None:
    await flood(line, each=3, account=account)
    await line.end_all_of(Lane.FIRST)
    honest = Attempt(HOME, "alice")
    await line.ask(honest)
    assert line.lane_of(honest) is Lane.FIRST
    assert line.turns.length > 100


async def test_who_signs_in_often_is_no_guesser(line: Line) -> None:
    honest = Attempt(HOME, "alice", is_known=True)
    for _ in range(40):
        await line.ask(honest)
        await line.end(Lane.FIRST, was_right=True)
    for address in GUESSERS:
        await line.ask(Attempt(address, address))
    again = Attempt(HOME, "alice", is_known=True)
    await line.ask(again)
    await line.end(Lane.FIRST)
    assert line.begun[-1] == (again, Lane.FIRST)


async def test_sixty_addresses_with_one_guess_each_delay_no_known_client(line: Line) -> None:
    for address in GUESSERS:
        await line.ask(Attempt(address, address))
    known, stranger = Attempt(HOME, "alice", is_known=True), Attempt(HOME, "bob")
    await line.ask(stranger)
    await line.ask(known)
    await line.end(Lane.FIRST)
    assert line.begun[-1][0] is known


async def test_an_address_that_has_failed_is_in_the_last_lane(line: Line) -> None:
    for _ in range(2):
        await line.ask(Attempt(HOME, "alice"))
        await line.end(line.running[0][1])
    assert [lane for _, lane in line.begun] == [Lane.FIRST, Lane.LAST]


async def test_a_request_that_says_nothing_of_a_password_counts_for_nobody(line: Line) -> None:
    for _ in range(2):
        await line.ask(Attempt(HOME, "alice"))
        await line.end(Lane.FIRST, was_right=None)
    assert [lane for _, lane in line.begun] == [Lane.FIRST, Lane.FIRST]


async def test_addresses_take_turns_and_of_an_address_its_accounts(line: Line) -> None:
    """A colleague behind the address of somebody who guesses at one account."""
    await line.ask(Attempt(HOME, "bob"))
    for _ in range(6):
        await line.ask(Attempt(HOME, "bob"))
    colleague = Attempt(HOME, "alice")
    await line.ask(colleague)
    other = Attempt("192.0.2.2", "charlie")
    await line.ask(other)
    await line.end_all_of(Lane.FIRST)
    assert line.lane_of(other) is Lane.FIRST
    await line.end(Lane.LAST)
    assert line.begun[-1][0] is colleague


async def test_guesses_at_one_account_from_many_addresses_count_together(line: Line) -> None:
    for address in GUESSERS:
        await line.ask(Attempt(address, "alice"))
    assert len([each for each in line.begun if each[1] is Lane.FIRST]) == 1
    owner = Attempt(HOME, "alice", is_known=True)
    await line.ask(owner)
    await line.end_all_of(Lane.FIRST)
    assert line.lane_of(owner) is Lane.FIRST


async def test_what_counts_is_forgotten_after_a_while(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    await line.ask(Attempt(HOME, "alice"))
    await line.end(Lane.FIRST)
    monkeypatch.setattr(hash_turns, "COUNTED_SECONDS", 0.01)
    await asyncio.sleep(0.05)
    await line.ask(Attempt(HOME, "alice"))
    assert line.begun[-1][1] is Lane.FIRST


async def test_one_address_has_so_many_attempts_waiting_and_no_more(line: Line) -> None:
    for number in range(len(Lane) + MAX_OF_ADDRESS):
        await line.ask(Attempt(HOME, str(number)))
    refused = await line.ask(Attempt(HOME, "refused"))
    with pytest.raises(TooManyRequests) as refusal:
        await line.tasks[refused]
    assert refusal.value.retry_after
    other = await line.ask(Attempt("192.0.2.2", "alice"))
    assert not line.tasks[other].done()


async def test_a_full_line_refuses_those_who_fill_it_and_no_newcomer(line: Line) -> None:
    await flood(line, each=5)
    assert line.turns.length == MAX_WAITING
    refused = [task for task in line.tasks.values() if task.done() and task.exception()]
    assert refused
    assert {type(task.exception()) for task in refused} == {TooManyRequests}
    for number in range(30):
        honest = await line.ask(Attempt(f"192.0.2.{number}", f"honest-{number}"))
        assert not line.tasks[honest].done() or not line.tasks[honest].exception()
    assert line.turns.length == MAX_WAITING


async def test_who_alone_comes_to_a_full_line_of_others_like_them_is_told_to_come_again(
    line: Line,
) -> None:
    for number in range(MAX_WAITING + 1):
        await line.ask(Attempt(f"2001:db8:{number:x}::/64", str(number)))
    last = await line.ask(Attempt(HOME, "alice"))
    with pytest.raises(ServiceUnavailable) as refusal:
        await line.tasks[last]
    assert refusal.value.retry_after


async def test_who_leaves_takes_no_turn(line: Line) -> None:
    await line.ask(Attempt(HOME, "alice"))
    leaving = await line.ask(Attempt("192.0.2.2", "bob"))
    line.tasks[leaving].cancel()
    await settle()
    assert line.turns.length == 0
    await line.end(Lane.FIRST)
    assert len(line.begun) == 1


async def test_a_turn_that_is_granted_to_one_who_leaves_goes_to_the_next(line: Line) -> None:
    await line.ask(Attempt(HOME, "alice"))
    leaving = await line.ask(Attempt("192.0.2.2", "bob"))
    await line.ask(Attempt("192.0.2.3", "charlie"))
    attempt, lane = line.running.pop()
    line.turns.release(attempt, lane, was_right=True)
    line.tasks[leaving].cancel()
    await settle()
    assert line.begun[-1][0].account == "charlie"


ATTEMPTS = st.builds(
    Attempt,
    address=st.sampled_from(["a", "b", "c"]),
    account=st.sampled_from(["", "x", "y"]),
    is_known=st.booleans(),
)
STEPS = st.lists(
    st.one_of(
        ATTEMPTS,
        st.tuples(st.just("leave"), st.integers(0, 100)),
        st.tuples(st.sampled_from(list(Lane)), st.sampled_from([True, False, None])),
    ),
    max_size=60,
)


@given(STEPS)
def test_no_turn_is_lost_and_none_is_given_twice(
    steps: list[Attempt | tuple[Any, Any]],
) -> None:
    """Whoever comes, leaves and fails: each lane has one turn at most, nobody waits for a lane that
    is free, and in the end nothing is left."""

    async def run() -> None:
        line = Line()
        for step in steps:
            if isinstance(step, Attempt):
                await line.ask(step)
            elif step[0] == "leave" and line.tasks:
                line.tasks[step[1] % len(line.tasks)].cancel()
                await settle()
            elif any(lane is step[0] for _, lane in line.running):
                await line.end(step[0], was_right=step[1])
            lanes = [lane for _, lane in line.running]
            assert len(set(lanes)) == len(lanes)
            if not lanes:
                assert line.turns.length == 0
        while line.running:
            await line.end(line.running[0][1])
        assert line.turns.length == 0
        assert not +line.turns._lines
        assert all(task.done() for task in line.tasks.values())
        await asyncio.gather(*line.tasks.values(), return_exceptions=True)

    asyncio.run(run())
