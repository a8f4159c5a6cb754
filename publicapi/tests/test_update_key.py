"""PATCH /api/keys/{id}"""

import uuid
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import ApiKey
from common.money import NUSD_PER_USD
from conftest import Persona
from tests.personas import new_key


def patch(persona: Persona, key: ApiKey, /, **body: Any) -> Any:
    return persona.client.patch(f"/api/keys/{key.pk}", body, format="json")


@pytest.fixture
def key(alice: Persona) -> ApiKey:
    return new_key(alice.user, cap=5 * NUSD_PER_USD, models=("gpt-6-luna",))[0]


def test_it_changes_cap_models_and_name(alice: Persona, key: ApiKey) -> None:
    response = patch(
        alice, key, monthly_spend_cap_usd=7.25, allowed_models=["gpt-5"], name="server"
    )
    assert response.status_code == 200
    body = response.json()
    assert body["monthly_spend_cap_usd"] == 7.25
    assert body["allowed_models"] == ["gpt-6.1-sol"]
    assert body["name"] == "server"
    assert "key" not in body
    assert [body] == alice.client.get("/api/keys").json()


def test_a_new_name_is_one_line_too(alice: Persona, key: ApiKey) -> None:
    assert patch(alice, key, name="two\r\nlines\u202e").json()["name"] == "two lines"


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ({"monthly_spend_cap_usd": 1}, {"name", "allowed_models"}),
        ({"allowed_models": []}, {"name", "monthly_spend_cap_usd"}),
        ({"name": "server"}, {"allowed_models", "monthly_spend_cap_usd"}),
        ({}, {"name", "allowed_models", "monthly_spend_cap_usd"}),
    ],
)
def test_what_is_not_named_stays(
    alice: Persona, key: ApiKey, change: dict[str, Any], kept: set[str]
) -> None:
    [before] = alice.client.get("/api/keys").json()
    after = patch(alice, key, **change).json()
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert {name: after[name] for name in change} == change


def test_null_lifts_the_cap_and_zero_closes_the_key(alice: Persona, key: ApiKey) -> None:
    assert patch(alice, key, monthly_spend_cap_usd=None).json()["monthly_spend_cap_usd"] is None
    assert patch(alice, key, monthly_spend_cap_usd=0).json()["monthly_spend_cap_usd"] == 0


@pytest.mark.parametrize(
    "change",
    [
        {"monthly_spend_cap_usd": 0.005},
        {"monthly_spend_cap_usd": -1},
        {"monthly_spend_cap_usd": 100_000.01},
        {"monthly_spend_cap_usd": "5"},
        {"monthly_spend_cap_usd": True},
        {"allowed_models": ["no-such-model"]},
        {"allowed_models": ["gpt-6-luna"] * 65},
        {"allowed_models": ["gpt-6-luna", "gpt-transcribe"]},
        {"allowed_models": None},
        {"name": ""},
        {"name": "\u200b"},
        {"name": None},
    ],
)
def test_a_wrong_value_changes_nothing(alice: Persona, key: ApiKey, change: dict[str, Any]) -> None:
    before = alice.client.get("/api/keys").json()
    assert patch(alice, key, **{"name": "server", **change}).status_code == 422
    assert alice.client.get("/api/keys").json() == before


def test_what_only_the_service_may_set_is_ignored(alice: Persona, key: ApiKey) -> None:
    body = patch(alice, key, hint="xxxx", revoked_at="2026-01-01T00:00:00Z", key="mk_x").json()
    assert body["hint"] == key.hint
    assert body["revoked_at"] is None


def test_a_revoked_key_is_not_changed(alice: Persona, key: ApiKey) -> None:
    alice.client.delete(f"/api/keys/{key.pk}")
    assert patch(alice, key, name="server").status_code == 409


def test_another_persons_key_is_not_there(alice: Persona, bob: Persona, key: ApiKey) -> None:
    response = patch(bob, key, monthly_spend_cap_usd=1)
    assert response.status_code == 404
    key.refresh_from_db()
    assert key.monthly_spend_cap == 5 * NUSD_PER_USD


def test_an_unknown_id_is_404(alice: Persona) -> None:
    for unknown in (str(uuid.uuid4()), "5", "%00", "../keys"):
        assert alice.client.patch(f"/api/keys/{unknown}", {}, format="json").status_code == 404


def test_it_needs_a_session(key: ApiKey, visitor: APIClient) -> None:
    assert visitor.patch(f"/api/keys/{key.pk}", {}, format="json").status_code == 401
