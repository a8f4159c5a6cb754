"""Who gets the next turn, against the rule written down in the simplest way; and what it costs."""

import asyncio
import time
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from server.fair_queue import FairQueue

NAMES = "abc"
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.sampled_from(NAMES)),
        st.tuples(st.just("leave"), st.integers(min_value=0)),
        st.tuples(st.just("end"), st.integers(min_value=0)),
    ),
    max_size=60,
)


async def settle() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


class Rule:
    """So many turns at a time, so many of one name. The next goes, among the names that have fewer,
    to the name that has had the fewest, then to the earliest."""

    def __init__(self, turns: int, each: int) -> None:
        self.turns, self.each = turns, each
        self.waiting: list[tuple[int, str]] = []
        self.had: Counter[str] = Counter()
        self.working: list[tuple[int, str]] = []

    def ask(self, number: int, name: str) -> None:
        self.waiting.append((number, name))
        self.begin()

    def end(self, working: tuple[int, str]) -> None:
        self.working.remove(working)
        self.begin()

    def begin(self) -> None:
        having = Counter(name for _, name in self.working)
        may = [each for each in self.waiting if having[each[1]] < self.each]
        if may and len(self.working) < self.turns:
            following = min(may, key=lambda each: (self.had[each[1]], each[0]))
            self.waiting.remove(following)
            self.had[following[1]] += 1
            self.working.append(following)


@given(STEPS, st.sampled_from([(1, 1), (3, 1), (3, 2), (4, 4)]))
def test_the_next_turn_goes_to_the_name_with_the_fewest_then_to_the_earliest(
    steps: list[tuple[str, object]], turns: tuple[int, int]
) -> None:
    asyncio.run(compare(steps, *turns))


async def compare(steps: list[tuple[str, object]], turns: int, each: int) -> None:
    queue, rule = FairQueue(turns, each=each), Rule(turns, each)
    begun: list[int] = []
    tasks: dict[int, asyncio.Task[None]] = {}

    async def ask(number: int, name: str) -> None:
        await queue.acquire(name)
        begun.append(number)

    for number, (act, value) in enumerate(steps):
        if act == "ask":
            tasks[number] = asyncio.create_task(ask(number, str(value)))
            await settle()
            rule.ask(number, str(value))
        elif act == "leave" and rule.waiting and isinstance(value, int):
            left = rule.waiting.pop(value % len(rule.waiting))
            tasks[left[0]].cancel()
            if value % 2:
                continue  # the next step comes before the queue can see it
        elif act == "end" and rule.working and isinstance(value, int):
            ended = rule.working[value % len(rule.working)]
            queue.release(ended[1])
            rule.end(ended)
        await settle()
        assert {working for working, _ in rule.working} <= set(begun)
        assert len(begun) == rule.had.total()
        assert queue.length == len(rule.waiting)
        for name in NAMES:
            assert queue.waiting(name) == sum(each[1] == name for each in rule.waiting)
    for task in tasks.values():
        task.cancel()
    await asyncio.gather(*tasks.values(), return_exceptions=True)


async def seconds_for_turns(waiting: int) -> float:
    """For 200 of them, while so many wait, half of one name and half of names of their own."""
    queue = FairQueue(1)
    names = [str(number) if number % 2 else "many" for number in range(waiting)]
    tasks = [asyncio.create_task(queue.acquire(name)) for name in ["first", *names]]
    await settle()
    began = time.process_time()
    # Names of their own come first, in turn, after the first of the one that has many.
    for name in ["first", "many", *names[1::2][:198]]:
        queue.release(name)
    took = time.process_time() - began
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return took


async def test_a_turn_costs_about_the_same_however_many_wait() -> None:
    few = min([await seconds_for_turns(400) for _ in range(3)])
    many = min([await seconds_for_turns(8_000) for _ in range(3)])
    assert many < 5 * few
