"""What is not yours is not there, on any route."""

import json
import re
from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from billing.tests.bank import IN_PLAN
from council.tests.council_client import CARDS, QUESTION, SESSIONS, new_council_client
from council.urls import urlpatterns
from tests.documents import assert_same

pytestmark = pytest.mark.usefixtures("committed", "providers")

MESSAGE = {"content": QUESTION}
# Every route that names a session or a card, with a body that its owner could send.
ROUTES: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", f"{SESSIONS}/{{session_id}}", {}),
    ("PATCH", f"{SESSIONS}/{{session_id}}", {"title": "The sea"}),
    ("DELETE", f"{SESSIONS}/{{session_id}}", {}),
    ("POST", f"{SESSIONS}/{{session_id}}/stop", {}),
    ("GET", f"{SESSIONS}/{{session_id}}/events", {}),
    ("POST", f"{SESSIONS}/{{session_id}}/cards", {"model_key": IN_PLAN}),
    ("POST", f"{SESSIONS}/{{session_id}}/chat", MESSAGE),
    ("POST", f"{SESSIONS}/{{session_id}}/chat/estimate", MESSAGE),
    ("POST", f"{SESSIONS}/{{session_id}}/merge", {}),
    ("POST", f"{SESSIONS}/{{session_id}}/merge/estimate", {}),
    ("POST", f"{SESSIONS}/{{session_id}}/debate", {}),
    ("POST", f"{SESSIONS}/{{session_id}}/debate/estimate", {}),
    ("DELETE", f"{CARDS}/{{card_id}}", {}),
    ("POST", f"{CARDS}/{{card_id}}/stop", {}),
    ("POST", f"{CARDS}/{{card_id}}/regenerate", {}),
    ("GET", f"{CARDS}/{{card_id}}/versions", {}),
    ("POST", f"{CARDS}/{{card_id}}/restore", {"version": 1}),
    ("GET", f"{CARDS}/{{card_id}}/diff", {}),
    ("GET", f"{CARDS}/{{card_id}}/export", {}),
    ("GET", f"{CARDS}/{{card_id}}/messages", {}),
    ("POST", f"{CARDS}/{{card_id}}/messages", MESSAGE),
]


def send(client: APIClient, method: str, path: str, body: dict[str, Any]) -> Any:
    return client.generic(method, path, json.dumps(body), content_type="application/json")


def test_every_route_is_here() -> None:
    named = {(method, path) for method, path, _ in ROUTES}

    served = {
        (method.upper(), "/api/council/" + re.sub(r"<uuid:(\w+)>", r"{\1}", str(route.pattern)))
        for route in urlpatterns
        if "<" in str(route.pattern)
        for method in getattr(route.callback, "actions")  # noqa: B009 - REST framework adds it
        if method != "head"
    }
    assert_same(named, served, "ROUTES in council/tests/test_ownership.py")


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
def test_bob_gets_404_and_alice_keeps_what_she_has(
    method: str, path: str, body: dict[str, Any]
) -> None:
    alice, bob = new_council_client(), new_council_client("bob")
    session, cards = alice.council("Deep.", "Very deep.")
    before = alice.session(session.pk)
    address = path.format(session_id=session.pk, card_id=cards[0].pk)

    answer = send(bob.client, method, address, body)

    assert answer.status_code == 404
    assert answer.json() == {
        "detail": "There is nothing at this address.",
        "code": "not_found",
    }
    assert alice.session(session.pk) == before
    assert send(alice.client, method, address, body).status_code < 300


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
def test_what_does_not_exist_is_404_and_needs_a_token_first(
    method: str, path: str, body: dict[str, Any], visitor: APIClient
) -> None:
    alice = new_council_client()
    address = path.format(session_id=uuid4(), card_id=uuid4())

    assert send(alice.client, method, address, body).status_code == 404
    assert send(visitor, method, address, body).status_code == 401
    no_id = path.format(session_id="7", card_id="no-id")
    assert send(alice.client, method, no_id, body).status_code == 404


@pytest.mark.parametrize(("method", "path", "body"), [r for r in ROUTES if "card_id" in r[1]])
def test_a_removed_card_is_not_there_any_more(method: str, path: str, body: dict[str, Any]) -> None:
    alice = new_council_client()
    _, cards = alice.council("Deep.", "Very deep.")
    alice.client.delete(f"{CARDS}/{cards[0].pk}")

    answer = send(alice.client, method, path.format(card_id=cards[0].pk), body)

    assert answer.status_code == 404


def test_the_list_has_only_ones_own() -> None:
    alice, bob = new_council_client(), new_council_client("bob")
    mine, _ = alice.council("Deep.")
    bob.council("Deep.")

    assert [row["id"] for row in alice.get(SESSIONS).json()] == [str(mine.pk)]
