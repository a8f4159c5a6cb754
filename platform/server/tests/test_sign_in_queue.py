"""Requests that have a password hashed wait in front of Django, in the order of hash_turns.py."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from common.errors import ServiceUnavailable
from server.asgi import Message, Receive, Scope, Send
from server.hash_turns import Attempt, Lane
from server.sign_in_queue import MAX_READ_BYTES, SignInQueue, hashing_lane

HOME = "192.0.2.1"


def part(body: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


class Work:
    """An application that answers when the test says so: with the status of `answers`."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, Lane]] = []
        self.answers: dict[str, asyncio.Future[int]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        while True:
            message = await receive()
            body += message["body"]
            if not message["more_body"]:
                break
        name = body.decode()
        self.begun.append((name, hashing_lane.get()))
        status = await self.answers.setdefault(name, asyncio.Future())
        await send({"type": "http.response.start", "status": status, "headers": []})

    async def answer(self, name: str, status: int) -> None:
        self.answers[name].set_result(status)
        await settle()


class Queue:
    """Requests to an application with one turn in each lane. Their bodies are the accounts."""

    def __init__(self, timeout: float = 60.0) -> None:
        self.work = Work()
        self.read: list[bytes] = []
        self.turns = SignInQueue(
            self.work, turns=1, timeout=timeout, read_attempt=self._read_attempt
        )
        self.tasks: list[asyncio.Task[None]] = []

    async def _read_attempt(self, scope: Scope, body: bytes) -> Attempt:
        self.read.append(body)
        return Attempt(scope["client"][0], body.decode())

    async def ask(
        self, *parts: Message, client: str = HOME, path: str = "/api/auth/login"
    ) -> "asyncio.Task[None]":
        inbox: asyncio.Queue[Message] = asyncio.Queue()
        for each in parts:
            inbox.put_nowait(each)
        scope = {"type": "http", "path": path, "headers": [], "client": (client, 1)}

        async def send(message: Message) -> None:
            pass

        task = asyncio.create_task(self.turns(scope, inbox.get, send))
        self.tasks.append(task)
        await settle()
        return task


async def settle() -> None:
    for _ in range(6):
        await asyncio.sleep(0)


@pytest.fixture
async def queue() -> AsyncIterator[Queue]:
    queue = Queue()
    yield queue
    for task in queue.tasks:
        task.cancel()
    await asyncio.gather(*queue.tasks, return_exceptions=True)


async def test_the_next_begins_when_the_answer_to_the_first_does(queue: Queue) -> None:
    await queue.ask(part(b"alice"))
    await queue.ask(part(b"bob"), client="192.0.2.2")
    assert queue.work.begun == [("alice", Lane.FIRST)]
    await queue.work.answer("alice", 200)
    assert queue.work.begun == [("alice", Lane.FIRST), ("bob", Lane.FIRST)]


async def test_an_incomplete_request_takes_no_turn_and_its_pieces_are_one_body(
    queue: Queue,
) -> None:
    await queue.ask(part(b"ali", more=True))
    await queue.ask(part(b"bo", more=True), part(b"b"), client="192.0.2.2")
    assert queue.work.begun == [("bob", Lane.FIRST)]
    assert queue.read == [b"bob"]


async def test_no_more_of_a_body_is_kept_than_is_read(queue: Queue) -> None:
    piece = part(b"x" * 10_000, more=True)
    await queue.ask(*[piece] * 100, part(b""))
    assert [len(body) for body in queue.read] == [MAX_READ_BYTES + 1]


@pytest.mark.parametrize(
    ("path", "status", "lane"),
    [
        ("/api/auth/login", 200, Lane.FIRST),
        ("/api/auth/login", 401, Lane.LAST),
        ("/api/auth/login", 429, Lane.LAST),
        ("/admin/login/", 302, Lane.FIRST),
        ("/admin/login/", 200, Lane.LAST),
    ],
)
async def test_an_address_whose_password_was_wrong_is_hashed_last(
    queue: Queue, path: str, status: int, lane: Lane
) -> None:
    await queue.ask(part(b"alice"), path=path)
    await queue.work.answer("alice", status)
    await queue.ask(part(b"alice again"), path=path)
    assert queue.work.begun[-1] == ("alice again", lane)


async def test_a_request_that_waits_too_long_is_refused(queue: Queue) -> None:
    queue.turns._timeout = 0.05
    await queue.ask(part(b"alice"))
    waiting = await queue.ask(part(b"bob"), client="192.0.2.2")
    with pytest.raises(ServiceUnavailable) as refusal:
        await waiting
    assert refusal.value.retry_after
    await queue.work.answer("alice", 200)
    await queue.ask(part(b"charlie"), client="192.0.2.3")
    assert [name for name, _ in queue.work.begun] == ["alice", "charlie"]


async def test_a_failed_request_gives_its_turn_back(queue: Queue) -> None:
    first = await queue.ask(part(b"alice"))
    await queue.ask(part(b"bob"), client="192.0.2.2")
    first.cancel()
    await settle()
    assert [name for name, _ in queue.work.begun] == ["alice", "bob"]
