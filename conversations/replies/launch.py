"""From a request in a thread to a reply on the event loop of its process."""

import asyncio
from collections.abc import Callable
from contextvars import Context
from uuid import UUID

from asgiref.sync import async_to_sync

from conversations.models import Message
from conversations.replies.running import Reply
from conversations.services.sending import Begun
from jobs.host import get_job_host


def launch(begin: Callable[[UUID], Begun | Message]) -> Reply | Message:
    """Let the transaction `begin` begin a reply in this process, which then writes it, whatever
    becomes of the request. A reply that there was before is returned as it is.

    `begin` is given the owner of the reply. Raises what it does, and ServiceUnavailable where this
    process has no room.
    """
    loop, owner_id = async_to_sync(_admit)()
    begun = begin(owner_id)
    if isinstance(begun, Message):
        return begun
    reply = Reply(begun)
    # A client that hangs up now cancels whatever its request waits for; this is not waited for.
    loop.call_soon_threadsafe(_start, reply, context=Context())
    return reply


async def _admit() -> tuple[asyncio.AbstractEventLoop, UUID]:
    return asyncio.get_running_loop(), await get_job_host().admit()


def _start(reply: Reply) -> None:
    get_job_host().start(reply.begun.job, lambda _: reply.run())
