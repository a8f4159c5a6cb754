"""GET /api/council/sessions/{id}: a council with its cards."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from ai.inference.errors import UpstreamFailed
from council.models import Generation
from council.services import sessions
from council.tests import manual
from council.tests.council_client import SESSIONS, CouncilClient, new_council_client
from events.models import Event

pytestmark = pytest.mark.usefixtures("committed", "providers")


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


def test_it_has_the_cards_oldest_first_with_text_and_usage(alice: CouncilClient) -> None:
    session, cards = alice.council("Deep.", "Blue.")

    found = alice.session(session.pk)

    assert [card["id"] for card in found["cards"]] == [str(card.pk) for card in cards]
    assert [card["content"] for card in found["cards"]] == ["Deep.", "Blue."]
    assert (found["status"], found["activity"]) == ("completed", None)
    first = found["cards"][0]
    assert (first["usage"]["input_tokens"], first["usage"]["output_tokens"]) == (5, 10)
    paid = first["usage"]["paid_by_plan_usd"] + first["usage"]["paid_by_balance_usd"]
    assert first["cost_usd"] == paid > 0
    assert found["cost_usd"] == pytest.approx(2 * paid, abs=1e-12)


def test_it_is_as_of_the_last_event(alice: CouncilClient) -> None:
    session, _ = alice.council("Deep.")

    assert alice.session(session.pk)["last_seq"] == Event.objects.filter(stream=session.pk).count()


def test_a_card_that_is_being_written_has_its_text_so_far(alice: CouncilClient) -> None:
    session, [card] = alice.council("Deep.")
    with transaction.atomic():
        sessions.regenerate(user=alice.user, card_id=card.pk)
        call = manual.begin(card)
        call.say("Very de")

    found = alice.session(session.pk)

    assert (found["status"], found["activity"]) == ("running", "answering")
    [running] = found["cards"]
    assert (running["status"], running["content"]) == ("running", "Very de")
    assert running["usage"] is None
    call.settle("Very deep.")


def test_a_card_that_has_failed_says_why(alice: CouncilClient) -> None:
    session, [card, _] = alice.council("Deep.", "Blue.")
    with transaction.atomic():
        sessions.regenerate(user=alice.user, card_id=card.pk)
        manual.begin(card).release(UpstreamFailed())

    found = alice.session(session.pk)

    error = {"code": UpstreamFailed.code, "message": UpstreamFailed.message}
    assert (found["cards"][0]["status"], found["cards"][0]["error"]) == ("failed", error)
    assert found["status"] == "completed"


def test_more_cards_and_calls_take_no_more_queries(alice: CouncilClient) -> None:
    small, _ = alice.council("Deep.")
    large, _ = alice.council(*["Deep."] * 8)
    counts = []
    for session in (small, large):
        with CaptureQueriesContext(connection) as queries:
            alice.session(session.pk)
        counts.append(len(queries))

    assert Generation.objects.filter(session=large).count() == 8
    assert counts[0] == counts[1] <= 12


@pytest.mark.parametrize("method", ["put", "post"])
def test_a_council_is_not_changed_this_way(alice: CouncilClient, method: str) -> None:
    session, _ = alice.council("Deep.")

    answer = getattr(alice.client, method)(f"{SESSIONS}/{session.pk}", {}, format="json")

    assert answer.status_code == 405
