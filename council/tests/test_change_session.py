"""PATCH and DELETE /api/council/sessions/{id}: rename and delete a council."""

from typing import Any

import pytest
from django.db import transaction
from websockets.sync.client import connect

from ai.inference.errors import CallCancelled, CallInterrupted
from billing.models import Charge
from billing.tests.bank import IN_PLAN
from council.models import Card, Generation, Session, Turn, Version
from council.services import sessions
from council.tests import log, manual
from council.tests.council_client import (
    CARDS,
    QUESTION,
    SESSIONS,
    CouncilClient,
    new_council_client,
)
from events.models import Event, Stream
from events.tests.sockets import close_code, token_of
from events.tests.streams import user_events
from tests.service import Web
from work.jobs.models import Job

pytestmark = pytest.mark.usefixtures("committed", "providers")


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


def rename(person: CouncilClient, session: Session, **body: Any) -> Any:
    return person.client.patch(f"{SESSIONS}/{session.pk}", body, format="json")


def delete(person: CouncilClient, session: Session) -> Any:
    return person.client.delete(f"{SESSIONS}/{session.pk}")


# --- Its title ------------------------------------------------------------------------------------


def test_a_council_has_another_title(alice: CouncilClient) -> None:
    session, _ = alice.council("Deep.")
    answer = rename(alice, session, title="The Sea")
    assert (answer.status_code, answer.json()["title"]) == (200, "The Sea")
    assert answer.json() == alice.session(session.pk)
    assert alice.get(SESSIONS).json()[0]["title"] == "The Sea"
    assert user_events(alice.user)[-1][1]["council"]["title"] == "The Sea"


def test_a_finished_one_is_not_completed_once_more(alice: CouncilClient) -> None:
    session, _ = alice.council("Deep.")
    rename(alice, session, title="The Sea")
    types = log.types(session.pk)
    assert types.count("session.completed") == 1
    assert types[-1] == "session.updated"
    assert log.data_of(session.pk, "session.updated")[-1]["session"]["status"] == "completed"


def test_an_empty_one_is_the_first_line_of_the_question(alice: CouncilClient) -> None:
    session, _ = alice.council("Deep.")
    rename(alice, session, title="The Sea")
    assert rename(alice, session, title="").json()["title"] == "How deep is the sea?"


def test_without_a_title_nothing_changes(alice: CouncilClient) -> None:
    session, _ = alice.council("Deep.")
    before = alice.session(session.pk)
    assert rename(alice, session).json() == rename(alice, session, prompt="x").json() == before
    assert alice.session(session.pk) == before


@pytest.mark.parametrize("title", [None, 1, ["x"], "x" * 201])
def test_what_is_no_title_is_422(alice: CouncilClient, title: Any) -> None:
    session, _ = alice.council("Deep.")
    answer = rename(alice, session, title=title)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["title"]


# --- Deleting -------------------------------------------------------------------------------------


def test_a_deleted_council_is_gone_and_what_it_cost_stays(alice: CouncilClient) -> None:
    session, [card, _] = alice.council("Deep.", "Blue.")
    charges = list(Charge.objects.filter(account=alice.user).values())

    answer = delete(alice, session)

    assert (answer.status_code, answer.content) == (204, b"")
    assert alice.get(SESSIONS).json() == []
    for path in (
        f"{SESSIONS}/{session.pk}",
        f"{SESSIONS}/{session.pk}/events",
        f"{CARDS}/{card.pk}/versions",
        f"{CARDS}/{card.pk}/export",
    ):
        assert alice.get(path).status_code == 404
    assert delete(alice, session).status_code == 404
    assert list(Charge.objects.filter(account=alice.user).values()) == charges
    assert len(alice.get("/api/users/me/usage").json()) == 2


def test_nothing_of_it_is_left(alice: CouncilClient) -> None:
    session, cards = alice.council("Deep.", "Blue.")
    with transaction.atomic():
        sessions.regenerate(user=alice.user, card_id=cards[0].pk)
        manual.answer(cards[0], "Deeper.")
    delete(alice, session)
    for model in (Card, Generation, Turn):
        assert not model._default_manager.filter(session=session.pk).exists()
    assert not Version.objects.filter(card__in=cards).exists()
    assert not Stream.objects.filter(pk=session.pk).exists()
    assert not Event.objects.filter(stream=session.pk).exists()
    assert user_events(alice.user)[-1] == ("council.deleted", {"council_id": str(session.pk)})


@pytest.mark.parametrize("failure", [CallCancelled(), CallInterrupted(), None])
def test_calls_that_run_end_and_are_billed_once(alice: CouncilClient, failure: Any) -> None:
    with transaction.atomic():
        session = sessions.start(user=alice.user, prompt=QUESTION, models=[IN_PLAN] * 2)
        running, waiting = session.cards.order_by("id")
        call = manual.begin(running)
        unmade = Generation.objects.get(card=waiting).pk
        assert delete(alice, session).status_code == 204
    jobs = {job.pk: job for job in Job.objects.filter(account=alice.user)}
    assert jobs[call.job_id].signal == "cancel"
    assert jobs[unmade].status == "cancelled"

    call.settle("Deep.", failure)

    assert Charge.objects.get(account=alice.user).status == "settled"
    assert Job.objects.get(pk=call.job_id).ended_at is not None


def test_a_call_that_is_not_made_yet_is_not_made(alice: CouncilClient) -> None:
    with transaction.atomic():
        session = sessions.start(user=alice.user, prompt=QUESTION, models=[IN_PLAN])
        call = manual.take(session.cards.get())
        delete(alice, session)
        with pytest.raises(CallCancelled):
            call.prepare()
        call.give_up(CallCancelled())
    assert Job.objects.get(pk=call.job_id).status == "cancelled"


def test_one_whose_worker_dies_after_it_is_ended_by_the_sweep(alice: CouncilClient) -> None:
    with transaction.atomic():
        session = sessions.start(user=alice.user, prompt=QUESTION, models=[IN_PLAN])
        call = manual.begin(session.cards.get())
        delete(alice, session)
    call.on_lost()
    assert Job.objects.get(pk=call.job_id).status == "cancelled"


def test_its_sockets_are_closed(alice: CouncilClient, web: Web) -> None:
    session, _ = alice.council("Deep.")
    base = web.url.replace("http", "ws")
    url = f"{base}/api/council/ws/{session.pk}?token={token_of(alice.user)}"
    with connect(url) as socket:
        delete(alice, session)
        assert close_code(socket, timeout=4) == 4403


def test_a_start_that_is_sent_again_finds_that_it_was_deleted(alice: CouncilClient) -> None:
    body = {"prompt": QUESTION, "models": [IN_PLAN]}
    first = alice.post(SESSIONS, key="one", **body)
    alice.client.delete(f"{SESSIONS}/{first.json()['id']}")
    again = alice.post(SESSIONS, key="one", **body)
    assert (again.status_code, Session.objects.filter(account=alice.user).count()) == (404, 0)
    manual.finish_all(Session(pk=first.json()["id"]))


def test_others_councils_are_404(alice: CouncilClient) -> None:
    session, _ = alice.council("Deep.")
    bob = new_council_client("bob")
    assert delete(bob, session).status_code == rename(bob, session, title="x").status_code == 404
    assert alice.session(session.pk)["title"] == "How deep is the sea?"
