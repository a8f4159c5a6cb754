"""GET /api/council/cards/{id}/versions, and POST .../restore."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from ai.inference.errors import UpstreamFailed
from billing.tests.bank import BALANCE_ONLY, IN_PLAN
from common.money import usd
from council.models import Card, Version
from council.services import conversation, sessions
from council.tests import log, manual
from council.tests.council_client import CARDS, CouncilClient, new_council_client
from council.types import MAX_RESTORATIONS, MAX_RESTORATIONS_PER_DAY, MAX_VERSIONS

pytestmark = pytest.mark.usefixtures("committed", "providers")


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


@pytest.fixture
def card(alice: CouncilClient) -> Card:
    _, [card] = alice.council("Deep.")
    return card


def versions(person: CouncilClient, card: Card) -> list[dict[str, Any]]:
    answer = person.get(f"{CARDS}/{card.pk}/versions")
    assert answer.status_code == 200
    rows: list[dict[str, Any]] = answer.json()
    return rows


def restore(person: CouncilClient, card: Card, version: Any) -> Any:
    return person.post(f"{CARDS}/{card.pk}/restore", version=version)


def rewrite(person: CouncilClient, card: Card, text: str | None) -> None:
    """Written again by a model that the balance pays for; without a text it fails."""
    with transaction.atomic():
        sessions.regenerate(user=person.user, card_id=card.pk, model=BALANCE_ONLY)
        if text is None:
            manual.begin(card).release(UpstreamFailed())
        else:
            manual.answer(card, text)


def test_versions_are_listed_newest_first(alice: CouncilClient, card: Card) -> None:
    rewrite(alice, card, "Very deep.")
    restore(alice, card, 1)

    third, second, first = versions(alice, card)

    assert [row["version"] for row in (third, second, first)] == [3, 2, 1]
    assert [row["source"] for row in (third, second, first)] == ["restore", "regenerate", "initial"]
    assert [row["model"] for row in (third, second, first)] == [IN_PLAN, BALANCE_ONLY, IN_PLAN]
    assert [row["is_current"] for row in (third, second, first)] == [True, False, False]
    assert [row["restored_from"] for row in (third, second, first)] == [1, None, None]
    assert set(first) == {
        "version",
        "source",
        "instructions",
        "model",
        "status",
        "finish_reason",
        "error",
        "restored_from",
        "usage",
        "cost_usd",
        "is_current",
        "details",
        "created_at",
    }


def test_what_versions_cost_adds_up_to_what_the_card_costs(
    alice: CouncilClient, card: Card
) -> None:
    rewrite(alice, card, "Very deep.")
    rewrite(alice, card, None)
    answer = restore(alice, card, 2).json()

    restored, failed, second, first = versions(alice, card)

    assert (restored["cost_usd"], failed["cost_usd"]) == (0, 0)
    assert restored["usage"] == second["usage"]
    assert failed["usage"] is None
    assert second["cost_usd"] == usd(2 * manual.COST)
    total = sum(row["cost_usd"] for row in (restored, failed, second, first))
    assert answer["cost_usd"] == pytest.approx(total, abs=1e-12)


def test_a_restored_version_is_the_current_one(alice: CouncilClient, card: Card) -> None:
    rewrite(alice, card, "Very deep.")

    answer = restore(alice, card, 1)

    assert answer.status_code == 200
    state = answer.json()
    assert (state["current_version"], state["source"], state["content"]) == (3, "restore", "Deep.")
    assert (state["model"], state["status"]) == (IN_PLAN, "completed")


def test_a_version_that_is_shown_already_is_not_restored(alice: CouncilClient, card: Card) -> None:
    rewrite(alice, card, "Very deep.")
    restore(alice, card, 1)
    before = alice.session(card.session_id)

    answers = [restore(alice, card, version) for version in (3, 1)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert [answer.json() for answer in answers] == before["cards"] * 2
    assert alice.session(card.session_id) == before
    assert len(versions(alice, card)) == 3


def test_a_version_has_the_instructions_it_was_written_with(
    alice: CouncilClient, card: Card
) -> None:
    with transaction.atomic():
        sessions.regenerate(user=alice.user, card_id=card.pk, instructions="Shorter.")
        manual.answer(card, "Dee.")
    restore(alice, card, 1)
    restore(alice, card, 2)

    instructions = [row["instructions"] for row in versions(alice, card)]

    assert instructions == ["Shorter.", None, "Shorter.", None]
    [begun] = log.data_of(card.session_id, "card.version.created")
    assert begun["version"]["instructions"] == "Shorter."


def test_the_thread_goes_on_from_where_the_restored_version_stood(
    alice: CouncilClient, card: Card
) -> None:
    with transaction.atomic():
        conversation.message_card(user=alice.user, card_id=card.pk, content="How blue?")
        manual.answer(card, "Blue.")
    restore(alice, card, 1)

    thread = alice.get(f"{CARDS}/{card.pk}/messages").json()

    assert [said["content"] for said in thread][1:] == ["Deep."]


@pytest.mark.parametrize("version", [2, 10**12, 10**90])
def test_an_unknown_version_is_404(alice: CouncilClient, card: Card, version: int) -> None:
    assert restore(alice, card, version).status_code == 404
    assert len(versions(alice, card)) == 1


@pytest.mark.parametrize("version", [0, -1, 1.0, 1.5, "1", True, None, [1]])
def test_what_is_no_version_is_422(alice: CouncilClient, card: Card, version: Any) -> None:
    answer = restore(alice, card, version)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["version"]


def test_a_version_without_a_finished_answer_is_409(alice: CouncilClient, card: Card) -> None:
    rewrite(alice, card, None)
    rewrite(alice, card, "Deep.")

    assert restore(alice, card, 2).status_code == 409


def test_while_the_card_is_written_nothing_is_restored(alice: CouncilClient, card: Card) -> None:
    with transaction.atomic():
        sessions.regenerate(user=alice.user, card_id=card.pk)
        call = manual.begin(card)

    assert restore(alice, card, 1).status_code == 409
    call.settle("Very deep.")


def fill(card: Card, source: Version.Source, *, versions: int, days: int = 0) -> None:
    """Let the card have so many versions, of which those from the third on came about like this,
    and so long ago."""
    generation = card.versions.get(number=2).generation
    Version.objects.bulk_create(
        Version(card=card, number=number, source=source, generation=generation)
        for number in range(3, versions + 1)
    )
    made_at = timezone.now() - timedelta(days=days)
    card.versions.filter(number__gt=2).update(created_at=made_at)
    Card.objects.filter(pk=card.pk).update(current=card.versions.get(number=versions))


def test_a_card_has_at_most_100_versions_and_they_can_be_restored(
    alice: CouncilClient, card: Card
) -> None:
    rewrite(alice, card, "Very deep.")
    fill(card, Version.Source.REGENERATE, versions=MAX_VERSIONS)

    for path, body in (("regenerate", {}), ("messages", {"content": "More."})):
        answer = alice.post(f"{CARDS}/{card.pk}/{path}", **body)
        assert (answer.status_code, path) == (409, path)
    assert len(versions(alice, card)) == MAX_VERSIONS
    assert restore(alice, card, 1).status_code == 200


def test_restoring_uses_up_no_versions(alice: CouncilClient, card: Card) -> None:
    rewrite(alice, card, "Very deep.")
    fill(card, Version.Source.RESTORE, versions=3 * MAX_VERSIONS, days=2)

    assert restore(alice, card, 1).json()["current_version"] == 3 * MAX_VERSIONS + 1
    rewrite(alice, card, "Bottomless.")
    assert restore(alice, card, 2).status_code == 200


def test_too_many_restorations_in_a_day_have_to_wait(alice: CouncilClient, card: Card) -> None:
    rewrite(alice, card, "Very deep.")
    fill(card, Version.Source.RESTORE, versions=MAX_RESTORATIONS_PER_DAY + 1)
    assert restore(alice, card, 1).status_code == 200

    answer = restore(alice, card, 2)

    assert (answer.status_code, answer.json()["code"]) == (429, "too_many_restorations")
    assert 0 < int(answer.headers["Retry-After"]) <= 86_400
    rewrite(alice, card, "Bottomless.")


def test_a_card_is_restored_at_most_1000_times(alice: CouncilClient, card: Card) -> None:
    rewrite(alice, card, "Very deep.")
    fill(card, Version.Source.RESTORE, versions=MAX_RESTORATIONS + 1, days=2)
    assert restore(alice, card, 1).status_code == 200

    answer = restore(alice, card, 2)

    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_versions")
    assert "Add a new card" in answer.json()["detail"]
    rewrite(alice, card, "Bottomless.")


# --- Texts and pages ------------------------------------------------------------------------------


def test_texts_come_where_they_are_asked_for(alice: CouncilClient, card: Card) -> None:
    rewrite(alice, card, "Very deep.")
    restore(alice, card, 1)
    with transaction.atomic():
        sessions.regenerate(user=alice.user, card_id=card.pk)
        call = manual.begin(card)
    call.say("As far as I can ")

    rows = alice.get(f"{CARDS}/{card.pk}/versions", include="content").json()

    texts = [row.pop("content") for row in rows]
    assert texts == ["As far as I can ", "Deep.", "Very deep.", "Deep."]
    assert rows == versions(alice, card)
    call.settle("As far as I can see.")


@pytest.mark.parametrize(
    "query", [{}, {"include": "content"}, {"limit": 7}, {"limit": 7, "include": "content"}]
)
def test_pages_lead_to_the_first_version(
    alice: CouncilClient, card: Card, query: dict[str, Any]
) -> None:
    rewrite(alice, card, "Very deep.")
    fill(card, Version.Source.REGENERATE, versions=50)
    numbers, sizes, page = [], [], alice.get(f"{CARDS}/{card.pk}/versions", **query)
    while True:
        rows = page.json()
        sizes.append(len(rows))
        numbers += [row["version"] for row in rows]
        if "Link" not in page.headers:
            break
        page = alice.client.get(page.headers["Link"].partition(">")[0].strip("<"))
    assert numbers == list(range(50, 0, -1))
    most = 20 if "include" in query else 100
    assert sizes[0] == min(50, most, query.get("limit", most))


@pytest.mark.parametrize(
    "query",
    [{"include": "usage"}, {"include": ""}, {"limit": 0}, {"limit": "ten"}, {"before": "x"}],
)
def test_what_is_asked_for_wrongly_is_422(
    alice: CouncilClient, card: Card, query: dict[str, Any]
) -> None:
    answer = alice.get(f"{CARDS}/{card.pk}/versions", **query)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == list(query)
