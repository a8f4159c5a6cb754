"""Who gets the next turn, against the rule written down in the simplest way; and what it costs."""

import asyncio
import time
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from common.fairqueue import FairQueue

NAMES = "abc"
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("ask"), st.sampled_from(NAMES)),
        st.tuples(st.just("leave"), st.integers(min_value=0)),
        st.tuples(st.just("end"), st.none()),
    ),
    max_size=60,
)


async def settle() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


class Rule:
    """One turn at a time. The next goes to the name with the fewest turns, then to the earliest."""

    def __init__(self) -> None:
        self.waiting: list[tuple[int, str]] = []
        self.had: Counter[str] = Counter()
        self.working: int | None = None

    def ask(self, number: int, name: str) -> None:
        self.waiting.append((number, name))
        if self.working is None:
            self.begin()

    def begin(self) -> None:
        self.working = None
        if self.waiting:
            following = min(self.waiting, key=lambda each: (self.had[each[1]], each[0]))
            self.waiting.remove(following)
            self.had[following[1]] += 1
            self.working = following[0]


@given(STEPS)
def test_the_next_turn_goes_to_the_name_with_the_fewest_then_to_the_earliest(
    steps: list[tuple[str, object]],
) -> None:
    asyncio.run(compare(steps))


async def compare(steps: list[tuple[str, object]]) -> None:
    queue, rule = FairQueue(1), Rule()
    begun: list[int] = []
    tasks: dict[int, asyncio.Task[None]] = {}

    async def ask(number: int, name: str) -> None:
        await queue.take(name)
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
        elif act == "end" and rule.working is not None:
            queue.give_back()
            rule.begin()
        await settle()
        if rule.working is not None:
            assert begun[-1] == rule.working
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
    tasks = [asyncio.create_task(queue.take(name)) for name in ["first", *names]]
    await settle()
    began = time.process_time()
    for _ in range(200):
        queue.give_back()
    took = time.process_time() - began
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return took


async def test_a_turn_costs_about_the_same_however_many_wait() -> None:
    few = min([await seconds_for_turns(400) for _ in range(3)])
    many = min([await seconds_for_turns(8_000) for _ in range(3)])
    assert many < 5 * few
