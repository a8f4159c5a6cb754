"""Sessions with sockets to listen to, each with a signed-in owner of its own."""

from dataclasses import dataclass
from uuid import UUID, uuid4

from django.db import transaction

from accounts.models import User
from bench.feed import WORDS
from bench.listeners import Socket
from bench.seed import open_sessions
from council.models import Session, Status
from events.services import open_stream
from events.types import NewEvent, model_actor

# One client address may open 1,000 sockets a minute.
_SOURCES = [f"127.0.0.{number}" for number in range(10, 40)]


@dataclass(frozen=True, slots=True)
class Council:
    """A council without running jobs, and the token of its owner."""

    id: UUID
    token: str

    @property
    def path(self) -> str:
        """The path of its socket."""
        return f"/api/council/ws/{self.id}?token={self.token}"


@transaction.atomic
def open_councils(count: int) -> list[Council]:
    """New councils with empty logs."""
    users = User.objects.bulk_create(
        [User(email=f"listener-{uuid4().hex}@bench.example") for _ in range(count)]
    )
    sessions = Session.objects.bulk_create(
        [Session(account=user, title="Bench", status=Status.COMPLETED) for user in users]
    )
    for session, user in zip(sessions, users, strict=True):
        open_stream(stream_id=session.id, kind="council", account=user)
    tokens = open_sessions(users)
    return [
        Council(session.id, tokens[user.id]) for session, user in zip(sessions, users, strict=True)
    ]


def delta(card_id: UUID) -> NewEvent:
    """An event with 60 words of an answer."""
    data = {"card_id": str(card_id), "version": 1, "offset": 1200, "text": WORDS}
    return NewEvent("card.delta", data, model_actor("gpt-6-luna"))


def sockets(paths: list[str], each: int) -> list[Socket]:
    """This many sockets for each path in turn, from the local addresses in turn."""
    return [
        Socket(stream, path, _SOURCES[(stream * each + copy) % len(_SOURCES)])
        for stream, path in enumerate(paths)
        for copy in range(each)
    ]
