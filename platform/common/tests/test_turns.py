"""Requests wait for their turn, in the order in which they came."""

import asyncio
from typing import Any

import pytest

from common.asgi import Message, Receive, Scope, Send
from common.turns import Turns

WHOLE: Message = {"type": "http.request", "body": b"", "more_body": False}
PART: Message = {"type": "http.request", "body": b"a", "more_body": True}
START: Message = {"type": "http.response.start", "status": 200, "headers": []}


class Work:
    """An application that answers when the test says so; `begun` are the requests it has read."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.answers: dict[str, asyncio.Event] = {}
        self.ends: dict[str, asyncio.Event] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = scope["path"]
        while (await receive()).get("more_body"):
            pass
        self.begun.append(name)
        await self.answers[name].wait()
        await send(START)
        await self.ends[name].wait()


class Queue:
    """Requests to an application with two turns."""

    def __init__(self, patience: float = 60.0) -> None:
        self.work = Work()
        self.turns = Turns(self.work, turns=2, patience=patience)
        self.inboxes: dict[str, asyncio.Queue[Message]] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def ask(self, name: str, *messages: Message) -> None:
        """Send a request, whole if nothing else is said."""
        inbox = self.inboxes[name] = asyncio.Queue()
        for message in messages or (WHOLE,):
            inbox.put_nowait(message)
        self.work.answers[name], self.work.ends[name] = asyncio.Event(), asyncio.Event()
        application = self.turns({"type": "http", "path": name}, inbox.get, _take)
        self.tasks[name] = asyncio.create_task(application)
        await settle()

    async def begun(self) -> str:
        await settle()
        return "".join(self.work.begun)


async def _take(message: Message) -> None:
    pass


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.fixture
async def queue() -> Any:
    queue = Queue()
    yield queue
    for task in queue.tasks.values():
        task.cancel()
    await asyncio.gather(*queue.tasks.values(), return_exceptions=True)


async def test_those_beyond_the_turns_wait(queue: Queue) -> None:
    for name in "abcd":
        await queue.ask(name)
    assert await queue.begun() == "ab"


async def test_the_next_one_begins_when_a_response_does(queue: Queue) -> None:
    for name in "abcd":
        await queue.ask(name)
    queue.work.answers["b"].set()
    assert await queue.begun() == "abc"
    queue.work.ends["b"].set()
    assert await queue.begun() == "abc"
    queue.work.answers["a"].set()
    assert await queue.begun() == "abcd"


async def test_who_has_not_sent_all_of_it_takes_no_turn(queue: Queue) -> None:
    for name in "ab":
        await queue.ask(name, PART)
    for name in "cde":
        await queue.ask(name)
    assert await queue.begun() == "cd"
    queue.inboxes["a"].put_nowait(WHOLE)
    queue.work.answers["c"].set()
    queue.work.answers["d"].set()
    assert await queue.begun() == "cdea"


async def test_who_leaves_before_its_turn_takes_none(queue: Queue) -> None:
    for name in "abcd":
        await queue.ask(name)
    queue.tasks["c"].cancel()
    await settle()
    queue.work.answers["a"].set()
    assert await queue.begun() == "abd"


async def test_who_fails_gives_its_turn_back(queue: Queue) -> None:
    for name in "abc":
        await queue.ask(name)
    queue.tasks["a"].cancel()
    assert await queue.begun() == "abc"


async def test_who_hangs_up_in_the_middle_of_a_request_takes_no_turn(queue: Queue) -> None:
    await queue.ask("a", PART, {"type": "http.disconnect"})
    for name in "bcd":
        await queue.ask(name)
    assert await queue.begun() == "abc"


async def test_who_has_waited_for_long_goes_on_all_the_same() -> None:
    queue = Queue(patience=0.05)
    for name in "abc":
        await queue.ask(name)
    assert await queue.begun() == "ab"
    await asyncio.sleep(0.2)
    assert await queue.begun() == "abc"
    for name in "abc":
        queue.work.answers[name].set()
        queue.work.ends[name].set()
    await asyncio.gather(*queue.tasks.values())
    for name in "defg":
        await queue.ask(name)
    assert await queue.begun() == "abcde"
    for task in queue.tasks.values():
        task.cancel()
