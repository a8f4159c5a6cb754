"""`Idempotency-Key`: what starts calls is carried out once, however often it is sent."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from billing.models import IdempotencyKey
from billing.services import balance
from billing.tests.bank import BALANCE_ONLY, IN_PLAN
from billing.tests.web_app import clock
from common.ids import uuid7
from common.money import NUSD_PER_USD
from council.models import Card, Generation, Session
from council.tests.council_client import (
    CARDS,
    QUESTION,
    SESSIONS,
    CouncilClient,
    new_council_client,
)

pytestmark = pytest.mark.usefixtures("committed", "providers")

Place = tuple[str, dict[str, Any]]


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


def _start(session: Session, card: Card) -> Place:
    return SESSIONS, {"prompt": QUESTION, "models": [IN_PLAN]}


def _add(session: Session, card: Card) -> Place:
    return f"{SESSIONS}/{session.pk}/cards", {"model_key": IN_PLAN}


def _regenerate(session: Session, card: Card) -> Place:
    return f"{CARDS}/{card.pk}/regenerate", {"instructions": "Shorter."}


def _say(session: Session, card: Card) -> Place:
    return f"{CARDS}/{card.pk}/messages", {"content": QUESTION}


def _chat(session: Session, card: Card) -> Place:
    return f"{SESSIONS}/{session.pk}/chat", {"content": QUESTION}


def _merge(session: Session, card: Card) -> Place:
    cards = session.cards.values_list("pk", flat=True)
    return f"{SESSIONS}/{session.pk}/merge", {"card_ids": [str(each) for each in cards]}


def _debate(session: Session, card: Card) -> Place:
    return f"{SESSIONS}/{session.pk}/debate", {"rounds": 2}


@pytest.mark.parametrize("place", [_start, _add, _regenerate, _say, _chat, _merge, _debate])
def test_sent_again_it_begins_nothing_and_answers_the_same(
    alice: CouncilClient, place: Callable[[Session, Card], Place]
) -> None:
    session, cards = alice.council("Deep.", "Very deep.")
    path, body = place(session, cards[0])
    first = alice.post(path, key="mine", **body)
    begun = _calls(alice)

    second = alice.post(path, key="mine", **body)

    assert first.status_code in (201, 202)
    assert second.status_code == first.status_code
    assert _identity(second.json()) == _identity(first.json())
    assert "Idempotency-Replayed" not in first.headers
    assert second.headers["Idempotency-Replayed"] == "true"
    assert _calls(alice) == begun


def test_sent_twice_at_once_it_begins_once(alice: CouncilClient) -> None:
    together = Barrier(4)

    def start(_: int) -> Any:
        together.wait()
        try:
            return alice.post(SESSIONS, key="mine", prompt=QUESTION, models=[IN_PLAN])
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(start, range(4)))

    assert [answer.status_code for answer in answers] == [201] * 4
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert _calls(alice) == 1


def test_another_body_under_the_same_name_is_422(alice: CouncilClient) -> None:
    alice.post(SESSIONS, key="mine", prompt=QUESTION, models=[IN_PLAN])

    answer = alice.post(SESSIONS, key="mine", prompt=QUESTION, models=[IN_PLAN, IN_PLAN])

    assert answer.status_code == 422
    assert "Idempotency-Key" in answer.json()["detail"]
    assert _calls(alice) == 1


def test_a_name_stands_for_one_route_of_one_account_for_a_day(alice: CouncilClient) -> None:
    bob = new_council_client("bob")
    session, [card] = alice.council("Deep.")
    with clock("2026-10-23T12:00:00Z"):
        first = alice.post(SESSIONS, key="mine", prompt=QUESTION, models=[IN_PLAN])

    other_route = alice.post(f"{SESSIONS}/{session.pk}/cards", key="mine", model_key=IN_PLAN)
    other_card = alice.post(f"{CARDS}/{card.pk}/regenerate", key="mine")
    other_account = bob.post(SESSIONS, key="mine", prompt=QUESTION, models=[IN_PLAN])
    with clock("2026-10-24T12:00:01Z"):
        next_day = alice.post(SESSIONS, key="mine", prompt=QUESTION, models=[IN_PLAN])

    assert other_route.status_code == other_account.status_code == next_day.status_code == 201
    assert other_card.status_code == 202
    ids = {answer.json()["id"] for answer in (first, other_route, other_account, next_day)}
    assert len(ids) == 4


def test_what_was_refused_leaves_its_name_free() -> None:
    broke = new_council_client(balance_usd=0)
    asked = {"prompt": QUESTION, "models": [BALANCE_ONLY]}
    assert broke.post(SESSIONS, key="mine", **asked).status_code == 402
    assert not IdempotencyKey.objects.filter(account=broke.user).exists()

    balance.topup(operation_id=uuid7(), account=broke.user, amount=NUSD_PER_USD)

    assert broke.post(SESSIONS, key="mine", **asked).status_code == 201


def test_sent_again_after_a_downgrade_it_still_answers(alice: CouncilClient) -> None:
    first = alice.post(SESSIONS, key="mine", prompt=QUESTION, models=[IN_PLAN])
    balance.change_plan(account=alice.user, plan="free", forced=True)

    second = alice.post(SESSIONS, key="mine", prompt=QUESTION, models=[IN_PLAN])

    assert (second.status_code, second.json()["id"]) == (201, first.json()["id"])


@pytest.mark.parametrize("place", [_add, _regenerate, _say, _chat, _merge, _debate])
def test_sent_again_when_its_cards_are_gone_it_still_answers(
    alice: CouncilClient, place: Callable[[Session, Card], Place]
) -> None:
    session, cards = alice.council("Deep.", "Very deep.")
    path, body = place(session, cards[0])
    first = alice.post(path, key="mine", **body)
    for card in session.cards.all():
        assert alice.client.delete(f"{CARDS}/{card.pk}").status_code == 204

    second = alice.post(path, key="mine", **body)

    assert second.status_code == first.status_code
    assert _identity(second.json()) == _identity(first.json())
    assert alice.session(session.pk)["cards"] == []


def test_without_a_name_it_begins_each_time(alice: CouncilClient) -> None:
    for _ in range(2):
        alice.post(SESSIONS, prompt=QUESTION, models=[IN_PLAN])

    assert _calls(alice) == 2


def test_a_malformed_name_is_422(alice: CouncilClient) -> None:
    answer = alice.post(SESSIONS, key="x" * 256, prompt=QUESTION, models=[IN_PLAN])

    assert answer.status_code == 422
    assert _calls(alice) == 0


def _calls(person: CouncilClient) -> int:
    return Generation.objects.filter(session__account=person.user).count()


def _identity(answer: dict[str, Any]) -> tuple[str, list[str]]:
    """What stays the same of an answer while the calls go on."""
    cards = [card["id"] for card in answer.get("cards", [answer.get("card", answer)])]
    return answer.get("id") or answer.get("turn_id") or answer["message"]["id"], cards
