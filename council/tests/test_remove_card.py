"""DELETE /api/council/cards/{id}: remove a card."""

import pytest
from django.db import transaction

from ai.inference.errors import CallCancelled
from billing.tests.bank import IN_PLAN
from council.models import Generation
from council.services import sessions
from council.tests import log, manual
from council.tests.council_client import (
    CARDS,
    QUESTION,
    SESSIONS,
    CouncilClient,
    new_council_client,
)
from work.jobs.models import Job

pytestmark = pytest.mark.usefixtures("committed", "providers")


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


def test_it_is_gone_and_what_it_cost_stays(alice: CouncilClient) -> None:
    session, [card, other] = alice.council("Deep.", "Blue.")
    cost = alice.session(session.pk)["cost_usd"]

    answer = alice.client.delete(f"{CARDS}/{card.pk}")

    assert (answer.status_code, answer.content) == (204, b"")
    after = alice.session(session.pk)
    assert [each["id"] for each in after["cards"]] == [str(other.pk)]
    assert after["cost_usd"] == cost > 0
    assert alice.client.delete(f"{CARDS}/{card.pk}").status_code == 404
    [row] = alice.get(SESSIONS).json()
    assert (row["models"], row["cost_usd"]) == ([IN_PLAN], cost)


def test_a_call_that_waits_is_never_made(alice: CouncilClient) -> None:
    with transaction.atomic():
        session = sessions.start(user=alice.user, prompt=QUESTION, models=[IN_PLAN])
        card = session.cards.get()
        answer = alice.client.delete(f"{CARDS}/{card.pk}")

    call = Generation.objects.get(card=card)
    assert answer.status_code == 204
    assert (call.status, Job.objects.get(pk=call.pk).status) == ("cancelled", "cancelled")
    assert alice.session(session.pk)["status"] == "cancelled"


def test_a_council_without_any_card_is_cancelled_and_not_completed(alice: CouncilClient) -> None:
    session, [card] = alice.council("Deep.")
    assert alice.session(session.pk)["status"] == "completed"

    alice.client.delete(f"{CARDS}/{card.pk}")

    assert alice.session(session.pk)["status"] == "cancelled"
    assert log.types(session.pk)[-2:] == ["card.removed", "session.updated"]


def test_a_call_that_runs_is_asked_to_stop(alice: CouncilClient) -> None:
    session, [card, _] = alice.council("Deep.", "Blue.")
    with transaction.atomic():
        sessions.regenerate(user=alice.user, card_id=card.pk)
        call = manual.begin(card)

    alice.client.delete(f"{CARDS}/{card.pk}")

    assert Job.objects.get(pk=call.job_id).signal == "cancel"
    assert alice.session(session.pk)["status"] == "running"
    call.release(CallCancelled())
