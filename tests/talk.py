"""A conversation that somebody holds over HTTP, and replies as a plain reader gets them."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
from django.db.models import QuerySet

from accounts.models import User
from billing.models import Charge
from common.ids import uuid7
from conversations.models import Conversation, Message
from tests.personas import access_token_of

TIMEOUT = 30.0  # seconds
# Every call is paid from the balance, at twice the cost.
MODEL = "kimi-k3"

Part = dict[str, Any]


@dataclass
class Reading:
    """What a reader has of one reply, over as many connections as it takes.

    An `offset` counts the code points of reasoning and text, in the order in which they came.
    `parts` are those that are no deltas.
    """

    text: str = ""
    reasoning: str = ""
    offset: int | None = None
    parts: list[Part] = field(default_factory=list)
    ended: bool = False
    _frames: Iterator[bytes] = field(default_factory=lambda: iter(()), repr=False)

    @property
    def types(self) -> list[str]:
        return [part["type"] for part in self.parts]

    @property
    def message_id(self) -> UUID:
        return UUID(self.part("start")["messageId"])

    def part(self, type_: str) -> Part:
        """The last of that type."""
        return next(part for part in reversed(self.parts) if part["type"] == type_)

    def has(self, type_: str) -> bool:
        return type_ in self.types

    def read(self, response: httpx.Response) -> "Reading":
        """Read an answer to its end."""
        return self.follow(response).to_end()

    def follow(self, response: httpx.Response) -> "Reading":
        """What comes next comes from this answer. A frame that is cut off is not taken."""
        assert response.status_code == 200, response.read()
        self._frames = _whole_frames(response.iter_bytes())
        return self

    def until(self, what: Callable[["Reading"], object]) -> "Reading":
        """Read on until that is so."""
        while not what(self):
            self._take(next(self._frames))
        return self

    def to_end(self) -> "Reading":
        for frame in self._frames:
            self._take(frame)
        return self

    def _take(self, frame: bytes) -> None:
        fields = dict(line.split(": ", 1) for line in frame.decode().split("\n"))
        if "data" not in fields:
            return
        if fields["data"] == "[DONE]":
            self.ended = True
            return
        offset, part = int(fields["id"]), json.loads(fields["data"])
        delta = part.get("delta", "")
        assert offset == (self.offset or 0) + len(delta), (self.offset, fields)
        self.offset = offset
        if part["type"] == "text-delta":
            self.text += delta
        elif part["type"] == "reasoning-delta":
            self.reasoning += delta
        else:
            self.parts.append(part)


def _whole_frames(chunks: Iterable[bytes]) -> Iterator[bytes]:
    left = b""
    for chunk in chunks:
        *frames, left = (left + chunk).split(b"\n\n")
        yield from frames


class Talk:
    """A user's conversation. What is sent is marked, so that the simulator's journal tells its
    calls from everybody else's."""

    def __init__(self, owner: User, *, model: str = MODEL, marker: str | None = None) -> None:
        self.owner = owner
        self.marker = marker or uuid7().hex
        self.id = Conversation.objects.create(account=owner, model=model).pk

    # --- Talking ---------------------------------------------------------------------------------

    @property
    def token(self) -> str:
        return access_token_of(self.owner)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def path(self) -> str:
        return f"/api/conversations/{self.id}"

    def content(self, words: str = "How deep is the sea?", /, **options: Any) -> str:
        """A message; `options` steer the simulator."""
        return f"{words}\n@sim {json.dumps({'marker': self.marker, **options})}"

    def ask(
        self, url: str, method: str, path: str = "", /, *, json: Any = None, **headers: str
    ) -> httpx.Response:
        """A request about the conversation, answered whole."""
        return httpx.request(
            method,
            f"{url}{self.path}{path}",
            json=json,
            headers=self.headers | headers,
            timeout=TIMEOUT,
        )

    def post(self, url: str, *, named: str | None = None, **options: Any) -> httpx.Response:
        """Send a message under an Idempotency-Key or none, and read the answer as it is."""
        headers = {} if named is None else {"Idempotency-Key": named}
        return self.ask(
            url, "POST", "/messages", json={"content": self.content(**options)}, **headers
        )

    def say(self, url: str, **options: Any) -> Reading:
        """Send a message, and read the reply to its end."""
        with self.sent(url, **options) as response:
            return Reading().read(response)

    @contextmanager
    def sent(self, url: str, **options: Any) -> Iterator[httpx.Response]:
        """Send a message, and read its answer as it comes."""
        body = {"content": self.content(**options)}
        with self.opened(url, "POST", "/messages", json=body) as response:
            yield response

    @contextmanager
    def opened(
        self,
        url: str,
        method: str = "GET",
        path: str = "/stream",
        /,
        *,
        json: Any = None,
        **headers: str,
    ) -> Iterator[httpx.Response]:
        """An answer that is read as it comes; by default that of the reply which runs."""
        with httpx.stream(
            method,
            f"{url}{self.path}{path}",
            json=json,
            headers=self.headers | headers,
            timeout=TIMEOUT,
        ) as response:
            yield response

    # --- What came of it -------------------------------------------------------------------------

    def replies(self) -> QuerySet[Message]:
        """The oldest first."""
        return Message.objects.filter(conversation=self.id, role="assistant").order_by("id")

    @property
    def reply(self) -> Message:
        """The only one."""
        return self.replies().get()

    @property
    def charge(self) -> Charge:
        """Of the only reply."""
        return Charge.objects.get(pk=self.reply.pk)

    def runs(self) -> bool:
        return self.replies().filter(status="running").exists()

    def is_saved(self) -> bool:
        """Does the charge of a reply that runs know of tokens that were put out?"""
        running = self.replies().filter(status="running").values("pk")
        return Charge.objects.filter(pk__in=running, units__tokens_out__gt=0).exists()
