"""How calls end: their charge, their text and their events together, once."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from ai.inference.errors import AnswerInterrupted, CallCancelled, UpstreamFailed
from ai.provider_health.errors import ProviderNotAvailable
from ai.providers.types import FinishReason
from billing.tests import bank
from common.errors import ServiceUnavailable
from common.ids import uuid7
from common.money import usd
from council.errors import NothingToAnswer
from council.models import Card, Session, Status
from council.selectors.cards import CardState, get_card, live_cards, state_of
from council.selectors.versions import list_versions
from council.services import conversation, sessions
from council.tests import manual
from council.tests.owner import BALANCE_ONLY
from events.models import Event
from tests.personas import new_user
from work.jobs.models import Job


@pytest.fixture
def alice(db: None) -> User:
    return new_user("alice", plan="max", balance_usd=5)


@pytest.fixture
def council(alice: User) -> Session:
    """Of one card, paid from the balance at twice the cost."""
    return sessions.start(user=alice, prompt="How deep is the sea?", models=[BALANCE_ONLY])


@pytest.fixture
def card(council: Session) -> Card:
    return council.cards.get()


def test_an_answer_is_written_with_its_charge(council: Session, card: Card) -> None:
    manual.answer(card, "Deep.")

    state = _state(card)
    made = state.version.generation
    assert (made.status, state.content, made.error) == ("completed", "Deep.", None)
    assert state.cost == 2 * manual.COST
    assert _told(council) == [
        "session.created",
        "card.created",
        "card.started",
        "card.delta",
        "card.completed",
        "usage.updated",
        "session.completed",
    ]


def test_what_was_told_before_is_not_told_again_at_the_end(council: Session, card: Card) -> None:
    call = manual.begin(card)
    call.say("Deep 🌊")

    call.settle("Deep 🌊, very deep.")

    assert _deltas(council) == [(0, "Deep 🌊"), (6, ", very deep.")]


@pytest.mark.parametrize("reason", ["stop", "length", "content_filter"])
def test_an_answer_says_why_its_model_stopped(
    council: Session, card: Card, alice: User, reason: FinishReason
) -> None:
    call = manual.begin(card)
    assert _last(council, "card.started")["card"]["finish_reason"] is None

    call.settle("Deep, ve", finish=reason)

    assert _state(card).version.generation.finish_reason == reason
    assert _last(council, "card.completed")["card"]["finish_reason"] == reason
    [listed] = list_versions(alice, get_card(alice, card.pk))
    assert listed.version.generation.finish_reason == reason


def test_a_failed_call_has_no_such_reason(council: Session, card: Card) -> None:
    manual.begin(card).settle("Deep, ", AnswerInterrupted())

    assert _last(council, "card.failed")["card"]["finish_reason"] is None


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_call_that_ends_well_without_any_text_has_failed_and_is_billed(
    council: Session, card: Card, alice: User, text: str
) -> None:
    call = manual.begin(card)
    call.settle(text, finish="length")

    assert (bank.charge_of(call.job_id).failure or {})["code"] == "no_text"
    state = _state(card)
    made = state.version.generation
    assert (made.status, state.content, state.cost) == ("failed", text, 2 * manual.COST)
    failed = _last(council, "card.failed")["card"]
    assert (failed["error"]["code"], failed["error"]["finish_reason"]) == ("no_text", "length")
    assert failed["finish_reason"] is None
    [listed] = list_versions(alice, get_card(alice, card.pk))
    assert listed.version.generation.error == failed["error"]
    with pytest.raises(NothingToAnswer):
        conversation.message_card(user=alice, card_id=card.pk, content="And how blue?")


def test_an_end_that_is_repeated_happens_once(council: Session, card: Card, alice: User) -> None:
    call = manual.begin(card)
    call.settle("Deep.")
    before = _told(council), bank.wallet_of(alice).balance

    assert call.settle("Deep.").billed == 2 * manual.COST

    assert (_told(council), bank.wallet_of(alice).balance) == before


def test_a_call_whose_worker_died_is_billed_once_to_its_checkpoint(
    council: Session, card: Card, alice: User
) -> None:
    call = manual.begin(card)
    call.say("Deep, ")
    call.save(cost=3000)

    call.on_lost()

    state = _state(card)
    made = state.version.generation
    assert (made.status, state.content) == ("failed", "Deep, ")
    assert made.error is not None
    assert made.error["code"] == "interrupted"
    assert state.cost == 6000
    assert bank.charge_of(call.job_id).status == "expired"
    assert _told(council)[-3:] == ["card.failed", "usage.updated", "session.updated"]
    council.refresh_from_db()
    assert council.status == Status.FAILED


def test_a_worker_that_comes_back_changes_nothing(
    council: Session, card: Card, alice: User
) -> None:
    call = manual.begin(card)
    call.save(cost=3000)
    call.on_lost()
    before = _told(council), bank.wallet_of(alice).balance, _state(card)

    resolution = call.settle("Deep, very deep.")

    assert resolution.taken_over
    assert (_told(council), bank.wallet_of(alice).balance, _state(card)) == before


def test_a_call_that_is_found_twice_is_ended_as_lost_once(council: Session, card: Card) -> None:
    call = manual.begin(card)
    call.on_lost()
    before = _told(council)

    call.on_lost()

    assert _told(council) == before


def test_a_call_that_has_ended_is_not_ended_as_lost(card: Card) -> None:
    call = manual.begin(card)
    call.settle("Deep.")

    call.on_lost()

    assert _state(card).version.generation.status == "completed"


def test_a_call_whose_worker_died_before_it_held_costs_nothing(card: Card) -> None:
    call = manual.take(card)
    call.prepare()

    call.on_lost()

    assert (_state(card).version.generation.status, _state(card).cost) == ("failed", 0)


def test_an_interrupted_answer_is_kept_and_billed(card: Card) -> None:
    manual.begin(card).settle("Deep, ", AnswerInterrupted())

    state = _state(card)
    made = state.version.generation
    assert (made.status, state.content, state.cost) == ("failed", "Deep, ", 2 * manual.COST)
    assert made.error == {"code": "upstream_error", "message": AnswerInterrupted.message}


def test_a_failure_before_any_output_costs_nothing(council: Session, card: Card) -> None:
    manual.begin(card).release(UpstreamFailed())

    state = _state(card)
    made = state.version.generation
    assert (made.status, state.content, state.cost, state.usage) == ("failed", "", 0, None)
    assert _told(council)[-3:] == ["card.failed", "usage.updated", "session.updated"]


def test_a_fault_of_ours_in_mid_answer_keeps_what_was_told_and_saved(card: Card) -> None:
    call = manual.begin(card)
    call.say("Deep, ")
    call.save(cost=3000)

    call.give_up(ServiceUnavailable())

    state = _state(card)
    made = state.version.generation
    assert (made.status, state.content, state.cost) == ("failed", "Deep, ", 6000)
    assert bank.charge_of(call.job_id).status == "expired"


def test_a_model_that_has_gone_from_the_catalog_is_not_available(card: Card) -> None:
    call = manual.take(card)
    card.generations.update(model="gone")

    with pytest.raises(ProviderNotAvailable) as refusal:
        call.prepare()
    call.give_up(refusal.value)

    error = _state(card).version.generation.error
    assert error is not None
    assert error["code"] == "provider_unavailable"


def test_a_preparation_that_is_repeated_is_told_once(council: Session, card: Card) -> None:
    call = manual.take(card)
    assert call.prepare() is not None

    assert call.prepare() is not None

    assert _told(council).count("card.started") == 1


def test_an_attempt_that_has_lost_its_job_prepares_nothing(council: Session, card: Card) -> None:
    call = manual.take(card)
    Job.objects.filter(pk=call.job_id).update(attempt=2)

    assert call.prepare() is None

    assert "card.started" not in _told(council)


def test_a_call_whose_charge_was_expired_in_the_meantime_was_interrupted(card: Card) -> None:
    call = manual.begin(card)
    call.say("Deep")
    call.save(manual.COST)
    assert bank.expire(call.job_id) == "resolved"

    resolution = call.settle("Deep, very deep.")

    assert resolution.taken_over
    state = _state(card)
    made = state.version.generation
    assert (made.status, state.content) == ("failed", "Deep, very deep.")
    assert made.error is not None
    assert made.error["code"] == "interrupted"
    assert state.cost == 2 * manual.COST


def test_a_card_that_waits_is_removed_at_once(council: Session, card: Card, alice: User) -> None:
    sessions.remove(user=alice, card_id=card.pk)

    job = Job.objects.get(pk=card.generations.get().pk)
    assert job.status == Job.Status.CANCELLED
    assert _told(council)[-3:] == ["card.removed", "usage.updated", "session.updated"]
    council.refresh_from_db()
    assert (council.status, council.activity) == (Status.CANCELLED, "")


def test_a_card_that_is_being_written_is_removed_and_its_call_stopped(
    council: Session, card: Card, alice: User
) -> None:
    call = manual.begin(card)
    call.say("Deep, ")

    sessions.remove(user=alice, card_id=card.pk)

    assert Job.objects.get(pk=call.job_id).signal == Job.Signal.CANCEL
    assert _told(council)[-1] == "card.removed"
    council.refresh_from_db()
    assert council.status == Status.RUNNING

    call.settle("Deep, very", CallCancelled())

    assert _told(council)[-2:] == ["usage.updated", "session.updated"]
    assert not live_cards().filter(session=council).exists()
    assert _last(council, "usage.updated") == {"cost_usd": usd(2 * manual.COST)}


def test_a_card_that_is_removed_just_before_its_call_is_never_called_for(
    council: Session, card: Card, alice: User
) -> None:
    call = manual.take(card)
    sessions.remove(user=alice, card_id=card.pk)

    with pytest.raises(CallCancelled) as refusal:
        call.prepare()
    call.give_up(refusal.value)

    assert _told(council)[-3:] == ["card.removed", "usage.updated", "session.updated"]
    assert Job.objects.get(pk=call.job_id).status == Job.Status.CANCELLED


def test_removing_one_of_two_keeps_the_council_running(alice: User) -> None:
    council = sessions.start(user=alice, prompt="How deep?", models=[BALANCE_ONLY] * 2)
    first, second = council.cards.order_by("id")

    sessions.remove(user=alice, card_id=first.pk)
    assert _told(council)[-2:] == ["card.removed", "usage.updated"]

    manual.answer(second, "Deep.")
    assert _told(council)[-1] == "session.completed"


# A card of it has no version: all that the service deals have one.
@pytest.mark.parametrize("makes_up_events", [True])
def test_the_added_card_is_the_one_that_was_added_whatever_the_clocks_say(
    council: Session, alice: User
) -> None:
    ahead = Card.objects.create(session=council, id=uuid7(timezone.now() + timedelta(seconds=5)))

    added = sessions.add_card(user=alice, session_id=council.pk, model=BALANCE_ONLY)

    assert added != ahead


def test_a_council_whose_cards_all_failed_has_failed(council: Session, card: Card) -> None:
    manual.begin(card).release(UpstreamFailed())

    council.refresh_from_db()
    assert council.status == Status.FAILED


def test_a_regenerated_card_heals_a_failed_council(
    council: Session, card: Card, alice: User
) -> None:
    manual.begin(card).release(UpstreamFailed())
    sessions.regenerate(user=alice, card_id=card.pk)
    manual.answer(card, "Deep.")

    council.refresh_from_db()
    assert council.status == Status.COMPLETED
    state = _state(card)
    assert (state.version.number, state.version.source, state.cost) == (
        2,
        "regenerate",
        2 * manual.COST,
    )


def test_restoring_costs_nothing(council: Session, card: Card, alice: User) -> None:
    manual.answer(card, "Deep.")
    sessions.regenerate(user=alice, card_id=card.pk)
    manual.answer(card, "Very deep.")

    sessions.restore(user=alice, card_id=card.pk, number=1)

    state = _state(card)
    assert (state.version.number, state.version.source, state.content) == (3, "restore", "Deep.")
    assert state.cost == 4 * manual.COST
    assert _told(council)[-2:] == ["card.restored", "card.delta"]


def _state(card: Card) -> CardState:
    card = live_cards().get(pk=card.pk)
    return state_of(card.session.account, card, with_text=True)


def _told(council: Session) -> list[str]:
    return list(_events(council).values_list("type", flat=True))


def _deltas(council: Session) -> list[tuple[int, str]]:
    deltas = _events(council).filter(type="card.delta").values_list("data", flat=True)
    return [(data["offset"], data["text"]) for data in map(json.loads, deltas)]


def _last(council: Session, kind: str) -> Any:
    event = _events(council).filter(type=kind).last()
    assert event is not None
    return json.loads(event.data)


def _events(council: Session) -> Any:
    return Event.objects.filter(stream=council.pk).order_by("seq")
