"""Requests wait for their turn, fairly among addresses, in the order in which they came."""

import asyncio
from typing import Any

import pytest

from common.errors import ServiceUnavailable, TooManyRequests
from server.asgi import Message, Receive, Scope, Send
from server.request_queue import MAX_WAITING, MAX_WAITING_OF_ADDRESS, RequestQueue

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

    def __init__(self, timeout: float = 60.0, each: int | None = None) -> None:
        self.work = Work()
        self.turns = RequestQueue(self.work, turns=2, each=each, timeout=timeout)
        self.inboxes: dict[str, asyncio.Queue[Message]] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def ask(self, name: str, *messages: Message, client: str = "192.0.2.1") -> None:
        """Send a request, whole if nothing else is said."""
        inbox = self.inboxes[name] = asyncio.Queue()
        for message in messages or (WHOLE,):
            inbox.put_nowait(message)
        self.work.answers[name], self.work.ends[name] = asyncio.Event(), asyncio.Event()
        scope = {"type": "http", "path": name, "headers": [], "client": (client, 1)}
        application = self.turns(scope, inbox.get, _take)
        self.tasks[name] = asyncio.create_task(application)
        await settle()

    async def end(self) -> None:
        for task in self.tasks.values():
            task.cancel()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)

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
    await queue.end()


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


async def test_an_incomplete_request_takes_no_turn(queue: Queue) -> None:
    for name in "ab":
        await queue.ask(name, PART)
    for name in "cde":
        await queue.ask(name)
    assert await queue.begun() == "cd"
    queue.inboxes["a"].put_nowait(WHOLE)
    queue.work.answers["c"].set()
    queue.work.answers["d"].set()
    assert await queue.begun() == "cdea"


async def test_a_request_that_is_cancelled_before_its_turn_takes_none(queue: Queue) -> None:
    for name in "abcd":
        await queue.ask(name)
    queue.tasks["c"].cancel()
    await settle()
    queue.work.answers["a"].set()
    assert await queue.begun() == "abd"


async def test_a_failed_request_releases_its_turn(queue: Queue) -> None:
    for name in "abc":
        await queue.ask(name)
    queue.tasks["a"].cancel()
    assert await queue.begun() == "abc"


async def test_a_client_that_hangs_up_in_the_middle_of_a_request_takes_no_turn(
    queue: Queue,
) -> None:
    await queue.ask("a", PART, {"type": "http.disconnect"})
    for name in "bcd":
        await queue.ask(name)
    assert await queue.begun() == "abc"


async def test_a_request_that_has_waited_too_long_proceeds_without_a_turn() -> None:
    queue = Queue(timeout=0.05)
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


async def test_a_client_with_fewer_turns_goes_before_one_with_more(queue: Queue) -> None:
    """However many of them wait."""
    for name in "abcde":
        await queue.ask(name, client="192.0.2.2")
    await queue.ask("z", client="192.0.2.3")
    queue.work.answers["a"].set()
    assert await queue.begun() == "abz"
    queue.work.answers["b"].set()
    assert await queue.begun() == "abzc"


async def test_one_address_does_not_take_all_turns() -> None:
    queue = Queue(each=1)
    for name in "abc":
        await queue.ask(name)
    assert await queue.begun() == "a"
    for name in "xy":
        await queue.ask(name, client="192.0.2.3")
    assert await queue.begun() == "ax"
    queue.work.answers["a"].set()
    assert await queue.begun() == "axb"
    await queue.end()


async def test_many_addresses_do_not_keep_a_new_one_waiting(queue: Queue) -> None:
    for number in range(60):
        for turn in range(2):
            await queue.ask(f"{number}-{turn}", client=f"198.51.100.{number}")
    for number in range(60):
        queue.work.answers[f"{number}-0"].set()
    while len(queue.work.begun) < 62:
        await settle()
    await queue.ask("honest", client="192.0.2.3")
    queue.work.answers[queue.work.begun[-1]].set()
    await settle()
    assert queue.work.begun[-1] == "honest"


async def test_one_address_has_so_many_requests_waiting_and_no_more(queue: Queue) -> None:
    for number in range(2 + MAX_WAITING_OF_ADDRESS):
        await queue.ask(str(number))
    await queue.ask("refused")
    with pytest.raises(TooManyRequests) as refusal:
        await queue.tasks["refused"]
    assert refusal.value.retry_after
    await queue.ask("other", client="192.0.2.3")
    assert not queue.tasks["other"].done()


async def test_so_many_requests_wait_in_all_and_no_more(queue: Queue) -> None:
    for number in range(2 + MAX_WAITING):
        await queue.ask(str(number), client=f"2001:db8:{number:x}::1")
    await queue.ask("refused", client="192.0.2.3")
    with pytest.raises(ServiceUnavailable) as refusal:
        await queue.tasks["refused"]
    assert refusal.value.retry_after
    queue.work.answers["0"].set()
    await settle()
    await queue.ask("next", client="192.0.2.3")
    assert not queue.tasks["next"].done()
