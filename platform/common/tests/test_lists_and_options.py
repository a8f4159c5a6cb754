"""`OPTIONS` under `/api` names the methods, and nothing of what the code says to its readers."""

import pytest

from common.ids import uuid7
from conftest import Persona


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/api/keys", "GET, POST, HEAD, OPTIONS"), ("/api/auth/me", "GET, HEAD, OPTIONS")],
)
def test_the_methods_are_named_and_nothing_else(alice: Persona, path: str, allowed: str) -> None:
    answer = alice.client.options(path)
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer["Allow"] == allowed


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/api/keys", "/api/billing/transactions", "/api/users/me/usage", "/api/conversations"]
)
@pytest.mark.parametrize(
    "unknown",
    ["2b8c9f3e-6a0d-4c1b-9d53-0f6f6f1f8a11", "00000000-0000-0000-0000-000000000000"],
    ids=["random", "nil"],
)
def test_an_id_that_is_none_of_ours_is_refused_in_every_list(
    alice: Persona, path: str, unknown: str
) -> None:
    answer = alice.client.get(path, {"before": unknown})
    assert answer.status_code == 422
    assert answer.json()["detail"] == "before: There is no such row in this list."


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/keys", 200),
        ("/api/users/me/usage", 200),
        ("/api/billing/transactions", 422),
        ("/api/conversations", 422),
    ],
)
def test_an_id_of_no_row_is_a_moment_where_a_list_is_ordered_by_id(
    alice: Persona, path: str, status: int
) -> None:
    """It looks like that of a row that was deleted, whose page can still be read on."""
    assert alice.client.get(path, {"before": str(uuid7())}).status_code == status


@pytest.mark.django_db
def test_a_limit_that_is_too_large_is_100_as_the_refusal_of_others_says(alice: Persona) -> None:
    assert alice.client.get("/api/keys", {"limit": 101}).status_code == 200
    refused = alice.client.get("/api/keys", {"limit": 0})
    assert refused.status_code == 422
    assert "More than 100 is 100." in refused.json()["detail"]
