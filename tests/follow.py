"""Watching a session from all sides while a test acts on it: what its socket delivers, what its
replay answers, what the log holds, and what the session itself looks like.

For every product that writes a stream of events; what is special about one is in its `Product`.
"""

import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import reduce
from typing import Any
from uuid import UUID

import httpx
from django.conf import settings
from django.db import connection
from redis import Redis
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from devserver.ports import LOOPBACK
from events.models import Event
from tests.service import Web

Picture = dict[str, Any]

TIMEOUT = 30.0
# How long between two looks at a session that runs, in seconds.
GLANCES = (0.01, 0.2)
# The replay is read in up to so many full pages, beside the one of the default size.
PAGES = 4

_FRAMES = "SELECT frame FROM events_after(%s, %s, 1000000, 1000000000)"


@dataclass(frozen=True)
class Product:
    """`path` is that of its API, `apply` makes the next picture of a session out of the one before
    and an event, `nothing` is the picture before the first event, and `is_idle` says whether
    nothing runs any more."""

    path: str
    nothing: Picture
    apply: Callable[[Picture, dict[str, Any]], Picture]
    is_idle: Callable[[Picture], bool] = lambda picture: picture["status"] != "running"

    def draw(self, picture: Picture, frames: list[str]) -> Picture:
        """The picture after those of the events that are later than it."""
        events = map(json.loads, frames)
        later = (event for event in events if event["seq"] > picture.get("last_seq", 0))
        return reduce(self.apply, later, picture)


class Listener:
    """A socket and the events that it has brought, as they were sent."""

    def __init__(self, socket: ClientConnection) -> None:
        self.frames: list[str] = []
        self._socket = socket
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> "Listener":
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._socket.close()
        self._thread.join()

    def wait_for(self, seq: int) -> None:
        """Until that event has come."""
        wait_until(lambda: bool(self.frames) and _seq(self.frames[-1]) >= seq)

    def _listen(self) -> None:
        with suppress(ConnectionClosed):
            for frame in self._socket:
                assert isinstance(frame, str)
                if json.loads(frame)["type"] != "ping":
                    self.frames.append(frame)


class Follower:
    """One session, followed. `pictures` are all that were taken of it."""

    def __init__(
        self, product: Product, session_id: str, http: httpx.Client, listener: Listener
    ) -> None:
        self.pictures: list[Picture] = []
        self._product = product
        self._path = f"{product.path}/sessions/{session_id}"
        self._session_id = UUID(session_id)
        self._http = http
        self._listener = listener

    def look(self) -> Picture:
        """Take a picture of the session as it is now."""
        answer = self._http.get(self._path)
        assert answer.status_code == 200, answer.text
        self.pictures.append(answer.json())
        return self.pictures[-1]

    def wait_until_idle(self, glances: tuple[float, float] = GLANCES) -> Picture:
        """Look again and again until nothing runs any more; the last picture."""
        deadline = time.monotonic() + TIMEOUT
        while not self._product.is_idle(picture := self.look()):
            assert time.monotonic() < deadline, picture
            time.sleep(random.uniform(*glances))  # noqa: S311 - any moment will do
        return picture

    def check(self) -> Picture:
        """Assert that all sides tell the same of an idle session. Returns its last picture."""
        last = self.look()
        log = self._log()
        if last["last_seq"] > self.pictures[0]["last_seq"]:
            self._listener.wait_for(last["last_seq"])
        assert [_seq(frame) for frame in log] == list(range(1, last["last_seq"] + 1))
        heard = self._listener.frames
        assert heard == log[len(log) - len(heard) :]
        assert len(log) - len(heard) <= self.pictures[0]["last_seq"]
        assert self._replay() == log
        first = self.pictures[0]["last_seq"]
        later = log[first:]
        limit = random.randint(max(1, len(later) // PAGES), max(1, len(later)))  # noqa: S311 - any
        assert self._replay(first, limit) == later
        for picture in (self._product.nothing, *self.pictures):
            assert self._product.draw(picture, log) == last
        return last

    def _log(self) -> list[str]:
        """The rows of the log, as they are delivered."""
        with connection.cursor() as cursor:
            cursor.execute(_FRAMES, (self._session_id, 0))
            frames: list[str] = [frame for (frame,) in cursor.fetchall()]
        rows = Event.objects.filter(stream=self._session_id).order_by("seq")
        received = [json.loads(frame) for frame in frames]
        assert [(row.seq, row.type, row.actor, json.loads(row.data)) for row in rows] == [
            (event["seq"], event["type"], event["actor"], event["data"]) for event in received
        ]
        return frames

    def _replay(self, after: int = 0, limit: int | None = None) -> list[str]:
        """The pages of the replay, the events cut out of them as they stand there."""
        frames: list[str] = []
        while True:
            query = {"after_seq": after} | ({} if limit is None else {"limit": limit})
            answer = self._http.get(f"{self._path}/events", params=query)
            assert answer.status_code == 200, answer.text
            page = cut(answer.text)
            assert limit is None or len(page) <= limit
            if not page:
                assert answer.headers["X-Next-Seq"] == str(after)
                return frames
            frames += page
            after = int(answer.headers["X-Next-Seq"])
            assert after == _seq(page[-1])


@contextmanager
def followed(product: Product, session_id: str, token: str, web: Web) -> Iterator[Follower]:
    """Follow a session while the block acts on it; then wait until it is idle, and check."""
    url = f"ws://{LOOPBACK}:{web.port}{product.path}/ws/{session_id}?token={token}"
    headers = {"Authorization": f"Bearer {token}"}
    with (
        httpx.Client(base_url=web.url, headers=headers, timeout=TIMEOUT) as http,
        connect(url, max_size=None) as socket,
        Listener(socket) as listener,
    ):
        follower = Follower(product, session_id, http, listener)
        follower.look()
        yield follower
        follower.wait_until_idle()
        _forget_requests()
        follower.check()


def cut(body: str) -> list[str]:
    """The elements of a JSON array, each as it is written there."""
    decoder = json.JSONDecoder()
    assert body.startswith("[")
    elements, place = [], 1
    while body[place] != "]":
        _, end = decoder.raw_decode(body, place)
        elements.append(body[place:end])
        place = end + (body[end] == ",")
    assert place == len(body) - 1
    return elements


def wait_until(what: Callable[[], bool], seconds: float = TIMEOUT) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def _forget_requests() -> None:
    """Whoever looks so closely asks more often than an address may."""
    with Redis.from_url(settings.REDIS_URL) as redis:
        redis.delete(f"limit:general:{LOOPBACK}")


def _seq(frame: str) -> int:
    seq: int = json.loads(frame)["seq"]
    return seq
