"""What is read again and again: `ETag`, and 304 where nothing has changed."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from conftest import Persona
from conversations.models import Conversation
from conversations.tests.rows import add, talk

POLLED = [
    "/api/auth/me",
    "/api/users/me",
    "/api/users/me/entitlements",
    "/api/users/me/usage",
    "/api/billing/plans",
    "/api/billing/wallet",
    "/api/billing/transactions",
    "/api/agents",
    "/api/flags",
    "/api/keys",
    "/api/spaces",
    "/api/uploads",
    "/api/conversations",
    "/api/conversations/{conversation}",
    "/api/conversations/{conversation}/messages",
    "/api/conversations/{conversation}/messages/{message}",
    "/api/council/sessions",
]


@pytest.fixture
def sea(alice: Persona) -> Conversation:
    return talk(alice.user, "How deep is the sea?", "Very.")


def again(client: APIClient, path: str, tag: str) -> Any:
    return client.get(path, headers={"If-None-Match": tag})


@pytest.mark.parametrize("template", POLLED)
def test_what_has_not_changed_is_not_sent_again(
    alice: Persona, sea: Conversation, template: str
) -> None:
    path = template.format(conversation=sea.pk, message=sea.leaf_id)
    first = alice.client.get(path)
    assert first.status_code == 200
    assert "Cache-Control" not in first  # so that it is not stored, like every other answer
    assert first["ETag"].startswith('W/"')

    second = again(alice.client, path, first["ETag"])

    assert (second.status_code, second.content) == (304, b"")
    for name in ("ETag", "Vary"):
        assert second[name] == first[name]
    assert second["x-request-id"]


def test_what_has_changed_is_sent(alice: Persona, sea: Conversation) -> None:
    path = f"/api/conversations/{sea.pk}"
    first = alice.client.get(path)
    add(sea, "Why?")

    second = again(alice.client, path, first["ETag"])

    assert second.status_code == 200
    assert second["ETag"] != first["ETag"]
    assert len(second.json()["messages"]) == 3


@pytest.mark.parametrize("form", ["{strong}", '"x", {weak}', "*", "{weak},"])
def test_the_tag_is_known_in_each_form_of_the_header(alice: Persona, form: str) -> None:
    weak = alice.client.get("/api/auth/me")["ETag"]
    tags = form.format(weak=weak, strong=weak.removeprefix("W/"))

    assert again(alice.client, "/api/auth/me", tags).status_code == 304


@pytest.mark.parametrize("tags", ["", "x", '"', 'W/"x"', '"x" ' * 5000])
def test_other_tags_count_for_nothing(alice: Persona, tags: str) -> None:
    assert again(alice.client, "/api/auth/me", tags).status_code == 200


def test_two_users_do_not_share_a_tag(alice: Persona, bob: Persona) -> None:
    tag = alice.client.get("/api/auth/me")["ETag"]

    assert again(bob.client, "/api/auth/me", tag).status_code == 200


def test_a_token_is_needed_all_the_same(alice: Persona, visitor: APIClient) -> None:
    tag = alice.client.get("/api/auth/me")["ETag"]

    refused = again(visitor, "/api/auth/me", tag)

    assert refused.status_code == 401
    assert "ETag" not in refused


def test_a_head_has_the_tag_too(alice: Persona, sea: Conversation) -> None:
    path = f"/api/conversations/{sea.pk}"

    assert alice.client.head(path)["ETag"] == alice.client.get(path)["ETag"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/conversations"),
        ("GET", "/api/conversations/{conversation}/export"),
        ("GET", "/api/conversations/shared/{share}"),
        ("GET", "/api/conversations/{conversation}/nothing"),
    ],
)
def test_what_changes_something_and_what_is_for_others_has_no_tag(
    alice: Persona, sea: Conversation, method: str, path: str
) -> None:
    share = alice.client.post(f"/api/conversations/{sea.pk}/share").json()["share_token"]
    answer = alice.client.generic(
        method, path.format(conversation=sea.pk, share=share), "{}", content_type="application/json"
    )

    assert "ETag" not in answer
