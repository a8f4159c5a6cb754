"""The features of a key: what it can do of OpenAI's interface beyond text."""

from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import ApiKey
from conftest import Persona
from tests.personas import new_key

URL = "/api/keys"
ALL = ["tools", "structured_outputs", "vision"]


def create(persona: Persona, **body: Any) -> Any:
    return persona.client.post(URL, {"name": "laptop", **body}, format="json")


def test_a_new_key_has_none(alice_on_max: Persona) -> None:
    assert "features" not in create(alice_on_max).json()
    assert ApiKey.objects.get(account=alice_on_max.user).features == []


def test_a_new_key_has_those_that_are_asked_for(alice_on_max: Persona) -> None:
    response = create(alice_on_max, features=["vision", "tools", "vision"])
    assert response.status_code == 201, response.text
    assert response.json()["features"] == ["tools", "vision"]
    [listed] = alice_on_max.client.get(URL).json()
    assert listed["features"] == ["tools", "vision"]


def test_the_operator_says_what_a_new_key_has(alice_on_max: Persona, settings: Settings) -> None:
    settings.DEFAULT_KEY_FEATURES = ["tools", "vision"]
    assert create(alice_on_max).json()["features"] == ["tools", "vision"]
    assert "features" not in create(alice_on_max, features=[]).json()
    assert create(alice_on_max, features=["vision"]).json()["features"] == ["vision"]


def test_they_are_given_and_taken_away(alice_on_max: Persona) -> None:
    key = f"{URL}/{create(alice_on_max).json()['id']}"
    changed = alice_on_max.client.patch(key, {"features": [*ALL]}, format="json")
    assert (changed.status_code, changed.json()["features"]) == (200, ALL)
    renamed = alice_on_max.client.patch(key, {"name": "server"}, format="json")
    assert renamed.json()["features"] == ALL
    bare = alice_on_max.client.patch(key, {"features": []}, format="json")
    assert "features" not in bare.json()


@pytest.mark.parametrize(
    "features", [["tool"], [""], [5], [None], [["tools"]], "tools", {"a": 1}, None, ["tools"] * 4]
)
def test_anything_else_is_refused_and_changes_nothing(alice_on_max: Persona, features: Any) -> None:
    key, _ = new_key(alice_on_max.user, features=("vision",))
    changed = alice_on_max.client.patch(f"{URL}/{key.pk}", {"features": features}, format="json")
    for response in (create(alice_on_max, features=features), changed):
        assert response.status_code == 422
        assert response.json()["errors"][0]["loc"][0] == "features"
    [kept] = ApiKey.objects.filter(account=alice_on_max.user)
    assert kept.features == ["vision"]


def test_they_are_not_given_to_another_persons_key(alice_on_max: Persona, bob: Persona) -> None:
    key, _ = new_key(bob.user)
    response = alice_on_max.client.patch(f"{URL}/{key.pk}", {"features": ALL}, format="json")
    assert response.status_code == 404
    key.refresh_from_db()
    assert key.features == []
