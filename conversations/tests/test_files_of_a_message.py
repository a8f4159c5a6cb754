"""GET /api/files/{message_id}: the files that go with a message, and where to download them."""

from typing import Any

import httpx
import pytest
from django.core.files.base import ContentFile
from django.db import transaction

from accounts.models import User
from common.ids import uuid7
from conversations.models import Attachment, Message
from conversations.services import conversations
from conversations.tests.rows import add, talk
from media.files.models import Upload
from media.files.services.uploads import attach, purge_expired, store
from tests.personas import authorization, new_user
from tests.service import Web

Row = dict[str, Any]


@pytest.fixture
def user(committed: None) -> User:
    return new_user("alice")


@transaction.atomic
def attached(message: Message, user: User, *names: str) -> list[Upload]:
    """Files of that name which say their name, in that order."""
    uploads = [store(user=user, name=name, file=ContentFile(name.encode())) for name in names]
    attach(uploads=uploads)
    for upload in uploads:
        Attachment.objects.create(message=message, upload=upload)
    return uploads


def said(user: User) -> Message:
    leaf = talk(user, "Read this.").leaf
    assert leaf is not None
    return leaf


def ask(web: Web, user: User, message_id: object) -> httpx.Response:
    return httpx.get(f"{web.url}/api/files/{message_id}", headers=authorization(user))


def files(web: Web, user: User, message: Message) -> list[Row]:
    response = ask(web, user, message.pk)
    assert response.status_code == 200
    rows: list[Row] = response.json()
    return rows


def test_the_files_are_listed_as_they_were_named_and_can_be_downloaded(
    user: User, web: Web
) -> None:
    message = said(user)
    uploads = attached(message, user, "b.txt", "a.txt")
    rows = files(web, user, message)
    assert [row["id"] for row in rows] == [str(upload.pk) for upload in uploads]
    for row, name in zip(rows, ("b.txt", "a.txt"), strict=True):
        assert row.keys() == {"id", "name", "mime", "size", "url"}
        assert (row["name"], row["mime"], row["size"]) == (name, "text/plain", 5)
        downloaded = httpx.get(row["url"])
        assert downloaded.text == name
        assert downloaded.headers["content-disposition"] == f'attachment; filename="{name}"'


def test_a_message_without_files_has_none(user: User, web: Web) -> None:
    conversation = talk(user, "How deep is the sea?", "Very.")
    for message in conversation.messages.all():
        assert files(web, user, message) == []


def test_somebody_elses_message_is_not_there(user: User, web: Web) -> None:
    message = said(user)
    attached(message, user, "a.txt")
    for message_id in (message.pk, uuid7(), "x"):
        assert ask(web, new_user("bob"), message_id).status_code == 404
    assert httpx.get(f"{web.url}/api/files/{message.pk}").status_code == 401


def test_a_link_dies_with_the_conversation(user: User, web: Web) -> None:
    message = said(user)
    [upload] = attached(message, user, "a.txt")
    [row] = files(web, user, message)
    conversations.delete(user=user, conversation_id=message.conversation_id)
    assert httpx.get(row["url"]).status_code == 404
    purge_expired()
    assert not Upload.objects.filter(pk=upload.pk).exists()


def test_a_file_that_another_message_has_stays(user: User, web: Web) -> None:
    first, second = said(user), said(user)
    [upload] = attached(first, user, "a.txt")
    Attachment.objects.create(message=second, upload=upload)
    [row] = files(web, user, second)
    conversations.delete(user=user, conversation_id=first.conversation_id)
    purge_expired()
    assert httpx.get(row["url"]).text == "a.txt"
    conversations.delete(user=user, conversation_id=second.conversation_id)
    assert httpx.get(row["url"]).status_code == 404


def test_a_file_may_go_with_several_branches(user: User, web: Web) -> None:
    message = said(user)
    [upload] = attached(message, user, "a.txt")
    edited = add(message.conversation, "Read this again.", parent=None)
    Attachment.objects.create(message=edited, upload=upload)
    assert [row["id"] for row in files(web, user, edited)] == [str(upload.pk)]
