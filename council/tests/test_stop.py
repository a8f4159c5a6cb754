"""POST /api/council/cards/{id}/stop and /sessions/{id}/stop: what has come is kept and billed."""

from typing import Any

import pytest
from django.db import transaction

from ai.generations.endings import release_readers
from ai.generations.types import Completion
from ai.inference.errors import CallCancelled, CallInterrupted, UpstreamFailed
from billing.models import Charge
from billing.tests.bank import IN_PLAN
from council.models import Card, Session
from council.services import debates, merges, sessions, stopping
from council.services.completion import CARD
from council.tests import log, manual
from council.tests.council_client import (
    CARDS,
    QUESTION,
    SESSIONS,
    CouncilClient,
    new_council_client,
)
from council.types import MergeMode
from events.tests.streams import user_events
from work.jobs.models import Job

pytestmark = pytest.mark.usefixtures("committed", "providers")


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


def begun(person: CouncilClient, cards: int = 1) -> tuple[Session, list[Card], list[manual.Call]]:
    """A council whose calls have come as far as to their providers."""
    with transaction.atomic():
        session = sessions.start(user=person.user, prompt=QUESTION, models=[IN_PLAN] * cards)
        dealt = list(session.cards.order_by("id"))
        return session, dealt, [manual.begin(card) for card in dealt]


def release(call: manual.Call, text: str = "") -> None:
    """Release the readers of a stopped call that goes on."""
    stopped = Completion(content=text, failure=CallCancelled())
    release_readers(CARD, call_id=call.job_id, attempt=1, completion=stopped)


def signal(call: manual.Call) -> str:
    return Job.objects.get(pk=call.job_id).signal


def statuses(person: CouncilClient, session: Session) -> list[str]:
    return [card["status"] for card in person.session(session.pk)["cards"]]


def charges(call: manual.Call) -> list[Charge]:
    return list(Charge.objects.filter(pk=call.job_id))


# --- A card ---------------------------------------------------------------------------------------


def test_a_card_that_is_written_is_asked_to_stop_and_keeps_its_text(alice: CouncilClient) -> None:
    session, [card, _], [call, other] = begun(alice, 2)
    call.say("Dee")

    answer = alice.post(f"{CARDS}/{card.pk}/stop")

    assert (answer.status_code, answer.json()["content"]) == (202, "Dee")
    assert (signal(call), signal(other)) == ("cancel", "")
    call.settle("Deep", CallCancelled())
    other.settle("Blue.")
    state, _ = alice.session(session.pk)["cards"]
    assert (state["status"], state["content"], state["error"]) == ("cancelled", "Deep", None)
    assert state["cost_usd"] > 0
    assert [charge.status for charge in charges(call)] == ["settled"]
    assert alice.session(session.pk)["status"] == "completed"


def test_one_that_waits_is_never_made(alice: CouncilClient) -> None:
    with transaction.atomic():
        session = sessions.start(user=alice.user, prompt=QUESTION, models=[IN_PLAN])
        card = session.cards.get()
        answer = alice.post(f"{CARDS}/{card.pk}/stop")
    assert (answer.status_code, answer.json()["status"]) == (202, "cancelled")
    assert alice.session(session.pk)["status"] == "cancelled"
    assert log.types(session.pk)[-3:] == ["card.cancelled", "usage.updated", "session.updated"]
    assert not Charge.objects.filter(account=alice.user).exists()


def test_one_that_a_worker_has_taken_is_not_made_either(alice: CouncilClient) -> None:
    with transaction.atomic():
        session = sessions.start(user=alice.user, prompt=QUESTION, models=[IN_PLAN])
        card = session.cards.get()
        call = manual.take(card)
        alice.post(f"{CARDS}/{card.pk}/stop")
        with pytest.raises(CallCancelled):
            call.prepare()
        call.give_up(CallCancelled())
    assert statuses(alice, session) == ["cancelled"]


def test_a_card_at_rest_stays_as_it_is(alice: CouncilClient) -> None:
    session, [card] = alice.council("Deep.")
    before = alice.session(session.pk)

    answer = alice.post(f"{CARDS}/{card.pk}/stop")

    assert (answer.status_code, answer.json()) == (200, before["cards"][0])
    assert alice.session(session.pk) == before


def test_its_user_is_not_kept_waiting_for_a_call_that_goes_on(alice: CouncilClient) -> None:
    """A model that thinks unseen is read to its end, for nobody knows before what it costs."""
    session, [card], [call] = begun(alice)
    alice.post(f"{CARDS}/{card.pk}/stop")
    release_readers(
        CARD,
        call_id=call.job_id,
        attempt=1,
        completion=Completion(content="Dee", failure=CallCancelled()),
    )
    cancelled = alice.session(session.pk)
    assert (cancelled["status"], statuses(alice, session)) == ("cancelled", ["cancelled"])
    assert (cancelled["cards"][0]["content"], cancelled["cost_usd"]) == ("Dee", 0)

    call.settle("Deep and deeper", CallCancelled())

    after = alice.session(session.pk)
    assert (after["cards"][0]["content"], statuses(alice, session)) == ("Dee", ["cancelled"])
    assert after["cost_usd"] == after["cards"][0]["cost_usd"] > 0
    assert log.types(session.pk)[-2:] == ["card.updated", "usage.updated"]
    assert log.types(session.pk).count("card.cancelled") == 1
    assert user_events(alice.user)[-1][1]["council"]["cost_usd"] == after["cost_usd"]


