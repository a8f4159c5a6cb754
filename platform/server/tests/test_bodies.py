"""Request bodies: how fast one has to come, and how much of all is kept."""

import asyncio
from contextlib import ExitStack

import pytest

from common.errors import PayloadTooLarge, ServiceUnavailable
from common.ids import uuid7
from server import bodies
from server.asgi import Message, Receive
from server.bodies import (
    MAX_BYTES,
    MAX_BYTES_OF_ADDRESS,
    MAX_LONG_BYTES_OF_USER,
    Body,
    BodyTooSlow,
)

MB = 1024 * 1024


def body_of(*parts: int, pause: float = 0.0, ends: bool = True) -> Receive:
    """A client that sends parts of these sizes, one after each pause, and then, if the body does
    not end, nothing more."""
    left = list(parts)

    async def receive() -> Message:
        if not left:
            await asyncio.sleep(60)
        await asyncio.sleep(pause)
        size = left.pop(0)
        return {"type": "http.request", "body": bytes(size), "more_body": bool(left) or not ends}

    return receive


def incoming(stack: ExitStack, receive: Receive, *, limit: int = MAX_BYTES, of: str = "") -> Body:
    """A body of an address, until the block ends."""
    scope = {"headers": [], "client": (of or "192.0.2.1", 1)}
    sender = bodies.address(scope)
    return stack.enter_context(
        bodies.incoming(receive, sender, limit=limit, too_large=PayloadTooLarge())
    )


async def read(body: Body) -> int:
    while not body.is_whole:
        await body.receive()
    return body.size


async def test_a_body_is_read_to_its_end_and_no_further() -> None:
    with ExitStack() as stack:
        body = incoming(stack, body_of(1, 2, 3))
        assert await read(body) == 6
        await body.discard()
        assert body.size == 6


async def test_a_body_has_a_limit() -> None:
    with ExitStack() as stack, pytest.raises(PayloadTooLarge):
        await read(incoming(stack, body_of(10, 1), limit=10))


async def test_silence_ends_a_body(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "SILENT_SECONDS", 0.05)
    with ExitStack() as stack:
        body = incoming(stack, body_of(1, 1, 1, ends=False))
        with pytest.raises(BodyTooSlow):
            await read(body)
        assert body.size == 3


async def test_so_does_a_pace_that_is_too_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "FIRST_SECONDS", 0.1)
    drip = body_of(*[1] * 100, pause=0.02)
    quick = body_of(*[bodies.BYTES_PER_SECOND // 10] * 10, pause=0.02)
    with ExitStack() as stack:
        with pytest.raises(BodyTooSlow):
            await read(incoming(stack, drip))
        assert await read(incoming(stack, quick)) == bodies.BYTES_PER_SECOND


async def test_messages_after_the_body_have_no_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "SILENT_SECONDS", 0.02)
    with ExitStack() as stack:
        body = incoming(stack, body_of(1))
        await read(body)
        with pytest.raises(TimeoutError):  # nobody else's
            await asyncio.wait_for(body.receive(), 0.1)


async def test_one_address_has_so_much_room_and_gives_it_back() -> None:
    with ExitStack() as stack:
        await read(incoming(stack, body_of(MAX_BYTES_OF_ADDRESS)))
        with pytest.raises(ServiceUnavailable):
            await read(incoming(stack, body_of(1)))
        assert await read(incoming(stack, body_of(1), of="192.0.2.2")) == 1
    with ExitStack() as stack:
        assert await read(incoming(stack, body_of(MAX_BYTES_OF_ADDRESS))) == MAX_BYTES_OF_ADDRESS


async def test_a_process_has_so_much_room_for_all_together() -> None:
    with ExitStack() as stack:
        for _ in range(MAX_BYTES // MAX_LONG_BYTES_OF_USER):
            large = bodies.incoming(
                body_of(MAX_LONG_BYTES_OF_USER),
                bodies.user_of_long_ones(uuid7()),
                limit=MAX_BYTES,
                too_large=PayloadTooLarge(),
            )
            await read(stack.enter_context(large))
        free = MAX_BYTES % MAX_LONG_BYTES_OF_USER
        for number in range(free // MAX_BYTES_OF_ADDRESS):
            await read(incoming(stack, body_of(MAX_BYTES_OF_ADDRESS), of=f"192.0.2.{number}"))
        with pytest.raises(ServiceUnavailable):
            await read(incoming(stack, body_of(MAX_BYTES_OF_ADDRESS), of="192.0.2.255"))


async def test_a_refused_body_is_read_and_discarded() -> None:
    with ExitStack() as stack:
        body = incoming(stack, body_of(MAX_BYTES_OF_ADDRESS, MB, MB))
        with pytest.raises(ServiceUnavailable):
            await read(body)
        await body.discard()
        assert body.is_whole
        assert body.size == MAX_BYTES_OF_ADDRESS + 2 * MB
