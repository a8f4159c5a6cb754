"""Bodies that bring a file: whose are read, how often, and how many at a time."""

import asyncio
from uuid import UUID

import pytest

from common.errors import DomainError, Unauthenticated
from common.ids import uuid7
from server.asgi import Headers, Message, Receive, Scope, Send
from server.file_bodies import MAX_AT_ONCE, PACE, FileBodies, TooManyFiles
from server.rate_limit import get_rate_limiter

CHUNK = bytes(1024 * 1024)


async def authenticate(headers: Headers) -> UUID:
    """The header names the user."""
    for name, value in headers:
        if name == b"user":
            return UUID(value.decode())
    raise Unauthenticated


class Reader:
    """An application that reads the body, and answers when it may."""

    def __init__(self) -> None:
        self.reading = 0
        self._begun = asyncio.Event()
        self.has_read = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.reading += 1
        self._begun.set()
        message: Message = {"more_body": True}
        while message.get("more_body"):
            message = await receive()
        self.has_read.set()
        await self.may_answer.wait()
        if scope.get("listens"):
            assert (await receive())["type"] == "http.disconnect"

    async def begun(self, count: int) -> None:
        """Until so many bodies are read, or have been."""
        while self.reading < count:
            self._begun.clear()
            await self._begun.wait()


def body_of(chunks: int, *, pause: float = 0.0, leaves_after: float = 0.0) -> Receive:
    """A client that sends so many, and then hangs up."""
    left = chunks

    async def receive() -> Message:
        nonlocal left
        if left == 0:
            await asyncio.sleep(leaves_after)
            return {"type": "http.disconnect"}
        left -= 1
        await asyncio.sleep(pause)
        return {"type": "http.request", "body": CHUNK, "more_body": left > 0}

    return receive


async def send(message: Message) -> None:
    raise AssertionError("nobody answers here")


def scope_of(user_id: UUID | None, **more: object) -> Scope:
    headers = [(b"user", str(user_id).encode())] if user_id else []
    return {"path": "/api/uploads", "headers": headers, **more}


async def refusal_of(files: FileBodies, user_id: UUID | None, body: Receive) -> DomainError:
    with pytest.raises(DomainError) as refusal:
        await files(scope_of(user_id), body, send)
    return refusal.value


@pytest.fixture
async def reader() -> Reader:
    return Reader()


@pytest.fixture
async def files(reader: Reader):  # type: ignore[no-untyped-def]
    yield FileBodies(reader, authenticate)
    await get_rate_limiter().close()


async def test_of_a_stranger_nothing_is_read(reader: Reader, files: FileBodies) -> None:
    async def receive() -> Message:
        raise AssertionError("the body was read")

    assert isinstance(await refusal_of(files, None, receive), Unauthenticated)
    assert reader.reading == 0


async def test_a_user_has_so_many_places(reader: Reader, files: FileBodies) -> None:
    alice, bob = uuid7(), uuid7()
    async with asyncio.TaskGroup() as group:
        for _ in range(MAX_AT_ONCE):
            group.create_task(files(scope_of(alice), body_of(1), send))
        await reader.begun(MAX_AT_ONCE)
        refusal = await refusal_of(files, alice, body_of(1))
        assert isinstance(refusal, TooManyFiles)
        assert (refusal.status, refusal.retry_after) == (429, 1)
        group.create_task(files(scope_of(bob), body_of(1), send))
        await reader.begun(MAX_AT_ONCE + 1)
        assert reader.reading == MAX_AT_ONCE + 1
        reader.may_answer.set()
    await files(scope_of(alice), body_of(1), send)


async def test_a_user_has_a_pace(reader: Reader, files: FileBodies) -> None:
    reader.may_answer.set()
    alice = uuid7()
    for _ in range(PACE.requests):
        await files(scope_of(alice), body_of(1), send)
    refusal = await refusal_of(files, alice, body_of(1))
    assert isinstance(refusal, TooManyFiles)
    assert refusal.retry_after is not None
    assert refusal.retry_after > 3_000
    await files(scope_of(uuid7()), body_of(1), send)
    elsewhere = {**scope_of(alice), "path": "/api/transcribe"}
    await files(elsewhere, body_of(1), send)
