"""POST /api/conversations: beginning a conversation."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from ai.catalog.models import Alias
from common.ids import uuid7
from conftest import Persona
from conversations.models import Conversation, Space
from conversations.tests.rows import MODEL
from conversations.types import (
    MAX_CONVERSATIONS,
    MAX_CONVERSATIONS_PER_DAY,
    MAX_SYSTEM,
    MAX_TITLE,
)

CONVERSATIONS = "/api/conversations"
_MANY = """
INSERT INTO conversations_conversation
    (id, account_id, title, title_source, model, system, activity)
SELECT gen_random_uuid(), %s, '', 'first_message', '', '', gen_random_uuid()
  FROM generate_series(1, %s)
"""


def begin(persona: Persona, **body: Any) -> Any:
    return persona.client.post(CONVERSATIONS, body, format="json")


def test_it_begins_with_nothing_said(alice: Persona) -> None:
    answer = begin(alice)

    assert answer.status_code == 201
    conversation = answer.json()
    assert conversation == {
        "id": conversation["id"],
        "title": "",
        "model": None,
        "space_id": None,
        "active_leaf_id": None,
        "running_message_id": None,
        "pinned": False,
        "access": "owner",
        "system": "",
        "created_at": conversation["created_at"],
        "updated_at": conversation["created_at"],
    }
    detail = alice.client.get(f"{CONVERSATIONS}/{conversation['id']}").json()
    assert detail == {**conversation, "messages": []}


def test_it_takes_title_model_space_and_instructions(alice: Persona) -> None:
    space = Space.objects.create(account=alice.user, name="Sea")

    answer = begin(
        alice, title=" The sea ", model=MODEL, space_id=str(space.pk), system="Be brief."
    )

    conversation = answer.json()
    assert {key: conversation[key] for key in ("title", "model", "space_id", "system")} == {
        "title": "The sea",
        "model": MODEL,
        "space_id": str(space.pk),
        "system": "Be brief.",
    }


def test_a_title_that_is_given_is_the_users_for_ever(alice: Persona) -> None:
    given = begin(alice, title="The sea").json()["id"]
    assert Conversation.objects.get(pk=given).title_source == "user"

    for nothing in ("", " \u202e ", None):
        left = begin(alice, title=nothing, system=None).json()["id"]
        assert Conversation.objects.get(pk=left).title_source == "first_message"


def test_a_legacy_alias_is_kept_as_the_model_that_it_is(alice: Persona) -> None:
    alias = Alias.objects.filter(model__modality="chat").first()
    assert alias is not None

    assert begin(alice, model=alias.name).json()["model"] == alias.model_id


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"title": "x" * (MAX_TITLE + 1)}, "title"),
        ({"title": 7}, "title"),
        ({"model": "gpt-0"}, "model"),
        ({"model": "gpt-image-2"}, "model"),
        ({"model": ""}, "model"),
        ({"model": 7}, "model"),
        ({"space_id": "sea"}, "space_id"),
        ({"space_id": 7}, "space_id"),
        ({"space_id": 7.5}, "space_id"),
        ({"system": "x" * (MAX_SYSTEM + 1)}, "system"),
        ({"system": ["x"]}, "system"),
    ],
)
def test_what_is_not_allowed_is_422(alice: Persona, body: dict[str, Any], field: str) -> None:
    answer = begin(alice, **body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == [field]
    assert not Conversation.objects.exists()


@pytest.mark.parametrize("body", [[], "x", 7, None])
def test_a_body_that_is_no_object_is_422(alice: Persona, body: Any) -> None:
    assert alice.client.post(CONVERSATIONS, body, format="json").status_code in (201, 422)
    assert Conversation.objects.count() == (body is None)


def test_a_space_of_somebody_else_is_not_there(alice: Persona, bob: Persona) -> None:
    space = Space.objects.create(account=bob.user, name="Sea")

    for space_id in (space.pk, uuid4()):
        answer = begin(alice, space_id=str(space_id))
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
        assert "space_id" in answer.json()["detail"]
    assert not Conversation.objects.exists()


def test_there_are_only_so_many_conversations(alice: Persona) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_MANY, (alice.user.pk, MAX_CONVERSATIONS))

    answer = begin(alice)

    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_conversations")


def test_the_last_conversation_of_a_day_is_begun_and_one_more_is_429(
    alice: Persona, bob: Persona
) -> None:
    _begun(alice, MAX_CONVERSATIONS_PER_DAY - 1, hours_ago=23)
    assert begin(alice).status_code == 201

    answer = begin(alice)

    assert (answer.status_code, answer.json()["code"]) == (429, "too_many_new_conversations")
    assert 3500 < int(answer.headers["Retry-After"]) <= 3600
    assert begin(bob).status_code == 201
    Conversation.objects.filter(account=alice.user).last().delete()  # type: ignore[union-attr]
    assert begin(alice).status_code == 201


def test_conversations_of_the_day_before_do_not_count(alice: Persona) -> None:
    gone_on_in, _ = _begun(alice, 2, hours_ago=24)
    Conversation.objects.filter(pk=gone_on_in.pk).update(activity=uuid7())
    _begun(alice, MAX_CONVERSATIONS_PER_DAY - 1, hours_ago=0)

    assert begin(alice).status_code == 201
    assert begin(alice).status_code == 429


def test_it_needs_a_token(visitor: Any) -> None:
    assert visitor.post(CONVERSATIONS, {}, format="json").status_code == 401


def _begun(persona: Persona, count: int, *, hours_ago: int) -> list[Conversation]:
    moment = timezone.now() - timedelta(hours=hours_ago)
    return Conversation.objects.bulk_create(
        Conversation(
            id=uuid7(moment), account=persona.user, activity=uuid7(moment), created_at=moment
        )
        for _ in range(count)
    )
