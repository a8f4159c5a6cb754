"""POST, GET and DELETE /api/conversations/{id}/share"""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from common.ids import uuid7
from common.redaction import redact
from conftest import Persona
from conversations.models import Attachment, Conversation, Message, Share
from conversations.selectors.sharing import share_token
from conversations.services import sharing
from conversations.tests.rows import ASSISTANT, MODEL, add, talk
from media.files.models import Upload
from tests.personas import new_user

ROOT = "/api/conversations"
MODEL_NAME = "GPT-6 Luna"
SHOWN = {"role", "content", "model", "model_name", "created_at", "has_files"}


def path(conversation_id: UUID) -> str:
    return f"{ROOT}/{conversation_id}/share"


def share(persona: Persona, conversation: Conversation) -> Any:
    return persona.client.post(path(conversation.pk))


def read(link: dict[str, Any]) -> Any:
    """What whoever has the link gets."""
    return APIClient().get(f"{ROOT}/shared/{link['share_token']}")


def texts(link: dict[str, Any]) -> list[str]:
    return [message["content"] for message in read(link).json()["messages"]]


def test_a_conversation_is_shared_by_a_link(alice: Persona, settings: Settings) -> None:
    settings.WEB_APP_URL = "https://web.example.com/app/"
    conversation = talk(alice.user, "How deep is the sea?", "Very.")

    response = share(alice, conversation)

    assert response.status_code == 201
    link = response.json()
    assert link.keys() == {"share_token", "url", "created_at", "updated_at"}
    assert link["url"] == f"https://web.example.com/app/shared/{link['share_token']}"
    assert link["created_at"] == link["updated_at"]
    assert alice.client.get(path(conversation.pk)).json() == link


def test_whoever_has_it_reads_the_title_and_what_was_said(alice: Persona) -> None:
    conversation = talk(
        alice.user, "How deep is the sea?", "Very. 🌊", title="The sea", title_source="model"
    )
    first, second = Message.objects.filter(conversation=conversation).order_by("created_at", "role")

    shown = read(share(alice, conversation).json()).json()

    said = {first.role: first, second.role: second}
    times = {role: f"{message.created_at:%Y-%m-%dT%H:%M:%S.%fZ}" for role, message in said.items()}
    assert shown == {
        "title": "The sea",
        "messages": [
            {
                "role": "user",
                "content": "How deep is the sea?",
                "model": None,
                "model_name": None,
                "created_at": times["user"],
                "has_files": False,
            },
            {
                "role": "assistant",
                "content": "Very. 🌊",
                "model": MODEL,
                "model_name": MODEL_NAME,
                "created_at": times["assistant"],
                "has_files": False,
            },
        ],
    }


def test_a_model_that_is_not_offered_any_more_is_named_by_its_id(alice: Persona) -> None:
    conversation = talk(alice.user, "Hello", "Ahoy")
    Message.objects.filter(conversation=conversation, role=ASSISTANT).update(model="gone-1")

    [_, reply] = read(share(alice, conversation).json()).json()["messages"]

    assert (reply["model"], reply["model_name"]) == ("gone-1", "gone-1")


def test_a_token_needs_no_escaping_in_an_address(alice: Persona) -> None:
    token = share(alice, talk(alice.user, "Hello")).json()["share_token"]

    assert quote(token, safe="") == token


def test_a_token_never_stands_in_a_log() -> None:
    for _ in range(20):
        token = share_token(Share(pk=uuid7()))
        assert redact(f"Failed: {ROOT}/shared/{token}") == f"Failed: {ROOT}/shared/[redacted]"


def test_shared_again_the_same_link_shows_what_was_said_since(alice: Persona) -> None:
    conversation = talk(alice.user, "How deep is the sea?", "Very.")
    before = share(alice, conversation).json()
    add(conversation, "And the sky?")
    add(conversation, "Deeper.", role=ASSISTANT)
    assert texts(before) == ["How deep is the sea?", "Very."]

    response = share(alice, conversation)

    assert response.status_code == 200
    after = response.json()
    assert after == before | {"updated_at": after["updated_at"]}
    assert after["updated_at"] > before["updated_at"]
    assert texts(before) == ["How deep is the sea?", "Very.", "And the sky?", "Deeper."]


