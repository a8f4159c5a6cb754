"""Notifies all web processes, through the channel layer, that streams have grown, or that sessions
may have ended.

A notification carries no event, only the ids of streams and of sessions, which never collide: all
are UUIDv7. Where a notification is lost, its listeners find out at their next check, some seconds
later. `notify` never waits: a thread of the process sends for all, and keeps unsent ids while Redis
is away.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from functools import cache
from threading import Lock, Thread
from typing import Any
from uuid import UUID

import structlog
from channels.layers import BaseChannelLayer, channel_layers
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)

LAYER = "notifier"
GROUP = "events"
# Seconds for a message or a subscription.
TIMEOUT = 0.5
# Seconds without attempts after a failure of Redis.
PAUSE = 0.5
# A connection can be dead without a sign: after this many silent seconds it is opened again.
SILENCE = 10.0
# The number of unsent ids that a process keeps.
KEPT_IDS = 10_000

_AWAY = (RedisError, OSError)


def notify(*ids: UUID) -> None:
    """Notify all processes that these streams have grown, or that these sessions may have ended;
    from threads and from event loops."""
    with _starting:
        sender = _sender()
    sender.send(ids)


def notify_of_sessions(*, session_ids: Iterable[UUID], **_: Any) -> None:
    """The receiver of `sessions_ended`."""
    notify(*session_ids)


async def notifications(*, silence: float = SILENCE) -> AsyncGenerator[set[UUID], None]:
    """The ids of notifications, and an empty set whenever listening has begun: earlier
    notifications were missed. Never ends; while Redis is away it tries again and again."""
    while True:
        layer = _layer()
        try:
            channel = await _subscribe(layer)
            yield set()
            while message := await _next_message(layer, channel, silence):
                yield _ids(message)
        except _AWAY as error:
            log.warning("notifier.not_received", error=type(error).__name__)
            await asyncio.sleep(PAUSE)
        finally:
            await layer.flush()


async def _subscribe(layer: BaseChannelLayer) -> str:
    async with asyncio.timeout(TIMEOUT):
        channel = await layer.new_channel()
        await layer.group_add(GROUP, channel)
        return channel


async def _next_message(
    layer: BaseChannelLayer, channel: str, silence: float
) -> dict[str, Any] | None:
    """The next message; None after this many seconds of silence."""
    try:
        async with asyncio.timeout(silence):
            return await layer.receive(channel)
    except TimeoutError:
        return None


class _Sender:
    """The thread that sends. Ids that arrive while it sends share the next message. No error ends
    it: all notifications of the process would be lost."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: set[UUID] = set()
        self._has_ids = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        Thread(target=self._run, name="notifier", daemon=True).start()

    def send(self, ids: Iterable[UUID]) -> None:
        with self._lock:
            others_wait = bool(self._waiting)
            if len(self._waiting) < KEPT_IDS:
                self._waiting.update(ids)
        if not others_wait:
            self._loop.call_soon_threadsafe(self._has_ids.set)

    def _run(self) -> None:
        self._loop.run_until_complete(self._send_all())

    async def _send_all(self) -> None:
        while await self._has_ids.wait():
            self._has_ids.clear()
            with self._lock:
                ids, self._waiting = self._waiting, set()
            try:
                async with asyncio.timeout(TIMEOUT):
                    await _layer().group_send(GROUP, _message(ids))
            except Exception as error:
                log.warning("notifier.not_sent", error=type(error).__name__)
                await asyncio.sleep(PAUSE)
                self.send(ids)


def _message(ids: Iterable[UUID]) -> dict[str, Any]:
    """16 bytes for each id."""
    return {"ids": b"".join(each.bytes for each in ids)}


def _ids(message: dict[str, Any]) -> set[UUID]:
    data = message["ids"]
    return {UUID(bytes=data[start : start + 16]) for start in range(0, len(data), 16)}


def _layer() -> BaseChannelLayer:
    return channel_layers[LAYER]


_starting = Lock()
_sender = cache(_Sender)
