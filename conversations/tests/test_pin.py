"""PATCH /api/conversations/{id} {pinned}: some conversations stand before all others."""

from typing import Any
from uuid import UUID

import pytest

from common.ids import uuid7
from conftest import Persona
from conversations.models import Conversation, Space
from conversations.tests.rows import talk

CONVERSATIONS = "/api/conversations"


def pin(persona: Persona, conversation: Conversation, pinned: object = True) -> Any:
    return persona.client.patch(
        f"{CONVERSATIONS}/{conversation.pk}", {"pinned": pinned}, format="json"
    )


def ids(persona: Persona, **query: Any) -> list[str]:
    return [row["id"] for row in persona.client.get(CONVERSATIONS, query).json()]


def said_again(conversation: Conversation) -> None:
    Conversation.objects.filter(pk=conversation.pk).update(activity=uuid7())


def test_a_pinned_one_stands_before_all_others(alice: Persona) -> None:
    a, b, c = (talk(alice.user, "How deep?") for _ in range(3))

    answer = pin(alice, a)

    assert (answer.status_code, answer.json()["pinned"]) == (200, True)
    assert ids(alice) == [str(a.pk), str(c.pk), str(b.pk)]
    assert alice.client.get(CONVERSATIONS).json()[0]["pinned"] is True
    said_again(b)
    assert ids(alice) == [str(a.pk), str(b.pk), str(c.pk)]


def test_pinned_ones_are_in_the_order_of_what_was_said(alice: Persona) -> None:
    a, b, _ = (talk(alice.user, "How deep?") for _ in range(3))
    pin(alice, a)
    pin(alice, b)
    assert ids(alice)[:2] == [str(b.pk), str(a.pk)]

    said_again(a)

    assert ids(alice)[:2] == [str(a.pk), str(b.pk)]


def test_it_can_be_taken_back_and_is_no_activity(alice: Persona) -> None:
    a, b = (talk(alice.user, "How deep?") for _ in range(2))
    before = alice.client.get(f"{CONVERSATIONS}/{a.pk}").json()
    pin(alice, a)

    assert pin(alice, a, False).json()["pinned"] is False

    assert ids(alice) == [str(b.pk), str(a.pk)]
    assert alice.client.get(f"{CONVERSATIONS}/{a.pk}").json() == before


@pytest.mark.parametrize("limit", [1, 2, 3, 5])
def test_pages_go_from_pinned_ones_to_the_others(alice: Persona, limit: int) -> None:
    talks = [talk(alice.user, "How deep?") for _ in range(6)]
    for each in talks[1::2]:
        pin(alice, each)
    seen: list[str] = []
    path: str | None = f"{CONVERSATIONS}?limit={limit}"
    while path:
        answer = alice.client.get(path)
        seen += [row["id"] for row in answer.json()]
        path = answer.headers.get("Link", "").partition(">")[0].strip("<")

    assert seen == ids(alice)
    assert len(set(seen)) == 6
    assert ids(alice, before=seen[2]) == seen[3:]


def test_a_page_leads_on_when_its_last_row_was_pinned_or_deleted_meanwhile(
    alice: Persona,
) -> None:
    a, b, c = (talk(alice.user, "How deep?") for _ in range(3))
    page = alice.client.get(CONVERSATIONS, {"limit": 2})
    way_on = page.headers["Link"].partition(">")[0].strip("<")
    assert [row["id"] for row in page.json()] == [str(c.pk), str(b.pk)]

    pin(alice, b)
    assert [row["id"] for row in alice.client.get(way_on).json()] == [str(a.pk)]

    b.delete()
    assert [row["id"] for row in alice.client.get(way_on).json()] == [str(a.pk)]


def test_a_space_begins_with_its_pinned_ones(alice: Persona) -> None:
    space = Space.objects.create(account=alice.user, name="Sea")
    a, b = (talk(alice.user, "How deep?", space=space) for _ in range(2))
    pin(alice, a)

    assert ids(alice, space_id=space.pk) == [str(a.pk), str(b.pk)]


@pytest.mark.parametrize("pinned", ["yes", 1, None, []])
def test_what_is_no_flag_is_422(alice: Persona, pinned: object) -> None:
    answer = pin(alice, talk(alice.user), pinned)

    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["pinned"])


@pytest.mark.parametrize("place", ["", "x", "True", f"maybe.{UUID(int=7)}", "True.x", "True.x.y"])
def test_a_place_that_is_none_is_422(alice: Persona, place: str) -> None:
    answer = alice.client.get(CONVERSATIONS, {"place": place})

    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["place"])