def test_a_new_title_is_not_told_until_it_is_shared_again(alice: Persona) -> None:
    conversation = talk(alice.user, "How deep is the sea?", title="Before", title_source="user")
    link = share(alice, conversation).json()
    Conversation.objects.filter(pk=conversation.pk).update(title="After")
    assert read(link).json()["title"] == "Before"

    share(alice, conversation)

    assert read(link).json()["title"] == "After"


def test_only_the_branch_that_is_shown_is_shared(alice: Persona) -> None:
    conversation = talk(alice.user, "How deep is the sea?")
    question = conversation.leaf
    add(conversation, "Not at all.", role=ASSISTANT, parent=question)
    add(conversation, "Really?")
    add(conversation, "Very.", role=ASSISTANT, parent=question)
    add(conversation, "Another beginning", parent=None)
    Conversation.objects.filter(pk=conversation.pk).update(
        leaf=Message.objects.get(content="Very.")
    )

    assert texts(share(alice, conversation).json()) == ["How deep is the sea?", "Very."]


@pytest.mark.parametrize("source", ["first_message", "model"])
def test_a_title_tells_nothing_of_a_beginning_that_is_not_shown(
    alice: Persona, source: str
) -> None:
    conversation = talk(
        alice.user, "My password is sesame.", title="My password is sesame.", title_source=source
    )
    first = conversation.leaf
    add(conversation, "How do I\nchoose a password?", parent=None)

    link = share(alice, conversation).json()

    assert read(link).json()["title"] == "How do I"
    Conversation.objects.filter(pk=conversation.pk).update(leaf=first)
    share(alice, conversation)
    assert read(link).json()["title"] == "My password is sesame."


def test_the_name_of_a_file_is_not_told(alice: Persona) -> None:
    """After which the owner's conversation is called that begins with nothing else."""
    name = "Dismissal of J. Doe.txt"
    conversation = talk(alice.user, "", "A letter.", title=name)

    link = share(alice, conversation).json()

    assert read(link).json()["title"] == ""
    assert name not in read(link).content.decode()


def test_a_title_of_the_owners_own_is_told_with_every_branch(alice: Persona) -> None:
    conversation = talk(alice.user, "Hello", title="Passwords", title_source="user")
    add(conversation, "Another beginning", parent=None)

    assert read(share(alice, conversation).json()).json()["title"] == "Passwords"


def test_what_is_still_being_written_or_has_no_text_is_left_out(alice: Persona) -> None:
    conversation = talk(alice.user, "How deep is the sea?")
    add(conversation, "", role=ASSISTANT, status="failed", error={"code": "x", "message": "y"})
    add(conversation, "Go on")
    add(conversation, "It is so", role=ASSISTANT, status="cancelled")
    add(conversation, "Why so short?")
    add(conversation, "", role=ASSISTANT, status="running")

    shared = texts(share(alice, conversation).json())

    assert shared == ["How deep is the sea?", "Go on", "It is so", "Why so short?"]


def test_nothing_is_told_of_the_owner_the_instructions_or_the_thoughts(alice: Persona) -> None:
    conversation = talk(alice.user, "Hi", title="T", system="You are a pirate.")
    reply = add(
        conversation,
        "Ahoy",
        role=ASSISTANT,
        reasoning="They greet me.",
        context={"attachments": 1},
    )

    shown = read(share(alice, conversation).json())

    assert shown.json().keys() == {"title", "messages"}
    for message in shown.json()["messages"]:
        assert message.keys() == SHOWN
    page = shown.content.decode()
    for secret in (conversation.pk, reply.pk, alice.user.pk, alice.user.email, "pirate", "greet"):
        assert str(secret) not in page


def test_it_says_which_messages_had_files_and_not_which(alice: Persona) -> None:
    conversation = talk(alice.user, "See this.", "I see.")
    upload = Upload.objects.create(
        account=alice.user,
        name="Dismissal of J. Doe.txt",
        media_type="text/plain",
        is_text=True,
        size=7,
        expires_at=timezone.now() + timedelta(days=1),
    )
    Attachment.objects.create(message=Message.objects.get(content="See this."), upload=upload)

    shown = read(share(alice, conversation).json())

    assert [message["has_files"] for message in shown.json()["messages"]] == [True, False]
    assert upload.name not in shown.content.decode()