def test_it_can_be_written_anew_while_the_old_call_goes_on(alice: CouncilClient) -> None:
    session, [card], [call] = begun(alice)
    alice.post(f"{CARDS}/{card.pk}/stop")
    release_readers(
        CARD, call_id=call.job_id, attempt=1, completion=Completion(failure=CallCancelled())
    )
    with transaction.atomic():
        sessions.regenerate(user=alice.user, card_id=card.pk)
        again = manual.begin(card)
    call.settle("Deep", CallCancelled())
    assert statuses(alice, session) == ["running"]
    again.settle("Very deep.")
    [state] = alice.session(session.pk)["cards"]
    assert (state["content"], state["current_version"]) == ("Very deep.", 2)


def test_one_whose_worker_dies_after_it_was_stopped_has_not_failed(alice: CouncilClient) -> None:
    session, [card], [call] = begun(alice)
    call.say("Dee")
    alice.post(f"{CARDS}/{card.pk}/stop")
    call.on_lost()
    [state] = alice.session(session.pk)["cards"]
    assert (state["status"], state["content"]) == ("cancelled", "Dee")


def test_a_merge_that_was_stopped_is_given_to_no_other_model(alice: CouncilClient) -> None:
    session, _ = alice.council("Deep.", "Blue.")
    with transaction.atomic():
        card = merges.merge(user=alice.user, session_id=session.pk, mode=MergeMode.FUSE)
        call = manual.begin(card)
    alice.post(f"{CARDS}/{card.pk}/stop")
    call.release(UpstreamFailed())
    assert statuses(alice, session)[-1] == "failed"
    assert log.types(session.pk)[-1] == "session.completed"


def test_others_cards_and_removed_ones_are_404(alice: CouncilClient) -> None:
    session, [card] = alice.council("Deep.")
    bob = new_council_client("bob")
    assert bob.post(f"{CARDS}/{card.pk}/stop").status_code == 404
    assert bob.post(f"{SESSIONS}/{session.pk}/stop").status_code == 404
    alice.client.delete(f"{CARDS}/{card.pk}")
    assert alice.post(f"{CARDS}/{card.pk}/stop").status_code == 404


# --- A council ------------------------------------------------------------------------------------


def test_all_of_a_council_is_stopped(alice: CouncilClient) -> None:
    session, _, calls = begun(alice, 2)
    calls[0].settle("Deep.")
    with transaction.atomic():
        added = sessions.add_card(user=alice.user, session_id=session.pk, model=IN_PLAN)
        assert stopping.stop_session(user=alice.user, session_id=session.pk)
    assert alice.post(f"{SESSIONS}/{session.pk}/stop").status_code == 202
    assert signal(calls[1]) == "cancel"
    calls[1].settle("Bl", CallCancelled())
    assert statuses(alice, session) == ["completed", "cancelled", "cancelled"]
    assert alice.session(session.pk)["status"] == "completed"
    assert len(Charge.objects.filter(account=alice.user)) == len(calls)
    assert alice.session(session.pk)["cards"][-1]["id"] == str(added.pk)


def test_one_at_rest_stays_as_it_is(alice: CouncilClient) -> None:
    session, _ = alice.council("Deep.")
    before = alice.session(session.pk)
    answer = alice.post(f"{SESSIONS}/{session.pk}/stop")
    assert (answer.status_code, answer.json()) == (200, before)
    assert alice.session(session.pk) == before


def test_a_debate_that_is_stopped_begins_no_further_round(alice: CouncilClient) -> None:
    """Two of three have revised their answers by then: enough for another round."""
    session, cards = alice.council("Deep.", "Blue.", "Wet.")
    with transaction.atomic():
        debates.debate(user=alice.user, session_id=session.pk, rounds=3)
        first, second, third = (manual.begin(card) for card in cards)
    first.settle(manual.revised("Deeper.", errors="It is not."))
    second.settle(manual.revised("Bluer.", errors="It is not."))

    alice.post(f"{SESSIONS}/{session.pk}/stop")
    third.settle("", CallCancelled())

    after = alice.session(session.pk)
    assert (after["status"], after["activity"]) == ("completed", None)
    assert [card["content"] for card in after["cards"]] == ["Deeper.", "Bluer.", "Wet."]
    assert log.types(session.pk)[-2:] == ["debate.completed", "session.completed"]


def test_a_debate_goes_on_without_a_card_that_was_stopped(alice: CouncilClient) -> None:
    session, cards = alice.council("Deep.", "Blue.", "Wet.")
    with transaction.atomic():
        debates.debate(user=alice.user, session_id=session.pk, rounds=2)
        first, second, third = (manual.begin(card) for card in cards)
        stopping.stop_card(user=alice.user, card_id=cards[2].pk)
        third.settle("", CallCancelled())
        first.settle(manual.revised("Deeper.", errors="It is not."))
        second.settle(manual.revised("Bluer.", errors="It is not."))
        manual.finish_all(session)
    rounds = log.data_of(session.pk, "debate.round.completed")
    assert [len(ended["positions"]) for ended in rounds] == [3, 2]
    assert alice.session(session.pk)["status"] == "completed"


def test_a_merge_of_the_whole_is_stopped(alice: CouncilClient) -> None:
    session, _ = alice.council("Deep.", "Blue.")
    with transaction.atomic():
        card = merges.merge(user=alice.user, session_id=session.pk, mode=MergeMode.FUSE)
        call = manual.begin(card)
    alice.post(f"{SESSIONS}/{session.pk}/stop")
    call.settle("Deep bl", CallCancelled())
    merged: dict[str, Any] = alice.session(session.pk)["cards"][-1]
    assert (merged["status"], merged["content"]) == ("cancelled", "Deep bl")
    assert "merge.failed" in log.types(session.pk)


def test_one_that_was_interrupted_for_another_reason_has_failed(alice: CouncilClient) -> None:
    session, _, [call] = begun(alice)
    call.settle("Dee", CallInterrupted())
    assert alice.session(session.pk)["status"] == "failed"
