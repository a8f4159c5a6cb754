"""Threads for code that uses the ORM."""

import asyncio
import threading

from common.threads import MAX_THREADS, in_thread


async def test_code_that_waits_for_the_database_keeps_no_host_from_being_looked_up() -> None:
    answered = threading.Event()
    waiting = [asyncio.create_task(in_thread(answered.wait, 10)) for _ in range(2 * MAX_THREADS)]
    await asyncio.sleep(0.2)
    try:
        async with asyncio.timeout(2):
            assert await asyncio.get_running_loop().getaddrinfo("localhost", 80)
    finally:
        answered.set()
        await asyncio.gather(*waiting)
