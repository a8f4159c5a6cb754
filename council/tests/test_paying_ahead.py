"""What cannot be paid for or reached is refused before it begins."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from pytest_django import Settings

from ai.catalog.selectors import get_catalog
from ai.inference import availability
from ai.provider_health.services import refusal_of
from ai.provider_health.tests.opened import opened, refused_alone
from billing.services import balance
from billing.tests import bank
from billing.tests.bank import BALANCE_ONLY, IN_PLAN
from common.ids import uuid7
from common.money import NUSD_PER_CENT, NUSD_PER_USD
from council.models import Card, Generation, Session
from council.services import sessions
from council.tests.council_client import (
    CARDS,
    QUESTION,
    SESSIONS,
    UNDERWAY,
    CouncilClient,
    new_council_client,
)
from events.models import Event
from events.tests.streams import session_streams
from tests.chaos.calls import wait_for
from work.jobs.models import Job

pytestmark = pytest.mark.usefixtures("committed", "providers")

# Its provider has no key here.
UNREACHED = "mistral-medium-3.5"
ALSO_IN_PLAN = "claude-haiku-5-5"
FUNDS = {"balance_usd", "held_usd", "available_usd"}
BASE = {"code", "message", "model_key", "plan", "needed_usd", *FUNDS}


@pytest.fixture
def broke(committed: None) -> CouncilClient:
    """On a plan that has an allowance for some models, with nothing in the balance."""
    return new_council_client(balance_usd=0)


def test_a_council_begins_with_those_that_can_be_paid_for(broke: CouncilClient) -> None:
    answer = broke.post(SESSIONS, prompt=QUESTION, models=[BALANCE_ONLY, IN_PLAN, BALANCE_ONLY])

    assert answer.status_code == 201
    first, second, third = answer.json()["cards"]
    assert second["status"] in UNDERWAY
    assert (first["status"], third["status"]) == ("failed", "failed")
    assert first["error"].keys() == BASE
    assert first["error"]["code"] == "insufficient_balance"
    assert (first["error"]["model_key"], first["error"]["plan"]) == (BALANCE_ONLY, "max")
    assert first["error"]["needed_usd"] > 0
    assert answer.json()["status"] == "running"
    types = Event.objects.filter(stream=answer.json()["id"]).values_list("type", flat=True)
    assert list(types).count("card.failed") == 2
    for card in (first, third):
        call = Generation.objects.get(card=card["id"])
        assert Job.objects.get(pk=call.pk).status == "cancelled"


def test_where_none_can_be_paid_for_nothing_begins(broke: CouncilClient) -> None:
    answer = broke.post(SESSIONS, prompt=QUESTION, models=[BALANCE_ONLY, BALANCE_ONLY])

    assert answer.status_code == 402
    assert answer.json()["detail"].keys() == BASE
    assert answer.json()["detail"]["code"] == "insufficient_balance"
    assert _has_nothing(broke)


def test_what_is_left_is_too_little_for_the_longest_answer() -> None:
    alice = new_council_client(balance_usd=0)
    balance.topup(operation_id=uuid7(), account=alice.user, amount=2 * NUSD_PER_CENT)

    detail = alice.post(SESSIONS, prompt=QUESTION, models=[BALANCE_ONLY]).json()["detail"]

    assert detail.keys() == BASE | {"afford_usd"}
    assert detail["code"] == "insufficient_for_request"
    assert (detail["balance_usd"], detail["afford_usd"]) == (0.02, 0.02)
    assert detail["needed_usd"] > 0.1


def test_what_a_dead_process_holds_does_not_stand_in_the_way() -> None:
    alice = new_council_client(balance_usd=1)
    bank.hold(alice.user, NUSD_PER_USD // 2, owner=bank.dead_owner())

    answer = alice.post(SESSIONS, prompt=QUESTION, models=[BALANCE_ONLY])

    assert answer.status_code == 201, answer.content


def test_a_card_whose_provider_is_away_fails_beside_the_others(broke: CouncilClient) -> None:
    answer = broke.post(SESSIONS, prompt=QUESTION, models=[IN_PLAN, UNREACHED])

    assert answer.status_code == 201
    running, failed = answer.json()["cards"]
    assert running["status"] in UNDERWAY
    assert (failed["status"], failed["error"]["code"]) == ("failed", "provider_unavailable")


def test_where_the_only_provider_is_spared_it_is_503_with_a_time(broke: CouncilClient) -> None:
    model = get_catalog().models[IN_PLAN]
    with opened(model.provider, model.id):
        wait_for(lambda: refusal_of(model))
        answer = broke.post(SESSIONS, prompt=QUESTION, models=[IN_PLAN])
    wait_for(lambda: refusal_of(model) is None)

    assert answer.status_code == 503
    assert answer.json()["code"] == "provider_unavailable"
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert _has_nothing(broke)


def test_a_card_whose_model_refuses_this_user_alone_fails_beside_the_others(
    broke: CouncilClient,
) -> None:
    model = get_catalog().models[IN_PLAN]
    with refused_alone(broke.user.pk, model.provider, model.id):
        wait_for(lambda: availability.refusal_of(model, broke.user.pk))
        alone = broke.post(SESSIONS, prompt=QUESTION, models=[IN_PLAN])
        beside = broke.post(SESSIONS, prompt=QUESTION, models=[IN_PLAN, ALSO_IN_PLAN])
    wait_for(lambda: availability.refusal_of(model, broke.user.pk) is None)

    assert (alone.status_code, alone.json()["code"]) == (429, "rate_limit_exceeded")
    assert 1 <= int(alone.headers["retry-after"]) <= 60
    assert beside.status_code == 201
    failed, running = beside.json()["cards"]
    assert (failed["status"], failed["error"]["code"]) == ("failed", "rate_limit_exceeded")
    assert running["status"] in UNDERWAY


def test_where_no_provider_is_there_it_is_503(broke: CouncilClient) -> None:
    answer = broke.post(SESSIONS, prompt=QUESTION, models=[UNREACHED])

    assert answer.status_code == 503
    assert _has_nothing(broke)


def test_a_402_comes_before_a_503(broke: CouncilClient) -> None:
    answer = broke.post(SESSIONS, prompt=QUESTION, models=[UNREACHED, BALANCE_ONLY])

    assert answer.status_code == 402


def _add(person: CouncilClient, session: Session, card: Card) -> Any:
    return person.post(f"{SESSIONS}/{session.pk}/cards", model_key=BALANCE_ONLY)


def _regenerate(person: CouncilClient, session: Session, card: Card) -> Any:
    return person.post(f"{CARDS}/{card.pk}/regenerate")


def _say(person: CouncilClient, session: Session, card: Card) -> Any:
    return person.post(f"{CARDS}/{card.pk}/messages", content=QUESTION)


def _chat(person: CouncilClient, session: Session, card: Card) -> Any:
    return person.post(f"{SESSIONS}/{session.pk}/chat", content=QUESTION)


def _merge(person: CouncilClient, session: Session, card: Card) -> Any:
    return person.post(f"{SESSIONS}/{session.pk}/merge", model_key=BALANCE_ONLY)


def _debate(person: CouncilClient, session: Session, card: Card) -> Any:
    return person.post(f"{SESSIONS}/{session.pk}/debate")


ACTIONS = [_add, _regenerate, _say, _chat, _merge, _debate]
Act = Callable[[CouncilClient, Session, Card], Any]


@pytest.mark.parametrize("act", ACTIONS)
def test_whatever_cannot_be_paid_for_leaves_the_council_as_it_was(act: Act) -> None:
    alice = new_council_client()
    session, cards = alice.council("Deep.", "Very deep.", model=BALANCE_ONLY)
    _spend_all(alice)
    before = alice.session(session.pk)

    answer = act(alice, session, cards[0])

    assert answer.status_code == 402
    assert answer.json()["detail"].keys() == BASE
    assert answer.json()["detail"]["code"] == "insufficient_balance"
    assert alice.session(session.pk) == before


@pytest.mark.parametrize("act", ACTIONS)
def test_on_the_free_plan_a_council_is_read_and_not_gone_on_with(act: Act) -> None:
    alice = new_council_client()
    session, cards = alice.council("Deep.", "Very deep.")
    balance.change_plan(account=alice.user, plan="free", forced=True)

    answer = act(alice, session, cards[0])

    assert answer.status_code == 402
    assert answer.json()["detail"]["code"] == "plan_required"
    assert alice.session(session.pk)["status"] == "completed"
    assert alice.post(f"{CARDS}/{cards[0].pk}/restore", version=1).status_code == 200
    assert alice.client.delete(f"{CARDS}/{cards[0].pk}").status_code == 204


def test_a_chat_goes_to_those_cards_that_can_be_paid_for() -> None:
    alice = new_council_client()
    session, _ = alice.council("Deep.", "Very deep.")
    with_balance, _ = alice.council("Deep.", model=BALANCE_ONLY)
    Card.objects.filter(session=with_balance).update(session=session)
    Generation.objects.filter(session=with_balance).update(session=session)
    _spend_all(alice)

    answer = alice.post(f"{SESSIONS}/{session.pk}/chat", content=QUESTION)

    assert answer.status_code == 202
    *asked, refused = answer.json()["cards"]
    assert {card["status"] for card in asked} <= set(UNDERWAY)
    assert (refused["status"], refused["current_version"]) == ("failed", 2)
    assert refused["error"]["code"] == "insufficient_balance"


def test_a_debate_needs_two_that_can_be_paid_for() -> None:
    alice = new_council_client()
    session, _ = alice.council("Deep.")
    other, _ = alice.council("Very deep.", model=BALANCE_ONLY)
    Card.objects.filter(session=other).update(session=session)
    Generation.objects.filter(session=other).update(session=session)
    _spend_all(alice)

    answer = alice.post(f"{SESSIONS}/{session.pk}/debate")

    assert answer.status_code == 402
    assert alice.session(session.pk)["activity"] is None


def test_a_model_that_has_left_the_catalog_is_503() -> None:
    alice = new_council_client()
    _, [card] = alice.council("Deep.")
    Generation.objects.filter(card=card).update(model="gone-model")

    assert alice.post(f"{CARDS}/{card.pk}/regenerate").status_code == 503
    answer = alice.post(f"{CARDS}/{card.pk}/regenerate", model_key=IN_PLAN)
    assert answer.status_code == 202
    assert answer.json()["model"] == IN_PLAN


def test_too_many_calls_at_once_are_429(settings: Settings) -> None:
    settings.MAX_RUNNING_CALLS = 3
    alice = new_council_client()
    for _ in range(2):
        Job.objects.create(id=uuid4(), kind="none", account=alice.user, status="running")

    refused = alice.post(SESSIONS, prompt=QUESTION, models=[IN_PLAN, IN_PLAN])
    admitted = alice.post(SESSIONS, prompt=QUESTION, models=[IN_PLAN])

    Job.objects.filter(account=alice.user, kind="none").delete()
    assert refused.status_code == 429
    assert refused.headers["Retry-After"] == "5"
    assert isinstance(refused.json()["detail"], str)
    assert admitted.status_code == 201
    assert Session.objects.filter(account=alice.user).count() == 1


def test_calls_that_are_over_or_others_do_not_count(settings: Settings) -> None:
    settings.MAX_RUNNING_CALLS = 1
    alice, bob = new_council_client(), new_council_client("bob")
    alice.council("Deep.", "Very deep.")
    sessions.start(user=bob.user, prompt=QUESTION, models=[IN_PLAN])

    assert alice.post(SESSIONS, prompt=QUESTION, models=[IN_PLAN]).status_code == 201


def _spend_all(person: CouncilClient) -> None:
    """Nothing is left in the balance."""
    left = person.user.wallet.balance
    balance.adjust(operation_id=uuid7(), account=person.user, delta=-left, reason="test")


def _has_nothing(person: CouncilClient) -> bool:
    rows = [each._default_manager.filter(account=person.user) for each in (Session, Job)]
    return not any(found.exists() for found in [*rows, session_streams(person.user)])
