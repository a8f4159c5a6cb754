"""GET /api/models: one request is enough to draw a model picker."""

from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from ai.catalog.models import AIModel
from ai.catalog.params import with_results
from ai.providers.config import from_environ
from billing.tests.bank import (
    BALANCE_ONLY,
    FREE_MODEL,
    IN_PLAN,
    hold,
    live_owner,
    new_account,
    settle,
)
from billing.tests.test_entitlements import configured as configured
from billing.tests.test_entitlements import send_free_message
from billing.tests.web_app import client_of
from common.money import NUSD_PER_USD

URL = "/api/models"
pytestmark = pytest.mark.usefixtures("committed")


def listed(user: User) -> list[dict[str, Any]]:
    answer = client_of(user).get(URL)
    assert answer.status_code == 200, answer.content
    rows: list[dict[str, Any]] = answer.json()
    return rows


def models(user: User) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in listed(user)}


def want(user: User, model: str, **options: Any) -> None:
    answer = client_of(user).patch(f"/api/agents/{model}", options, format="json")
    assert answer.status_code == 200, answer.content


def test_every_model_of_the_web_app_is_there_once_chat_models_first() -> None:
    rows = listed(new_account())

    expected = AIModel.objects.exclude(modality="embedding").values_list("id", flat=True)
    assert sorted(row["id"] for row in rows) == sorted(expected)
    modalities = [row["modality"] for row in rows]
    assert modalities == sorted(modalities, key=["chat", "image", "video", "3d", "speech"].index)


def test_a_chat_model_says_what_it_is_and_costs() -> None:
    row = models(new_account())["claude-haiku-5-5"]

    kept = AIModel.objects.get(pk="claude-haiku-5-5")
    price: Any = kept.prices.get()
    assert row["display_name"] == kept.display_name
    assert (row["provider"], row["owned_by"]) == ("anthropic", "anthropic")
    assert row["takes"] == ["text", "files"]
    assert row["context_window"] == kept.context_window
    assert row["max_output_tokens"] == kept.max_output_tokens
    assert row["prices"] == {
        "input_per_1m_usd": (price.input + price.token_fee) / 1_000_000,
        "cached_input_per_1m_usd": (price.cached_input + price.token_fee) / 1_000_000,
        "output_per_1m_usd": (price.output + price.token_fee) / 1_000_000,
        "per_image_usd": None,
        "per_hour_usd": None,
        "per_second_usd": None,
        "per_asset_usd": None,
    }
    assert row["params"] is None


def test_a_model_without_a_price_for_cached_input_says_so() -> None:
    prices = models(new_account())["smollm2-135m"]["prices"]
    assert (prices["input_per_1m_usd"], prices["cached_input_per_1m_usd"]) == (1.01, None)


def test_those_for_pictures_and_speech_are_sold_by_the_piece_and_by_the_hour() -> None:
    rows = models(new_account())
    picture: Any = AIModel.objects.get(pk="flux-2-pro").prices.get()
    speech: Any = AIModel.objects.get(pk="gpt-transcribe").prices.get()

    assert rows["flux-2-pro"]["takes"] == ["text", "pictures"]
    assert rows["flux-2-pro"]["preferences"] is None
    assert rows["flux-2-pro"]["prices"]["per_image_usd"] == {
        quality: (getattr(picture, f"image_{quality}") + picture.image_fee) / NUSD_PER_USD
        for quality in ("low", "standard", "high")
    }
    assert rows["gpt-transcribe"]["takes"] == ["audio"]
    hour = (speech.speech_hour + speech.speech_fee) / NUSD_PER_USD
    assert rows["gpt-transcribe"]["prices"]["per_hour_usd"] == hour


