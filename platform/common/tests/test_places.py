"""Places are shared fairly, and never more than there are."""

import asyncio
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.errors import ServiceUnavailable
from common.places import LoopPlaces


async def test_no_more_places_are_taken_than_there_are_nor_than_one_owner_may_have() -> None:
    places = LoopPlaces(4, seconds=10, each=2)
    busy: Counter[str] = Counter()

    async def work(owner: str) -> None:
        async with places.acquire(owner):
            busy[owner] += 1
            assert busy[owner] <= 2
            assert busy.total() <= 4
            await asyncio.sleep(0.001)
            busy[owner] -= 1

    await asyncio.gather(*(work(owner) for owner in ["alice", "bob", "charlie"] * 20))

    assert busy.total() == 0


async def test_who_asks_for_many_does_not_keep_others_waiting() -> None:
    places, served = LoopPlaces(2, seconds=10), []

    async def work(owner: str) -> None:
        async with places.acquire(owner):
            served.append(owner)
            await asyncio.sleep(0.001)

    await asyncio.gather(*(work("alice") for _ in range(20)), work("bob"))

    assert served.index("bob") == 1


async def test_who_comes_first_is_served_first() -> None:
    places, served = LoopPlaces(1, seconds=10), []

    async def work(owner: str) -> None:
        async with places.acquire(owner):
            served.append(owner)

    async with places.acquire("dora"):
        waiting = [asyncio.create_task(work(owner)) for owner in ("alice", "bob", "charlie")]
        await asyncio.sleep(0)
    await asyncio.gather(*waiting)

    assert served == ["alice", "bob", "charlie"]


async def test_nobody_waits_without_end() -> None:
    places = LoopPlaces(1, seconds=0.01)
    async with places.acquire("alice"):
        with pytest.raises(ServiceUnavailable):
            async with places.acquire("bob"):
                pytest.fail("There is one place.")
    async with places.acquire("bob"):
        pass


async def test_a_failure_within_is_no_wait_that_took_too_long() -> None:
    places = LoopPlaces(1, seconds=10)
    with pytest.raises(TimeoutError):
        async with places.acquire("alice"):
            raise TimeoutError
    async with places.acquire("alice"):
        pass


@given(st.lists(st.tuples(st.sampled_from(["alice", "bob"]), st.integers(0, 9)), max_size=20))
def test_whoever_goes_away_at_whatever_moment_leaves_no_place_taken(
    asked: list[tuple[str, int]],
) -> None:
    asyncio.run(leave(asked))


async def leave(asked: list[tuple[str, int]]) -> None:
    """Each of these owners asks for a place, and is cancelled after so many steps of the loop."""
    places = LoopPlaces(3, seconds=10, each=2)

    async def work(owner: str) -> None:
        async with places.acquire(owner):
            await asyncio.sleep(0)

    tasks = [asyncio.create_task(work(owner)) for owner, _ in asked]
    for step in range(10):
        for task, (_, steps) in zip(tasks, asked, strict=True):
            if steps == step:
                task.cancel()
        await asyncio.sleep(0)
    await asyncio.gather(*tasks, return_exceptions=True)

    async with places.acquire("alice"), places.acquire("alice"), places.acquire("bob"):
        pass
