"""A council that is deleted while a request about it is answered: the answer is a 404, and never a
500, whichever statement the deletion comes before."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from accounts.models import User
from council.models import Session
from council.services import conversation, merges, sessions
from council.tests import manual
from council.tests.council_client import CARDS, SESSIONS, CouncilClient, new_council_client
from council.types import MergeMode

pytestmark = pytest.mark.usefixtures("committed", "providers")

Request = Callable[[], Any]


class Deletion:
    """Deletes a council before one of the statements that stand outside of a transaction."""

    def __init__(self, user: User, session_id: UUID, moment: int) -> None:
        self._user = user
        self._session_id = session_id
        self._left = moment
        self.is_done = False

    def __call__(self, execute: Callable[..., Any], *statement: Any) -> Any:
        if not self.is_done and not connection.in_atomic_block:
            self._left -= 1
            if self._left < 0:
                self.is_done = True
                sessions.delete(user=self._user, session_id=self._session_id)
        return execute(*statement)


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client(balance_usd=100)


def merged(person: CouncilClient) -> Session:
    """A council whose merge has been spoken to."""
    session, _ = person.council("Deep.", "Blue.")
    with transaction.atomic():
        card = merges.merge(user=person.user, session_id=session.pk, mode=MergeMode.FUSE)
        manual.answer(card, "Deep blue.")
    with transaction.atomic():
        conversation.message_card(user=person.user, card_id=card.pk, content="Why?")
        manual.answer(card, "Because.")
    return session


def card_path(session: Session) -> str:
    return f"{CARDS}/{session.cards.latest('id').pk}"


def statuses(person: CouncilClient, prepare: Callable[[Session], Request]) -> list[int]:
    """The status of the answer for each moment of the deletion, the last being after the end."""
    seen: list[int] = []
    while True:
        session = merged(person)
        request = prepare(session)
        deletion = Deletion(person.user, session.pk, len(seen))
        with connection.execute_wrapper(deletion):
            seen.append(request().status_code)
        if not deletion.is_done:
            return seen


@pytest.mark.parametrize("what", ["messages", "export", "diff?version=1&against_version=2"])
def test_what_is_read_of_a_card_is_404(alice: CouncilClient, what: str) -> None:
    def prepare(session: Session) -> Request:
        path = f"{card_path(session)}/{what}"
        return lambda: alice.get(path)

    seen = statuses(alice, prepare)

    assert (seen[-1], 404 in seen, {*seen} - {200, 404}) == (200, True, set())


@pytest.mark.parametrize("act", ["cards", "chat", "merge", "debate", "regenerate", "messages"])
@pytest.mark.parametrize("key", [None, "mine"], ids=["once", "sent again"])
def test_an_action_on_it_is_404(alice: CouncilClient, act: str, key: str | None) -> None:
    bodies: dict[str, dict[str, Any]] = {
        "cards": {"model_key": "gpt-6-luna"},
        "chat": {"content": "Why?"},
        "messages": {"content": "Why?"},
    }

    def prepare(session: Session) -> Request:
        of_card = act in ("regenerate", "messages")
        path = f"{card_path(session) if of_card else f'{SESSIONS}/{session.pk}'}/{act}"

        def request() -> Any:
            return alice.post(path, key=key, **bodies.get(act, {}))

        if key is not None:
            assert request().status_code in (201, 202)
        return request

    seen = statuses(alice, prepare)

    assert (seen[-1] in (201, 202), 404 in seen) == (True, True)
    assert {*seen} <= {201, 202, 404}