def test_a_link_from_before_that_was_noted_is_read_as_without_files(alice: Persona) -> None:
    link = share(alice, talk(alice.user, "See this.")).json()
    [stored] = Share.objects.all()
    del stored.snapshot["messages"][0]["has_files"]
    stored.save()

    [message] = read(link).json()["messages"]

    assert message.keys() == SHOWN
    assert message["has_files"] is False


def test_a_revoked_link_is_dead_and_stays_so_when_another_is_made(alice: Persona) -> None:
    conversation = talk(alice.user, "Hello", "Hi")
    old = share(alice, conversation).json()

    assert alice.client.delete(path(conversation.pk)).status_code == 204
    assert read(old).status_code == 404
    assert alice.client.get(path(conversation.pk)).status_code == 404

    again = share(alice, conversation)
    assert again.status_code == 201
    assert again.json()["share_token"] != old["share_token"]
    assert read(old).status_code == 404
    assert read(again.json()).status_code == 200


def test_what_is_not_shared_cannot_be_revoked(alice: Persona) -> None:
    conversation = talk(alice.user, "Hello", "Hi")

    assert alice.client.delete(path(conversation.pk)).status_code == 404
    share(alice, conversation)
    assert alice.client.delete(path(conversation.pk)).status_code == 204
    assert alice.client.delete(path(conversation.pk)).status_code == 404


@pytest.mark.parametrize("replies", [[], ["running"], ["failed"], ["cancelled", "running"]])
def test_where_nothing_has_been_said_nothing_is_shared(alice: Persona, replies: list[str]) -> None:
    conversation = talk(alice.user)
    for status in replies:
        add(conversation, "", role=ASSISTANT, status=status)

    response = share(alice, conversation)

    assert response.status_code == 409
    assert response.json()["code"] == "nothing_to_share"
    assert alice.client.get(path(conversation.pk)).status_code == 404


def test_a_link_that_cannot_be_brought_up_to_date_shows_what_it_did(alice: Persona) -> None:
    conversation = talk(alice.user, "Hello")
    link = share(alice, conversation).json()
    Conversation.objects.filter(pk=conversation.pk).update(leaf=None)

    assert share(alice, conversation).status_code == 409
    assert texts(link) == ["Hello"]


@pytest.mark.parametrize("method", ["post", "get", "delete"])
def test_what_is_not_yours_cannot_be_shared_seen_or_revoked(
    alice: Persona, bob: Persona, method: str
) -> None:
    conversation = talk(alice.user, "Hello")
    link = share(alice, conversation).json()

    for address in (path(conversation.pk), path(uuid4()), f"{ROOT}/7/share"):
        response = getattr(bob.client, method)(address)
        assert response.status_code == 404
        assert response.json()["code"] == "not_found"
    assert read(link).status_code == 200


@pytest.mark.parametrize("method", ["post", "get", "delete"])
def test_strangers_are_asked_to_sign_in(alice: Persona, visitor: APIClient, method: str) -> None:
    conversation = talk(alice.user, "Hello")

    assert getattr(visitor, method)(path(conversation.pk)).status_code == 401


def test_what_is_stored_does_not_open_a_link(alice: Persona) -> None:
    conversation = talk(alice.user, "Hello")
    token = share(alice, conversation).json()["share_token"]

    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(s)::text FROM conversations_share s")
        [stored] = cursor.fetchone()

    assert token not in stored
    assert read({"share_token": Share.objects.get().pk}).status_code == 404


def test_shared_twice_at_once_it_has_one_link(committed: None) -> None:
    alice = new_user("alice")
    conversation = talk(alice, "Hello")

    def share_it(_: int) -> tuple[UUID, bool]:
        try:
            shared, is_new = sharing.share(user=alice, conversation_id=conversation.pk)
            return shared.pk, is_new
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(share_it, range(4)))

    assert len({pk for pk, _ in done}) == 1
    assert [is_new for _, is_new in done].count(True) == 1
