"""Starts a reply on the event loop of its process, from a request in a thread."""

import asyncio
from typing import Protocol
from uuid import UUID

from asgiref.sync import async_to_sync

from ai.inference.services import admit
from conversations.models import Message
from conversations.replies.running import Reply
from conversations.services.sending import StartedReply
from observability.tracing import spans
from work.jobs.executor import get_job_executor


class Start(Protocol):
    """A transaction that starts a reply in the process with this owner id, or returns the reply of
    an earlier identical request."""

    def __call__(self, *, owner_id: UUID) -> StartedReply | Message: ...


def launch(start: Start) -> Reply | Message:
    """Start a reply with `start`, in this process, which writes the reply even if the request ends
    early. A reply that exists already is returned unchanged.

    Raises the errors of `start`, and ServiceUnavailable where this process has no room.
    """
    loop, owner_id = async_to_sync(_admit)()
    started = start(owner_id=owner_id)
    if isinstance(started, Message):
        return started
    reply = Reply(started)
    # A client that hangs up now cancels whatever its request waits for; this is not waited for.
    loop.call_soon_threadsafe(_run, reply, context=spans.fresh_context())
    return reply


async def _admit() -> tuple[asyncio.AbstractEventLoop, UUID]:
    await admit()
    return asyncio.get_running_loop(), await get_job_executor().admit()


def _run(reply: Reply) -> None:
    get_job_executor().start(reply.started.job, lambda _: reply.run())
