"""What is not yours is not there, on any route."""

import json
import re
from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from conftest import Persona
from conversations import urls
from conversations.models import Conversation, Space
from conversations.tests.rows import talk
from tests.documents import assert_same

CONVERSATION = "/api/conversations/{conversation_id}"
MESSAGE = f"{CONVERSATION}/messages/{{message_id}}"
SPACE = "/api/spaces/{space_id}"
# Every route that names something of somebody's, with a body that its owner could send.
ROUTES: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", CONVERSATION, {}),
    ("PATCH", CONVERSATION, {"title": "Mine"}),
    ("DELETE", CONVERSATION, {}),
    ("GET", f"{CONVERSATION}/export", {}),
    ("POST", f"{CONVERSATION}/share", {}),
    ("GET", f"{CONVERSATION}/share", {}),
    ("DELETE", f"{CONVERSATION}/share", {}),
    ("GET", f"{CONVERSATION}/messages", {}),
    ("POST", f"{CONVERSATION}/messages", {"content": "How deep?"}),
    ("GET", MESSAGE, {}),
    ("DELETE", MESSAGE, {}),
    ("PUT", f"{MESSAGE}/feedback", {"rating": "up"}),
    ("DELETE", f"{MESSAGE}/feedback", {}),
    ("POST", f"{MESSAGE}/regenerate", {}),
    ("POST", f"{MESSAGE}/stop", {}),
    ("GET", f"{MESSAGE}/stream", {}),
    ("GET", f"{CONVERSATION}/stream", {}),
    ("GET", SPACE, {}),
    ("PATCH", SPACE, {"name": "Mine"}),
    ("DELETE", SPACE, {}),
]


def send(client: APIClient, method: str, path: str, body: dict[str, Any]) -> Any:
    return client.generic(method, path, json.dumps(body), content_type="application/json")


def test_every_route_is_here() -> None:
    named = {(method, path) for method, path, _ in ROUTES}
    patterns = {
        "/api/conversations": urls.conversation_routes,
        "/api/spaces": urls.space_routes,
    }

    served = {
        (method.upper(), prefix + re.sub(r"<\w+:(\w+)>", r"{\1}", str(route.pattern)))
        for prefix, routes in patterns.items()
        for route in routes
        if "<uuid:" in str(route.pattern)
        for method in getattr(route.callback, "actions")  # noqa: B009 - REST framework adds it
        if method != "head"
    }
    assert_same(named, served, "ROUTES in conversations/tests/test_ownership.py")


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
def test_bob_gets_404_and_alice_keeps_what_she_has(
    alice: Persona, bob: Persona, method: str, path: str, body: dict[str, Any]
) -> None:
    space = Space.objects.create(account=alice.user, name="Sea")
    sea = talk(alice.user, "How deep?", "Very.", space=space)
    before = shown(alice, sea)
    address = path.format(conversation_id=sea.pk, message_id=sea.leaf_id, space_id=space.pk)

    answer = send(bob.client, method, address, body)

    assert answer.status_code == 404
    assert answer.json() == {"detail": "There is nothing at this address.", "code": "not_found"}
    assert shown(alice, sea) == before
    assert Space.objects.get(pk=space.pk).name == "Sea"


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
def test_what_does_not_exist_is_404_and_needs_a_token_first(
    alice: Persona, visitor: APIClient, method: str, path: str, body: dict[str, Any]
) -> None:
    ids = {"conversation_id": uuid4(), "message_id": uuid4(), "space_id": uuid4()}

    assert send(alice.client, method, path.format(**ids), body).status_code == 404
    assert send(visitor, method, path.format(**ids), body).status_code == 401
    no_ids = dict.fromkeys(ids, "7")
    assert send(alice.client, method, path.format(**no_ids), body).status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "body"), [r for r in ROUTES if r[1].startswith(MESSAGE)]
)
def test_a_message_of_another_conversation_is_not_there(
    alice: Persona, method: str, path: str, body: dict[str, Any]
) -> None:
    sea, other = talk(alice.user, "How deep?", "Very."), talk(alice.user, "How high?", "Very.")

    address = path.format(conversation_id=sea.pk, message_id=other.leaf_id)

    assert send(alice.client, method, address, body).status_code == 404


def shown(persona: Persona, conversation: Conversation) -> Any:
    answer = persona.client.get(f"/api/conversations/{conversation.pk}")
    assert answer.status_code == 200
    return answer.json()