def test_those_of_the_studios_say_what_they_take_and_cost_by_variant() -> None:
    rows = models(new_account())

    assert rows["veo-3.1"]["takes"] == ["text", "pictures"]
    assert rows["ray-2"]["takes"] == ["text"]
    assert rows["veo-3.1"]["prices"]["per_second_usd"] == {
        "720p": 0.21,
        "1080p": 0.21,
        "720p+audio": 0.41,
        "1080p+audio": 0.41,
    }
    assert rows["meshy-6"]["prices"]["per_asset_usd"] == {
        "preview": 0.42,
        "refine": 0.22,
        "image": 0.62,
    }
    for kept in AIModel.objects.exclude(modality="embedding"):
        taken = with_results(kept.params) if kept.params else None
        assert rows[kept.pk]["params"] == taken
    assert rows["flux-2-pro"]["params"]["properties"]["n"]["maximum"] == 4


def test_it_says_which_think() -> None:
    rows = models(new_account())

    for kept in AIModel.objects.exclude(modality="embedding"):
        efforts = ["low", "medium", "high"] if kept.reasoning else []
        assert rows[kept.pk]["reasoning_efforts"] == efforts
        assert rows[kept.pk]["reasons_unasked"] == kept.reasons_unasked
    assert {bool(row["reasoning_efforts"]) for row in rows.values()} == {True, False}


@pytest.mark.parametrize(("plan", "most"), [("free", 8_192), ("max", 1_000_000_000)])
def test_it_says_how_much_of_its_window_the_plan_gives(plan: str, most: int) -> None:
    for row in listed(new_account(plan=plan)):
        window = row["context_window"]
        given = min(window, most) if row["modality"] == "chat" else window
        assert row["context_in_plan"] == given


@pytest.mark.parametrize("plan", ["free", "max"])
def test_what_is_left_is_what_the_entitlements_say(plan: str) -> None:
    alice = new_account(plan=plan)
    rows = models(alice)

    entitled = client_of(alice).get("/api/users/me/entitlements").json()["models"]

    assert {each["model"] for each in entitled} == rows.keys()
    for each in entitled:
        for name in ("callable", "included_in_plan", "allowance_usd", "remaining_usd", "free"):
            assert rows[each["model"]][name] == each[name]
    assert rows[IN_PLAN]["included_in_plan"] == (plan == "max")
    assert (rows[FREE_MODEL]["free"] is not None) == (plan == "free")


def test_a_model_that_can_be_called_is_refused_for_nothing() -> None:
    for plan in ("free", "max"):
        for row in listed(new_account(plan=plan)):
            assert row["callable"] == (row["refusal"] is None)


def test_on_the_free_plan_it_says_which_models_are_locked_and_which_are_used_up() -> None:
    charlie = new_account(plan="free")
    for _ in range(10):
        send_free_message(charlie)

    rows = models(charlie)

    assert rows[BALANCE_ONLY]["refusal"] == {
        "code": "free_model_locked",
        "message": "The free plan does not include this model. Choose a free one, or upgrade.",
        "retry_after": None,
    }
    assert rows[FREE_MODEL]["refusal"]["code"] == "free_limit"
    assert rows[FREE_MODEL]["free"]["reset_at"] is not None


def test_without_money_it_says_so_and_of_running_calls_that_they_end() -> None:
    alice = new_account(balance=0)
    assert models(alice)[BALANCE_ONLY]["refusal"]["code"] == "insufficient_balance"
    assert models(alice)[BALANCE_ONLY]["refusal"]["retry_after"] is None
    bob = new_account(balance=1_000)
    _, running = hold(bob, 500, owner=live_owner(), model=BALANCE_ONLY)

    refusal = models(bob)[BALANCE_ONLY]["refusal"]
    settle(running, 0)

    assert (refusal["code"], refusal["retry_after"]) == ("insufficient_balance", 10)
    assert models(bob)[BALANCE_ONLY]["refusal"] is None


@pytest.mark.parametrize(
    ("plan", "code"), [("free", "feature_required"), ("starter", "feature_required"), ("pro", None)]
)
def test_a_studio_that_the_plan_lacks_is_named_as_an_order_names_it(
    plan: str, code: str | None
) -> None:
    alice = new_account(plan=plan)
    refusal = models(alice)["veo-3.1"]["refusal"]

    order = {"model": "veo-3.1", "prompt": "The tide comes in."}
    answer = client_of(alice).post("/api/videos/estimate", order, format="json")

    assert (refusal and refusal["code"]) == code
    if refusal:
        assert answer.json()["detail"]["code"] == code
        assert answer.json()["detail"]["message"] == refusal["message"]


