"""PATCH /api/conversations/{id}: renaming, moving, showing another branch."""

from typing import Any
from uuid import uuid4

import pytest

from conftest import Persona
from conversations.models import Conversation, Space
from conversations.tests.rows import MODEL, talk
from conversations.types import MAX_SYSTEM, MAX_TITLE

CONVERSATIONS = "/api/conversations"


def change(persona: Persona, conversation: Conversation, **body: Any) -> Any:
    return persona.client.patch(f"{CONVERSATIONS}/{conversation.pk}", body, format="json")


def test_only_what_is_named_is_changed(alice: Persona) -> None:
    space = Space.objects.create(account=alice.user, name="Sea")
    sea = talk(alice.user, "How deep?", title="Sea", system="Be brief.")
    before = change(alice, sea).json()

    options = {"title": "Ocean", "model": MODEL, "space_id": str(space.pk), "system": ""}
    for name, option in options.items():
        answer = change(alice, sea, **{name: option})
        assert answer.status_code == 200
        before |= {name: option}
        assert answer.json() == before


def test_a_title_is_the_users_from_then_on(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?", title="Sea", title_source="model")
    change(alice, sea, system="Be brief.")
    sea.refresh_from_db()
    assert sea.title_source == "model"

    change(alice, sea, title="Ocean")

    sea.refresh_from_db()
    assert (sea.title, sea.title_source) == ("Ocean", "user")


@pytest.mark.parametrize("nothing", ["", " \u202e\n", None])
def test_without_a_title_it_is_called_after_its_first_message(
    alice: Persona, nothing: str | None
) -> None:
    sea = talk(alice.user, "How\tdeep?\nI wonder.", "Very.", title="Sea", title_source="user")

    assert change(alice, sea, title=nothing).json()["title"] == "How deep?"

    sea.refresh_from_db()
    assert sea.title_source == "first_message"


def test_a_title_is_one_line_of_what_is_seen(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?")

    changed = change(alice, sea, title=" Se\u202ea\n👩\u200d👧\x1b ").json()

    assert changed["title"] == "Sea 👩\u200d👧"


def test_instructions_of_null_are_none(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?", system="Be brief.")

    assert change(alice, sea, system=None).json()["system"] == ""


def test_null_takes_it_out_of_its_space_and_leaves_the_model_open(alice: Persona) -> None:
    space = Space.objects.create(account=alice.user, name="Sea")
    sea = talk(alice.user, "How deep?", space=space, model=MODEL)

    changed = change(alice, sea, space_id=None, model=None).json()

    assert (changed["space_id"], changed["model"]) == (None, None)


def test_another_branch_is_shown(alice: Persona) -> None:
    sea = talk(alice.user, "How deep?", "Very.", "How blue?", "Deeply.")
    first_reply = sea.messages.order_by("id")[1]

    changed = change(alice, sea, active_leaf_id=str(first_reply.pk)).json()

    assert changed["active_leaf_id"] == str(first_reply.pk)
    sea.refresh_from_db()
    assert sea.leaf_id == first_reply.pk


def test_renaming_is_no_activity(alice: Persona) -> None:
    first, second = (talk(alice.user, "How deep?") for _ in range(2))
    before = change(alice, first).json()["updated_at"]

    changed = change(alice, first, title="Sea", model=MODEL, space_id=None, system="Brief.").json()

    assert changed["updated_at"] == before
    listed = [row["id"] for row in alice.client.get(CONVERSATIONS).json()]
    assert listed == [str(second.pk), str(first.pk)]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"title": "x" * (MAX_TITLE + 1)}, "title"),
        ({"model": "gpt-0"}, "model"),
        ({"space_id": "sea"}, "space_id"),
        ({"system": "x" * (MAX_SYSTEM + 1)}, "system"),
        ({"active_leaf_id": None}, "active_leaf_id"),
        ({"active_leaf_id": "sea"}, "active_leaf_id"),
        ({"active_leaf_id": 7}, "active_leaf_id"),
    ],
)
def test_what_is_not_allowed_is_422(alice: Persona, body: dict[str, Any], field: str) -> None:
    sea = talk(alice.user, "How deep?")
    before = change(alice, sea).json()

    answer = change(alice, sea, **body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == [field]
    assert change(alice, sea).json() == before


def test_a_message_of_another_conversation_is_not_there(alice: Persona) -> None:
    sea, other = talk(alice.user, "How deep?"), talk(alice.user, "How high?")

    for message_id in (other.leaf_id, uuid4()):
        answer = change(alice, sea, active_leaf_id=str(message_id))
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
        assert "active_leaf_id" in answer.json()["detail"]


def test_a_space_of_somebody_else_is_not_there(alice: Persona, bob: Persona) -> None:
    space = Space.objects.create(account=bob.user, name="Sea")
    sea = talk(alice.user, "How deep?")

    for space_id in (space.pk, uuid4()):
        answer = change(alice, sea, title="Ocean", space_id=str(space_id))
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert change(alice, sea).json()["title"] == ""


def test_one_of_somebody_else_is_not_there(alice: Persona, bob: Persona) -> None:
    sea = talk(alice.user, "How deep?", title="Sea")

    assert change(bob, sea, title="Ocean").status_code == 404
    sea.refresh_from_db()
    assert sea.title == "Sea"
