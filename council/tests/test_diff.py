"""GET /api/council/cards/{id}/diff: what differs between two cards, or two versions of one."""

from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction

from council.models import Card
from council.services import sessions
from council.tests import manual
from council.tests.council_client import CARDS, CouncilClient, new_council_client

pytestmark = pytest.mark.usefixtures("committed", "providers")


@pytest.fixture
def alice(committed: None) -> CouncilClient:
    return new_council_client()


def diff(person: CouncilClient, card: Card, **query: Any) -> Any:
    return person.get(f"{CARDS}/{card.pk}/diff", **query)


def rewrite(person: CouncilClient, card: Card, text: str) -> None:
    with transaction.atomic():
        sessions.regenerate(user=person.user, card_id=card.pk)
        manual.answer(card, text)


def test_two_cards_are_compared_by_lines(alice: CouncilClient) -> None:
    _, [left, right] = alice.council("One.\nTwo.\n", "One.\nThree.\n")

    answer = diff(alice, left)

    assert answer.status_code == 200
    assert answer.json() == {
        "left": {"card_id": str(left.pk), "version": 1, "model": "gpt-6-luna"},
        "right": {"card_id": str(right.pk), "version": 1, "model": "gpt-6-luna"},
        "hunks": [
            {"op": "equal", "text": "One.\n"},
            {"op": "delete", "text": "Two.\n"},
            {"op": "insert", "text": "Three.\n"},
        ],
        "unified": "--- left\n+++ right\n@@ -1,2 +1,2 @@\n One.\n-Two.\n+Three.\n",
        "stats": {"added": 1, "removed": 1, "similarity": 0.4545},
    }


def test_words_and_lines_without_the_text_beside_can_be_had(alice: CouncilClient) -> None:
    _, [left, right] = alice.council("The deep sea.", "The blue sea.")

    words = diff(alice, left, against=right.pk, format="words").json()
    lines = diff(alice, left, against=right.pk, format="json").json()

    assert [hunk["text"] for hunk in words["hunks"]] == ["The ", "deep", "blue", " sea."]
    assert [hunk["text"] for hunk in lines["hunks"]] == ["The deep sea.", "The blue sea."]
    assert words["unified"] is lines["unified"] is None


def test_two_versions_of_a_card_are_compared(alice: CouncilClient) -> None:
    _, [card, _] = alice.council("Deep.", "Blue.")
    rewrite(alice, card, "Very deep.")

    answer = diff(alice, card, version=1, against_version=2).json()

    assert [hunk["text"] for hunk in answer["hunks"]] == ["Deep.", "Very deep."]
    assert (answer["left"]["version"], answer["right"]["version"]) == (1, 2)
    assert answer["right"]["card_id"] == str(card.pk)


def test_versions_of_two_cards_are_compared(alice: CouncilClient) -> None:
    _, [left, right, _] = alice.council("Deep.", "Blue.", "Wet.")
    rewrite(alice, right, "Green.")

    then = diff(alice, left, against=right.pk, against_version=1).json()
    now = diff(alice, left, against=right.pk).json()

    assert then["hunks"][-1]["text"] == "Blue."
    assert now["hunks"][-1]["text"] == "Green."


@pytest.mark.parametrize("answers", [["Deep."], ["Deep.", "Blue.", "Wet."]])
def test_the_other_card_has_to_be_named_where_it_is_not_clear(
    alice: CouncilClient, answers: list[str]
) -> None:
    _, cards = alice.council(*answers)

    answer = diff(alice, cards[0], version=1)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["against"]


def test_a_removed_card_is_no_other_card(alice: CouncilClient) -> None:
    _, [left, right, gone] = alice.council("Deep.", "Blue.", "Wet.")
    alice.client.delete(f"{CARDS}/{gone.pk}")

    assert diff(alice, left).json()["right"]["card_id"] == str(right.pk)
    assert diff(alice, left, against=gone.pk).status_code == 404


def test_a_card_of_another_council_or_of_bob_is_404(alice: CouncilClient) -> None:
    _, [card, _] = alice.council("Deep.", "Blue.")
    _, [elsewhere] = alice.council("Wet.")
    _, [bobs] = new_council_client("bob").council("Salty.")

    for other in (elsewhere.pk, bobs.pk, uuid4()):
        answer = diff(alice, card, against=other)
        assert answer.status_code == 404
        assert answer.json()["detail"] == "This council has no such card."


@pytest.mark.parametrize("query", [{"version": 2}, {"against_version": 2}])
def test_an_unknown_version_is_404(alice: CouncilClient, query: dict[str, int]) -> None:
    _, [card, _] = alice.council("Deep.", "Blue.")

    assert diff(alice, card, **query).status_code == 404


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("against", "no-id"),
        ("against", "\0"),
        ("version", "0"),
        ("version", "-1"),
        ("version", "one"),
        ("version", "9" * 2000),
        ("against_version", "1.5"),
        ("format", "html"),
        ("format", ""),
    ],
)
def test_a_query_that_is_none_is_422_and_named(alice: CouncilClient, name: str, value: str) -> None:
    _, [card, _] = alice.council("Deep.", "Blue.")

    answer = diff(alice, card, **{name: value})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == [name]


def test_a_card_that_is_being_written_is_compared_as_far_as_it_has_come(
    alice: CouncilClient,
) -> None:
    with transaction.atomic():
        _, [card, other] = alice.council("Deep.", "Deep and")
        sessions.regenerate(user=alice.user, card_id=card.pk)
        call = manual.begin(card)
        call.say("Deep and")

    answer = diff(alice, other).json()

    assert answer["hunks"] == [{"op": "equal", "text": "Deep and"}]
    call.settle("Deep and blue.")
