"""A program that stores a long film, after a short one, and tells how many bytes of memory the long
one took more. Its arguments: the account, and the size of the film in bytes."""

import asyncio
import resource
import struct
import sys
from collections.abc import AsyncIterator
from uuid import UUID

import django

from simulator.media.films import Film

PIECE = 65_536


def most_memory() -> int:
    """The most bytes that this process has taken up to now."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def long_film(size: int) -> AsyncIterator[bytes]:
    """A film with free space after it."""
    made = Film(prompt="The sea", seconds=1, size=(320, 180), seed="sea").make_file("mp4")
    assert made is not None
    yield made
    left = size - len(made)
    yield struct.pack(">I4s", left, b"free")
    for place in range(8, left, PIECE):
        yield bytes(min(PIECE, left - place))


async def copy(account_id: UUID, size: int) -> int:
    from common.database import get_database
    from media.files.services.media import store_result

    async def store(size: int) -> None:
        await store_result(account_id=account_id, pieces=long_film(size), kind="video", limit=size)

    await store(20_000_000)
    before = most_memory()
    await store(size)
    await get_database().close()
    return most_memory() - before


if __name__ == "__main__":
    django.setup()
    print(asyncio.run(copy(UUID(sys.argv[1]), int(sys.argv[2]))))  # noqa: T201
