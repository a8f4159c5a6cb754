"""All of a user's devices are told what their list of councils shows now."""

from typing import Any

import pytest

from billing.tests.bank import IN_PLAN
from council.services import sessions
from council.tests import hand
from council.tests.desk import QUESTION, SESSIONS, Desk, new_desk
from events.tests.streams import told
from inference.errors import CallCancelled

pytestmark = pytest.mark.usefixtures("providers")


@pytest.fixture
def desk(db: None) -> Desk:
    return new_desk()


def rows(desk: Desk) -> list[dict[str, Any]]:
    return [data["council"] for _, data in told(desk.user)]


def types(desk: Desk) -> list[str]:
    return [kind for kind, _ in told(desk.user)]


def in_list(desk: Desk) -> dict[str, Any]:
    [row] = desk.get(SESSIONS).json()
    return dict(row)


def test_a_new_council_comes_as_its_row(desk: Desk) -> None:
    desk.post(SESSIONS, prompt=QUESTION, models=[IN_PLAN, "kimi-k3"])
    assert types(desk) == ["council.created"]
    assert rows(desk) == [in_list(desk)]


def test_its_end_is_told_once_and_no_word_of_it(desk: Desk) -> None:
    desk.council("Deep.", "Very deep.")
    assert types(desk) == ["council.created", "council.updated"]
    assert rows(desk)[-1] == in_list(desk)
    assert [row["status"] for row in rows(desk)] == ["running", "completed"]


def test_each_change_of_its_row_is_told(desk: Desk) -> None:
    council, [card, other] = desk.council("Deep.", "Very deep.")
    for change in (
        lambda: sessions.add_card(user=desk.user, session_id=council.pk, model="kimi-k3"),
        lambda: hand.finish_all(council),
        lambda: sessions.regenerate(user=desk.user, card_id=card.pk, model="kimi-k3"),
        lambda: hand.finish_all(council),
        lambda: sessions.restore(user=desk.user, card_id=card.pk, number=1),
        lambda: sessions.remove(user=desk.user, card_id=other.pk),
    ):
        before = len(told(desk.user))
        change()
        assert types(desk)[before:] == ["council.updated"]
        assert rows(desk)[-1] == in_list(desk)


def test_an_estimate_is_not_told(desk: Desk) -> None:
    desk.post(f"{SESSIONS}/estimate", prompt=QUESTION, models=[IN_PLAN])
    assert told(desk.user) == []


def test_so_is_what_a_removed_card_has_cost_when_its_call_ends(desk: Desk) -> None:
    _, [card, other] = desk.council("Deep.", "Very deep.")
    calls = []
    for each in (card, other):
        sessions.regenerate(user=desk.user, card_id=each.pk)
        calls.append(hand.begin(each))
    sessions.remove(user=desk.user, card_id=card.pk)
    before = rows(desk)[-1]["cost_usd"]

    calls[0].settle("Dee", CallCancelled())

    assert rows(desk)[-1] == in_list(desk)
    assert rows(desk)[-1]["cost_usd"] > before
    calls[1].settle("Deeper.")
