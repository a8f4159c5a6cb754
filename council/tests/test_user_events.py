"""All of a user's devices are told what their list of councils shows now."""

from typing import Any

import pytest

from ai.inference.errors import CallCancelled
from billing.tests.bank import IN_PLAN
from council.services import sessions
from council.tests import manual
from council.tests.council_client import QUESTION, SESSIONS, CouncilClient, new_council_client
from events.tests.streams import user_events

pytestmark = pytest.mark.usefixtures("providers")


@pytest.fixture
def person(db: None) -> CouncilClient:
    return new_council_client()


def rows(person: CouncilClient) -> list[dict[str, Any]]:
    return [data["council"] for _, data in user_events(person.user)]


def types(person: CouncilClient) -> list[str]:
    return [kind for kind, _ in user_events(person.user)]


def in_list(person: CouncilClient) -> dict[str, Any]:
    [row] = person.get(SESSIONS).json()
    return dict(row)


def test_a_new_council_comes_as_its_row(person: CouncilClient) -> None:
    person.post(SESSIONS, prompt=QUESTION, models=[IN_PLAN, "kimi-k3"])
    assert types(person) == ["council.created"]
    assert rows(person) == [in_list(person)]


def test_its_end_is_told_once_and_no_word_of_it(person: CouncilClient) -> None:
    person.council("Deep.", "Very deep.")
    assert types(person) == ["council.created", "council.updated"]
    assert rows(person)[-1] == in_list(person)
    assert [row["status"] for row in rows(person)] == ["running", "completed"]


def test_each_change_of_its_row_is_told(person: CouncilClient) -> None:
    council, [card, other] = person.council("Deep.", "Very deep.")
    for change in (
        lambda: sessions.add_card(user=person.user, session_id=council.pk, model="kimi-k3"),
        lambda: manual.finish_all(council),
        lambda: sessions.regenerate(user=person.user, card_id=card.pk, model="kimi-k3"),
        lambda: manual.finish_all(council),
        lambda: sessions.restore(user=person.user, card_id=card.pk, number=1),
        lambda: sessions.remove(user=person.user, card_id=other.pk),
    ):
        before = len(user_events(person.user))
        change()
        assert types(person)[before:] == ["council.updated"]
        assert rows(person)[-1] == in_list(person)


def test_an_estimate_is_not_told(person: CouncilClient) -> None:
    person.post(f"{SESSIONS}/estimate", prompt=QUESTION, models=[IN_PLAN])
    assert user_events(person.user) == []


def test_so_is_what_a_removed_card_has_cost_when_its_call_ends(person: CouncilClient) -> None:
    _, [card, other] = person.council("Deep.", "Very deep.")
    calls = []
    for each in (card, other):
        sessions.regenerate(user=person.user, card_id=each.pk)
        calls.append(manual.begin(each))
    sessions.remove(user=person.user, card_id=card.pk)
    before = rows(person)[-1]["cost_usd"]

    calls[0].settle("Dee", CallCancelled())

    assert rows(person)[-1] == in_list(person)
    assert rows(person)[-1]["cost_usd"] > before
    calls[1].settle("Deeper.")