def test_a_provider_without_a_key_is_named_before_the_money(settings: LazySettings) -> None:
    settings.PROVIDERS = from_environ({}, simulated=frozenset(), simulator_url="")

    refusal = models(new_account(balance=0))[BALANCE_ONLY]["refusal"]

    assert (refusal["code"], refusal["retry_after"]) == ("provider_unavailable", None)


def test_it_says_how_the_user_wants_each_and_favourites_come_first() -> None:
    alice = new_account()
    want(alice, "claude-haiku-5-5", favourite=True, instructions="Be brief.")
    want(alice, "gpt-6-luna", enabled=False, reasoning_effort="low")

    rows = listed(alice)

    assert rows[0]["id"] == "claude-haiku-5-5"
    assert rows[0]["preferences"] == {
        "enabled": True,
        "favourite": True,
        "reasoning_effort": None,
        "has_instructions": True,
    }
    luna = next(row for row in rows if row["id"] == "gpt-6-luna")
    assert luna["preferences"]["enabled"] is False
    assert luna["preferences"]["reasoning_effort"] == "low"
    assert not any(row["preferences"]["favourite"] for row in listed(new_account())[:5])


def test_the_default_is_the_first_favourite_that_is_enabled_or_the_platforms(
    settings: LazySettings,
) -> None:
    alice = new_account()

    def defaults() -> list[str]:
        return [row["id"] for row in listed(alice) if row["default"]]

    assert defaults() == [settings.DEFAULT_CHAT_MODEL, settings.DEFAULT_SPEECH_MODEL]
    want(alice, "claude-haiku-5-5", favourite=True)
    assert defaults() == ["claude-haiku-5-5", settings.DEFAULT_SPEECH_MODEL]
    want(alice, "claude-haiku-5-5", enabled=False)
    assert defaults() == [settings.DEFAULT_CHAT_MODEL, settings.DEFAULT_SPEECH_MODEL]


def test_a_model_that_is_disabled_is_no_default(settings: LazySettings, configured: None) -> None:
    """As with messages: the first that can be called answers, and nobody where all are disabled."""
    alice = new_account(plan="max")
    want(alice, settings.DEFAULT_CHAT_MODEL, enabled=False)
    rows = [row for row in listed(alice) if row["modality"] == "chat"]
    [default] = [row for row in rows if row["default"]]
    assert default == next(
        row for row in rows if row["callable"] and row["id"] != settings.DEFAULT_CHAT_MODEL
    )
    for row in rows:
        want(alice, row["id"], enabled=False)
    assert [row["id"] for row in listed(alice) if row["default"]] == [settings.DEFAULT_SPEECH_MODEL]


def test_former_names_are_there() -> None:
    rows = models(new_account())

    assert any(row["aliases"] for row in rows.values())
    for row in rows.values():
        kept = AIModel.objects.get(pk=row["id"]).aliases.values_list("name", flat=True)
        assert row["aliases"] == sorted(kept)


# The second one is for the plans, where this one lacks a studio.
@pytest.mark.parametrize(("plan", "more"), [("free", 2), ("max", 1)])
def test_it_takes_hardly_more_queries_than_the_entitlements(plan: str, more: int) -> None:
    client = client_of(new_account(plan=plan))

    def queries(path: str) -> int:
        with CaptureQueriesContext(connection) as made:
            client.get(path)
        return len(made)

    # The least of two: the catalog is read every few seconds, in whichever request comes then.
    entitlements, offer = (
        min(queries(path), queries(path)) for path in ("/api/users/me/entitlements", URL)
    )
    assert offer == entitlements + more


def test_it_is_not_sent_again_where_nothing_has_changed() -> None:
    client = client_of(new_account())
    tag = client.get(URL)["ETag"]

    assert client.get(URL, headers={"If-None-Match": tag}).status_code == 304


def test_it_needs_a_token() -> None:
    assert APIClient().get(URL).status_code == 401
