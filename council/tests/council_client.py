"""Somebody who holds councils, whose requests are answered in this process.

What they begin over HTTP a worker of another test may take up, so it answers slowly and is left
alone; what shall be over is done by hand.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from rest_framework.test import APIClient

from accounts.models import User
from billing.tests.bank import IN_PLAN
from billing.tests.web_app import client_of
from council.models import Card, Session
from council.services import sessions
from council.tests import manual
from tests.personas import new_user

SESSIONS = "/api/council/sessions"
CARDS = "/api/council/cards"
QUESTION = 'How deep is the sea?\n@sim {"tokens": 1, "ttft_ms": 3000}'
# The states of what has begun and is not over.
UNDERWAY = ("queued", "running")


@dataclass
class CouncilClient:
    """A user and the client they are signed in with."""

    user: User
    client: APIClient

    def post(self, path: str, /, key: str | None = None, **body: Any) -> Any:
        headers = {} if key is None else {"Idempotency-Key": key}
        return self.client.post(path, body, format="json", headers=headers)

    def get(self, path: str, /, **query: Any) -> Any:
        return self.client.get(path, query)

    def session(self, session_id: UUID | str) -> dict[str, Any]:
        answer = self.get(f"{SESSIONS}/{session_id}")
        assert answer.status_code == 200, answer.content
        session: dict[str, Any] = answer.json()
        return session

    def council(self, *answers: str, model: str = IN_PLAN) -> tuple[Session, list[Card]]:
        """A council whose cards have given these answers. No worker ever sees it."""
        with transaction.atomic():
            session = sessions.start(user=self.user, prompt=QUESTION, models=[model] * len(answers))
            cards = list(session.cards.order_by("id"))
            for card, text in zip(cards, answers, strict=True):
                manual.answer(card, text)
        return session, cards


def new_council_client(
    name: str = "alice", *, plan: str = "max", balance_usd: int = 5
) -> CouncilClient:
    user = new_user(name, plan=plan, balance_usd=balance_usd)
    return CouncilClient(user, client_of(user))
