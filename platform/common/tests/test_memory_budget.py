"""A budget of bytes is never exceeded, and served in the order of asking."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from common.memory_budget import WaitingMemoryBudget


async def test_no_more_than_the_budget_is_held_at_once() -> None:
    budget, held, most = WaitingMemoryBudget(100), 0, 0

    async def take(size: int) -> None:
        nonlocal held, most
        async with budget.take(size, seconds=10):
            held += size
            most = max(most, held)
            await asyncio.sleep(0.001)
            held -= size

    await asyncio.gather(*(take(size) for size in [60, 50, 40, 10, 100, 1, 99] * 5))

    assert (held, most) == (0, 100)


async def test_a_large_taker_is_not_overtaken_by_small_ones() -> None:
    budget, served = WaitingMemoryBudget(100), []

    async def take(size: int) -> None:
        async with budget.take(size, seconds=10):
            served.append(size)

    async with budget.take(60, seconds=1):
        waiting = [asyncio.create_task(take(size)) for size in (90, 1, 2)]
        await asyncio.sleep(0.01)
        assert served == []
    await asyncio.gather(*waiting)

    assert served == [90, 1, 2]


async def test_more_than_the_budget_waits_for_the_whole_of_it() -> None:
    budget = WaitingMemoryBudget(100)

    async with budget.take(1_000, seconds=1):
        with pytest.raises(TimeoutError):
            async with budget.take(1, seconds=0.01):
                pass

    async with budget.take(100, seconds=1):
        pass


async def test_who_gives_up_waiting_leaves_the_budget_as_it_was() -> None:
    budget = WaitingMemoryBudget(100)
    async with AsyncExitStack() as held:
        await held.enter_async_context(budget.take(60, seconds=1))
        with pytest.raises(TimeoutError):
            await held.enter_async_context(budget.take(50, seconds=0.01))
        await held.enter_async_context(budget.take(40, seconds=1))
