"""/api/agents, and what conversations ask of it."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import ModelPreference, User
from accounts.selectors.preferences import get_preference, list_enabled
from accounts.services.preferences import set_preference
from accounts.types import MAX_AGENT_INSTRUCTIONS
from ai.catalog.models import AIModel
from ai.catalog.selectors import get_catalog, reset
from conftest import Persona
from tests.personas import new_user

URL = "/api/agents"
LUNA = "gpt-6-luna"
KIMI = "kimi-k3"
# A legacy name of gpt-6.1-sol.
LEGACY, SOL = "gpt-5", "gpt-6.1-sol"
DEFAULTS = {"enabled": True, "favourite": False, "instructions": "", "reasoning_effort": None}


def agent(persona: Persona, model: str) -> dict[str, Any]:
    [found] = [row for row in persona.client.get(URL).json() if row["model"] == model]
    return found  # type: ignore[no-any-return]


def post(persona: Persona, **body: Any) -> Any:
    return persona.client.post(URL, body, format="json")


def patch(persona: Persona, model: str, **body: Any) -> Any:
    return persona.client.patch(f"{URL}/{model}", body, format="json")


def first_favourite(user: User) -> str | None:
    """Of those that are not disabled."""
    return next((agent.model for agent in list_enabled(user) if agent.favourite), None)


def test_every_chat_model_is_listed_as_it_comes_until_the_user_says_something(
    alice: Persona,
) -> None:
    rows = alice.client.get(URL).json()

    chat = [model for model in get_catalog().models.values() if model.modality == "chat"]
    assert rows == [
        {"model": model.id, "display_name": model.display_name, **DEFAULTS} for model in chat
    ]


def test_the_model_may_be_named_in_the_body_or_the_query(alice: Persona) -> None:
    by_body = alice.client.patch(URL, {"model": LUNA, "favourite": True}, format="json")
    by_query = alice.client.patch(f"{URL}?model={KIMI}", {"enabled": False}, format="json")

    assert (by_body.status_code, by_query.status_code) == (200, 200)
    assert by_body.json() == agent(alice, LUNA) != agent(alice, KIMI) == by_query.json()
    assert (agent(alice, LUNA)["favourite"], agent(alice, KIMI)["enabled"]) == (True, False)
    unnamed = alice.client.patch(URL, {"favourite": True}, format="json")
    assert (unnamed.status_code, unnamed.json()["errors"][0]["loc"]) == (422, ["model"])
    assert alice.client.patch(URL, {"model": "nobody"}, format="json").status_code == 404
    assert alice.client.patch(URL, [LUNA], format="json").status_code == 422


def test_what_is_named_changes_and_the_rest_stays(alice: Persona) -> None:
    expected = agent(alice, LUNA)
    changes = {
        "enabled": False,
        "favourite": True,
        "instructions": "Be brief.\nNo lists.",
        "reasoning_effort": "high",
    }
    for field, value in changes.items():
        expected |= {field: value}
        response = patch(alice, LUNA, **{field: value})
        assert response.status_code == 200
        assert response.json() == expected
    assert agent(alice, LUNA) == expected


def test_what_was_said_can_be_taken_back(alice: Persona) -> None:
    patch(alice, LUNA, favourite=True, instructions="Be brief.", reasoning_effort="low")

    taken_back = patch(alice, LUNA, favourite=False, instructions="", reasoning_effort=None)

    assert taken_back.json().items() >= DEFAULTS.items()


def test_the_first_word_on_a_model_is_201_and_the_next_is_200(alice: Persona) -> None:
    first = post(alice, model=LUNA, favourite=True)
    second = post(alice, model=LUNA, reasoning_effort="medium")

    assert (first.status_code, second.status_code) == (201, 200)
    assert second.json() == first.json() | {"reasoning_effort": "medium"}
    assert agent(alice, LUNA) == second.json()


def test_favourites_come_first_in_the_order_of_the_catalog(alice: Persona) -> None:
    before = [row["model"] for row in alice.client.get(URL).json()]
    for model in (LUNA, KIMI, SOL):
        patch(alice, model, favourite=True)

    after = [row["model"] for row in alice.client.get(URL).json()]

    assert after[:3] == [LUNA, SOL, KIMI] == sorted(after[:3], key=before.index)
    assert after[3:] == [model for model in before if model not in after[:3]]


def test_a_legacy_name_stands_for_the_model_of_today(alice: Persona) -> None:
    assert post(alice, model=LEGACY, favourite=True).json()["model"] == SOL
    assert patch(alice, LEGACY, enabled=False).json()["model"] == SOL
    assert agent(alice, SOL).items() >= {"favourite": True, "enabled": False}.items()


def test_everybody_has_their_own(alice: Persona, bob: Persona) -> None:
    patch(alice, LUNA, instructions="Be brief.")

    assert agent(bob, LUNA)["instructions"] == ""
    assert post(bob, model=LUNA, favourite=True).status_code == 201
    assert agent(alice, LUNA)["favourite"] is False


@pytest.mark.parametrize("model", ["no-such-model", "gpt-image-2.5-flare", "gpt-4o", "", "x" * 200])
def test_what_is_no_chat_model_is_422_in_a_body_and_404_in_an_address(
    alice: Persona, model: str
) -> None:
    assert post(alice, model=model).status_code == 422
    if model:
        assert patch(alice, model, enabled=False).status_code == 404
    assert not ModelPreference.objects.filter(account=alice.user).exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("enabled", "yes"),
        ("enabled", 1),
        ("enabled", None),
        ("favourite", "false"),
        ("favourite", []),
        ("instructions", "x" * (MAX_AGENT_INSTRUCTIONS + 1)),
        ("instructions", None),
        ("instructions", 7),
        ("reasoning_effort", "none"),
        ("reasoning_effort", "LOW"),
        ("reasoning_effort", ""),
        ("reasoning_effort", ["low"]),
    ],
)
def test_a_value_that_cannot_be_is_422_and_changes_nothing(
    alice: Persona, field: str, value: Any
) -> None:
    for response in (
        patch(alice, LUNA, **{field: value}),
        post(alice, model=LUNA, **{field: value}),
    ):
        assert response.status_code == 422
        assert response.json()["errors"][0]["loc"] == [field]
    assert agent(alice, LUNA).items() >= DEFAULTS.items()


def test_instructions_may_be_as_long_as_they_may(alice: Persona) -> None:
    longest = "x" * (MAX_AGENT_INSTRUCTIONS - 2) + "👩🏽"

    assert patch(alice, LUNA, instructions=longest).json()["instructions"] == longest


def test_without_a_model_nothing_is_said(alice: Persona) -> None:
    response = post(alice, favourite=True)

    assert response.status_code == 422
    assert response.json()["errors"][0]["loc"] == ["model"]


def test_strangers_are_asked_to_sign_in(visitor: APIClient) -> None:
    for response in (
        visitor.get(URL),
        visitor.post(URL, {"model": LUNA}, format="json"),
        visitor.patch(f"{URL}/{LUNA}", {}, format="json"),
    ):
        assert response.status_code == 401


def test_the_list_asks_for_all_preferences_at_once(alice: Persona) -> None:
    for model in (LUNA, KIMI, SOL):
        patch(alice, model, favourite=True)

    with CaptureQueriesContext(connection) as captured:
        alice.client.get(URL)

    assert sum("modelpreference" in query["sql"] for query in captured) == 1


def test_two_first_words_at_once_are_one(committed: None) -> None:
    user = new_user("alice")

    def say(number: int) -> bool:
        try:
            return set_preference(user=user, model=LUNA, instructions=str(number))[1]
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        firsts = list(pool.map(say, range(4)))

    assert firsts.count(True) == 1
    assert ModelPreference.objects.filter(account=user).count() == 1


# --- What conversations ask ---------------------------------------------------------------------


@pytest.mark.django_db
def test_a_model_of_which_nothing_was_said_is_wanted_as_it_comes() -> None:
    preference = get_preference(new_user("alice"), LUNA)

    assert preference.enabled
    assert (preference.instructions, preference.reasoning_effort) == ("", "")


@pytest.mark.django_db
def test_a_preference_is_found_by_its_user_and_its_model() -> None:
    alice, bob = new_user("alice"), new_user("bob")
    set_preference(user=alice, model=LUNA, instructions="Be brief.")

    assert get_preference(alice, LUNA).instructions == "Be brief."
    assert get_preference(alice, KIMI).instructions == ""
    assert get_preference(bob, LUNA).instructions == ""


@pytest.mark.django_db
def test_the_first_favourite_is_the_first_that_is_enabled_and_on_offer() -> None:
    alice = new_user("alice")
    assert first_favourite(alice) is None
    set_preference(user=alice, model=KIMI, favourite=True)
    assert first_favourite(alice) == KIMI
    set_preference(user=alice, model=LUNA, favourite=True)
    assert first_favourite(alice) == LUNA
    set_preference(user=alice, model=LUNA, enabled=False)
    assert first_favourite(alice) == KIMI


@pytest.mark.django_db
def test_a_favourite_that_is_not_on_offer_any_more_is_none() -> None:
    alice = new_user("alice")
    set_preference(user=alice, model=KIMI, favourite=True)
    AIModel.objects.filter(pk=KIMI).update(enabled=False)
    reset()
    try:
        assert first_favourite(alice) is None
    finally:
        reset()
