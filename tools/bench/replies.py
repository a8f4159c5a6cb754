"""Streamed replies of conversations, beside a bare Django view that relays the same upstream.

Each word is the time at which the upstream sent it, so that a reader knows how long the word took.
The conversations have titles, so that no calls for titles are made.
"""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import cycle

import aiohttp
import msgspec
from django.db import connection, transaction

from accounts.models import User
from bench.load import Result
from bench.seed import Account, open_sessions
from bench.servers import BenchError, Server
from billing.models import Charge
from conversations.models import Conversation, Message
from devserver.ports import LOOPBACK

STREAMS = 500
CONNECTIONS = 16
ALONE = 100
WARM_UP_SECONDS = 2.0
_WORDS, _SLOW_WORDS = "Tell me something timed.", "Tell me something timed, slow and long."
# The number of words of the last slow reply when memory is measured. Each reply has 180, in 90 s.
_EARLY, _LATE = 20, 65
_OPENED_AT_ONCE = 8
_TIMEOUT = 200  # seconds
# One address may make 1,000 requests a minute.
_SOURCES = [f"127.0.0.{number}" for number in range(50, 90)]
# As the upstream writes it (simulator/bench.py). No other number in an answer has as many digits.
_MOMENT = re.compile(rb"\d{19}")


@dataclass(frozen=True, slots=True)
class Line:
    """One conversation: the URL of its messages, and the token of its owner."""

    conversation: Conversation
    token: str


@dataclass(slots=True)
class Reply:
    """An answer as received: `frames` with their times in nanoseconds. `begun`, `early` and `late`
    are set when the reply has its first frame and so many words, or has ended."""

    conversation: Conversation
    frames: list[tuple[int, bytes]] = field(default_factory=list)
    failure: str = ""
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    early: asyncio.Event = field(default_factory=asyncio.Event)
    late: asyncio.Event = field(default_factory=asyncio.Event)
    words: int = 0

    def take(self, frame: bytes) -> None:
        self.frames.append((time.monotonic_ns(), frame))
        self.begun.set()
        self.words += len(_MOMENT.findall(frame))
        if self.words >= _EARLY:
            self.early.set()
        if self.words >= _LATE:
            self.late.set()

    def end(self) -> None:
        self.begun.set()
        self.early.set()
        self.late.set()

    @property
    def latencies(self) -> list[float]:
        """Seconds that each word took."""
        return [
            (came - int(moment)) / 10**9
            for came, frame in self.frames
            for moment in _MOMENT.findall(frame)
        ]

    @property
    def text(self) -> str:
        """The text of a reply of the service."""
        lines = (line for _, frame in self.frames for line in frame.split(b"\n"))
        parts = (line[6:] for line in lines if line.startswith(b"data: {"))
        return "".join(msgspec.json.decode(part).get("delta", "") for part in parts)

    @property
    def is_complete(self) -> bool:
        return bool(self.frames) and self.frames[-1][1].endswith(b"data: [DONE]")


@dataclass(frozen=True, slots=True)
class Open:
    """Many concurrent replies. Bytes of proportional set size: `each` of a stream after a while,
    and the `growth` with each further word. `at_once` replies were open until then."""

    each: float
    growth: float
    at_once: int
    replies: list[Reply]

    @property
    def latencies(self) -> list[float]:
        return [latency for reply in self.replies for latency in reply.latencies]

    def faults(self) -> Counter[str]:
        """Differences between the replies and the stored messages."""
        connection.close()  # the connection was idle for a long time
        ids = [reply.conversation.pk for reply in self.replies]
        replied = Message.objects.filter(conversation__in=ids, role="assistant", status="completed")
        # Only the last reply of each conversation counts.
        stored = dict(replied.order_by("id").values_list("conversation", "content"))
        faults: Counter[str] = Counter()
        for reply in self.replies:
            if not reply.is_complete:
                faults[reply.failure or "broken stream"] += 1
            elif reply.text != stored.get(reply.conversation.pk):
                faults["text is not the stored one"] += 1
        return faults


@transaction.atomic
def open_lines(accounts: Sequence[Account], each: int) -> list[Line]:
    """New conversations with titles."""
    users = User.objects.in_bulk([account.account_id for account in accounts])
    conversations = Conversation.objects.bulk_create(
        Conversation(account=user, title="Bench", title_source=Conversation.TitleSource.USER)
        for user in users.values()
        for _ in range(each)
    )
    tokens = open_sessions(list(users.values()))
    return [Line(conversation, tokens[conversation.account_id]) for conversation in conversations]


def count_unsettled() -> int:
    """The number of replies that are not settled, of all accounts."""
    connection.close()  # the connection was idle for a long time
    replies = Message.objects.filter(role=Message.Role.ASSISTANT)
    settled = Charge.objects.filter(status=Charge.Status.SETTLED, pk__in=replies.values("pk"))
    return replies.count() - settled.count()


