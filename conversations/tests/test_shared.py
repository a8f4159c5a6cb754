"""GET /api/conversations/shared/{share_token}"""

from itertools import pairwise
from typing import Any

import httpx
import pytest
from django.core.signing import Signer
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.services import users
from ai.catalog.selectors import get_catalog
from conftest import Persona
from conversations.models import Conversation, Message
from conversations.selectors.sharing import share_token
from conversations.serializers.sharing import SharedConversationSerializer
from conversations.services import sharing
from conversations.tests.rows import talk
from conversations.types import MAX_CHARACTERS, MAX_MESSAGES
from tests.personas import new_user
from tests.service import WEB_APP, Web

NOT_FOUND = {"detail": "There is nothing at this address.", "code": "not_found"}
PRIVATE = {
    "x-robots-tag": "noindex, nofollow",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
}


def path(token: str) -> str:
    return f"/api/conversations/shared/{token}"


def shared(conversation: Conversation) -> str:
    share, _ = sharing.share(user=conversation.account, conversation_id=conversation.pk)
    return share_token(share)


def assert_nothing_is_there(response: Any) -> None:
    assert response.status_code == 404
    assert response.json() == NOT_FOUND
    assert {name: response.headers[name] for name in PRIVATE} == PRIVATE


@pytest.mark.parametrize("authorization", ["Bearer expired", "Basic YTpi", "nonsense"])
def test_a_stale_authorization_does_not_stand_in_the_way(
    alice: Persona, authorization: str
) -> None:
    token = shared(talk(alice.user, "Hello"))

    response = APIClient(HTTP_AUTHORIZATION=authorization).get(path(token))

    assert response.status_code == 200


def test_it_is_neither_indexed_nor_kept_nor_given_away(alice: Persona, visitor: APIClient) -> None:
    response = visitor.get(path(shared(talk(alice.user, "Hello"))))

    assert {name: response.headers[name] for name in PRIVATE} == PRIVATE


def test_the_answer_is_what_is_described(alice: Persona, visitor: APIClient) -> None:
    shown = visitor.get(path(shared(talk(alice.user, "Hello", "Hi", title="T")))).json()

    assert SharedConversationSerializer(shown).data == shown


def test_it_is_read_in_one_query(alice: Persona, visitor: APIClient) -> None:
    token = shared(talk(alice.user, "Hello", "Hi"))
    get_catalog()  # which every process has in memory

    with CaptureQueriesContext(connection) as captured:
        visitor.get(path(token))

    assert len(captured) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda token: token[:-1],
        lambda token: token + "A",
        lambda token: token[:-1] + ("A" if token[-1] != "A" else "B"),
        lambda token: ("0" if token[0] != "0" else "1") + token[1:],
        lambda token: token.upper(),
        lambda token: token.partition(".")[0],
        lambda token: token.partition(".")[2],
        lambda token: token.replace(".", ":"),
        lambda token: token + "/",
        lambda token: token + "%00",
        lambda token: "%00",
        lambda token: "%ff%fe",
        lambda token: ".",
        lambda token: "x" * 5_000,
        lambda token: "%E2%80%AE" + token,
    ],
)
def test_a_token_that_is_not_ours_leads_nowhere(
    alice: Persona, visitor: APIClient, change: Any
) -> None:
    token = shared(talk(alice.user, "Hello"))

    response = visitor.get(path(change(token)))

    assert response.status_code == 404
    assert response.json() == NOT_FOUND


@pytest.mark.parametrize("salt", ["files.link", "", None])
def test_a_signature_for_something_else_opens_nothing(
    alice: Persona, visitor: APIClient, salt: str | None
) -> None:
    share, _ = sharing.share(user=alice.user, conversation_id=talk(alice.user, "Hello").pk)

    token = Signer(salt=salt, sep=".").sign(share.pk.hex)

    assert_nothing_is_there(visitor.get(path(token)))


def test_with_its_conversation_a_link_is_gone(alice: Persona, visitor: APIClient) -> None:
    conversation = talk(alice.user, "Hello")
    token = shared(conversation)
    conversation.delete()

    assert_nothing_is_there(visitor.get(path(token)))


@pytest.mark.django_db
@pytest.mark.parametrize("close", [users.suspend, users.deactivate])
def test_with_its_owners_account_a_link_is_closed_and_opens_again(
    visitor: APIClient, close: Any
) -> None:
    alice = new_user("alice")
    token = shared(talk(alice, "Hello"))

    close(user=alice)
    assert_nothing_is_there(visitor.get(path(token)))

    users.reactivate(user=alice)
    assert visitor.get(path(token)).status_code == 200


def test_what_was_never_shared_is_refused_in_the_same_words(
    alice: Persona, visitor: APIClient
) -> None:
    conversation = talk(alice.user, "Hello")
    token = shared(conversation)
    sharing.revoke(user=alice.user, conversation_id=conversation.pk)

    revoked, forged = visitor.get(path(token)), visitor.get(path("no-token"))

    assert_nothing_is_there(revoked)
    assert revoked.content == forged.content
    assert revoked.headers.keys() == forged.headers.keys()


def test_it_is_only_read(alice: Persona, visitor: APIClient) -> None:
    token = shared(talk(alice.user, "Hello"))

    for method in ("post", "put", "patch", "delete"):
        assert getattr(visitor, method)(path(token)).status_code == 405
    assert visitor.head(path(token)).status_code == 200


def test_what_was_said_is_data_whatever_it_looks_like(alice: Persona, visitor: APIClient) -> None:
    odd = '</script><script>alert(1)</script>\u2028 "\\" \x01 👩🏽‍🚀'

    response = visitor.get(path(shared(talk(alice.user, odd))))

    assert response.headers["content-type"] == "application/json"
    assert response.json()["messages"][0]["content"] == odd


def test_the_longest_conversation_there_can_be_is_shared_too(
    alice: Persona, visitor: APIClient
) -> None:
    conversation = talk(alice.user)
    size = MAX_CHARACTERS // MAX_MESSAGES
    messages = [
        Message(
            conversation=conversation,
            account_id=alice.user.pk,
            role="user",
            content="x" * size,
        )
        for _ in range(MAX_MESSAGES)
    ]
    for parent, message in pairwise(messages):
        message.parent = parent
    Message.objects.bulk_create(messages)
    conversation.leaf = messages[-1]
    conversation.save()

    shown = visitor.get(path(shared(conversation))).json()

    assert len(shown["messages"]) == MAX_MESSAGES


def test_a_web_app_elsewhere_may_read_it(committed: None, web: Web) -> None:
    token = shared(talk(new_user("alice"), "Hello"))

    response = httpx.get(f"{web.url}{path(token)}", headers={"Origin": WEB_APP})

    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == WEB_APP
    assert {name: response.headers[name] for name in PRIVATE} == PRIVATE