async def alone(server: Server, lines: Sequence[Line]) -> list[float]:
    """Seconds from the upstream's first word to its arrival, of one reply after the other. Raises
    BenchError where a word does not arrive."""
    async with _Clients(server) as clients:
        answers = [await clients.ask(line, _WORDS) for line in lines[:ALONE]]
    for reply in answers:
        if not reply.is_complete:
            raise BenchError(f"A reply did not come: {reply.failure}")
    return [reply.latencies[0] for reply in answers]


async def press(server: Server, lines: Sequence[Line], seconds: float) -> Result:
    """Replies over this many connections; each is requested when the one before has ended."""
    result = Result()
    started = time.perf_counter()

    async def ask_on(line: Line) -> None:
        while time.perf_counter() < started + seconds:
            asked = time.perf_counter()
            reply = await clients.ask(line, _WORDS)
            if reply.is_complete:
                result.latencies.append(time.perf_counter() - asked)
            else:
                result.failures[reply.failure or "broken stream"] += 1

    async with _Clients(server) as clients, asyncio.timeout(seconds + _TIMEOUT):
        await asyncio.gather(*map(ask_on, lines[:CONNECTIONS]))
    result.seconds = time.perf_counter() - started
    return result


async def burst(server: Server, lines: Sequence[Line]) -> Result:
    """A reply in each conversation, all requested at once. `latencies` are those of their ends."""
    result = Result()
    started = time.perf_counter()

    async def ask(line: Line) -> None:
        reply = await clients.ask(line, _WORDS)
        if reply.is_complete:
            result.latencies.append(time.perf_counter() - started)
        else:
            result.failures[reply.failure or "broken stream"] += 1

    async with _Clients(server) as clients, asyncio.timeout(_TIMEOUT):
        await asyncio.gather(*map(ask, lines))
    result.seconds = time.perf_counter() - started
    return result


async def hold_open(server: Server, lines: Sequence[Line]) -> Open:
    """A slow reply in each conversation, all open at once; a few are begun at a time. Needs a
    process that is warmed up with only a few at once: an earlier load would leave free memory."""
    before = server.memory()
    replies = [Reply(line.conversation) for line in lines]
    gate = asyncio.Semaphore(_OPENED_AT_ONCE)

    async def begin(line: Line, reply: Reply) -> asyncio.Task[None]:
        async with gate:
            task = asyncio.create_task(clients.read(line, _SLOW_WORDS, reply))
            await reply.begun.wait()
        return task

    async with _Clients(server) as clients, asyncio.timeout(_TIMEOUT):
        tasks = await asyncio.gather(*map(begin, lines, replies))
        await asyncio.gather(*(reply.early.wait() for reply in replies))
        early, sent = server.memory(), _words(replies)
        await asyncio.gather(*(reply.late.wait() for reply in replies))
        late, more = server.memory(), _words(replies) - sent
        at_once = sum(not task.done() for task in tasks)
        await asyncio.gather(*tasks)
    return Open((early - before) / len(lines), (late - early) / more, at_once, replies)


def _words(replies: Sequence[Reply]) -> int:
    return sum(reply.words for reply in replies)


class _Clients:
    """Readers of replies, from several local addresses."""

    def __init__(self, server: Server) -> None:
        self._url = f"http://{LOOPBACK}:{server.port}/api/conversations"

    async def __aenter__(self) -> "_Clients":
        self._stack = AsyncExitStack()
        sessions = [
            await self._stack.enter_async_context(
                aiohttp.ClientSession(
                    connector=aiohttp.TCPConnector(limit=0, local_addr=(source, 0)),
                    timeout=aiohttp.ClientTimeout(total=_TIMEOUT),
                )
            )
            for source in _SOURCES
        ]
        self._sessions = cycle(sessions)
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self._stack.aclose()

    async def ask(self, line: Line, content: str) -> Reply:
        reply = Reply(line.conversation)
        await self.read(line, content, reply)
        return reply

    async def read(self, line: Line, content: str, reply: Reply) -> None:
        """Send a message that follows no other, and collect the frames of its reply."""
        try:
            async with next(self._sessions).post(
                f"{self._url}/{line.conversation.pk}/messages",
                json={"content": content, "parent_id": None},
                headers={"Authorization": f"Bearer {line.token}"},
            ) as response:
                if response.status != 200:
                    reply.failure = f"{response.status}: {await response.text()}"
                    return
                await _take_frames(response, reply)
        except aiohttp.ClientError as error:
            reply.failure = type(error).__name__
        finally:
            reply.end()


async def _take_frames(response: aiohttp.ClientResponse, reply: Reply) -> None:
    left = b""
    async for chunk in response.content.iter_any():
        *frames, left = (left + chunk).split(b"\n\n")
        for frame in frames:
            reply.take(frame)
