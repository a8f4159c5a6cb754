"""GET /v1/models and GET /v1/models/{id}"""

from collections import Counter
from typing import Any

import httpx
import pytest

from ai.catalog import seeds
from ai.catalog.selectors import get_catalog
from billing.services.balance import change_plan, set_contract
from publicapi.tests.v1 import wire
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import BALANCE_ONLY, IN_PLAN, Customer
from publicapi.tests.v1.errors import RATE_HEADERS, refusal
from tests.service import Web

LUNA: dict[str, Any] = {
    "id": "gpt-6-luna",
    "object": "model",
    "created": 1_790_812_800,  # 2026-10-01
    "owned_by": "openai",
    "display_name": "GPT-6 Luna",
    "modality": "chat",
    "capabilities": {"vision": True, "tools": True, "streaming": True},
    "context_window": 272_000,
    "max_output_tokens": 128_000,
    "pricing": {
        "unit": "per_1m_tokens",
        "input_per_1m_usd": 0.1,
        "cached_input_per_1m_usd": 0.01,
        "output_per_1m_usd": 0.5,
        "platform_fee_per_1m_usd": 1.0,
        "effective_input_per_1m_usd": 1.1,
        "effective_cached_input_per_1m_usd": 1.01,
        "effective_output_per_1m_usd": 1.5,
    },
}
FLARE_PRICING = {
    "unit": "per_image",
    "per_image_usd": 0.013,
    "platform_fee_per_image_usd": 0.01,
    "effective_per_image_usd": 0.023,
    "effective_per_image_usd_by_quality": {"low": 0.016, "standard": 0.023, "high": 0.063},
}


def rows(response: httpx.Response) -> dict[str, dict[str, Any]]:
    assert response.status_code == 200, response.text
    return {row["id"]: row for row in response.json()["data"]}


def test_anybody_may_read_the_list(http: httpx.Client) -> None:
    response = http.get("/v1/models")
    listed = rows(response)
    assert set(response.json()) == {"object", "data"}
    assert response.json()["object"] == "list"
    assert response.headers["content-type"] == "application/json"
    assert listed["gpt-6-luna"] == LUNA
    assert not any(name in response.headers for name in RATE_HEADERS)


def test_the_list_is_all_chat_image_and_embeddings_models(http: httpx.Client) -> None:
    listed = rows(http.get("/v1/models"))
    offered = seeds.CHAT_MODELS + seeds.IMAGE_MODELS + seeds.EMBEDDING_MODELS + seeds.LOCAL_MODELS
    assert {name: row["modality"] for name, row in listed.items()} == {
        model.id: model.modality for model in offered if model.modality != "speech"
    }


def test_one_key_reaches_all_models_of_v1(alice: Customer) -> None:
    """Beside those of this machine, which are listed where it serves them."""
    here = {model.id for model in seeds.LOCAL_MODELS}
    reached = [
        row["modality"]
        for name, row in rows(alice.get("/v1/models")).items()
        if row["allowed_for_key"] and name not in here
    ]
    hosted = [*seeds.CHAT_MODELS, *seeds.IMAGE_MODELS, *seeds.EMBEDDING_MODELS]
    assert Counter(reached) == Counter(model.modality for model in hosted)


@pytest.mark.parametrize("model", ["veo-3.1", "ray-2", "meshy-6", "tripo-h3", "nova-3"])
def test_a_model_of_another_product_is_not_called_through_v1(alice: Customer, model: str) -> None:
    assert get_catalog().find(model) is not None
    for call in (alice.chat, alice.embed, alice.draw):
        refusal(call(model=model), 404, "model_not_found")
    refusal(alice.get(f"/v1/models/{model}"), 404, "model_not_found")
    assert (alice.charges(), alice.provider_calls()) == ([], [])


def test_a_speech_model_is_none_of_v1(http: httpx.Client) -> None:
    refusal(http.get("/v1/models/nova-3"), 404, "model_not_found", keyed=False)


def test_an_image_is_priced_by_the_piece(http: httpx.Client) -> None:
    assert rows(http.get("/v1/models"))["gpt-image-2.5-flare"]["pricing"] == FLARE_PRICING


def test_embeddings_cost_the_providers_rate_and_the_fee(http: httpx.Client) -> None:
    row = rows(http.get("/v1/models"))["text-embedding-3-small"]
    assert row["modality"] == "embedding"
    assert row["pricing"]["effective_input_per_1m_usd"] == 1.02


def test_every_effective_price_is_the_rate_and_the_fee(http: httpx.Client) -> None:
    for row in rows(http.get("/v1/models")).values():
        pricing = row["pricing"]
        unit = pricing["unit"]
        names = ["per_image"] if unit == "per_image" else ["input_per_1m", "output_per_1m"]
        if pricing.get("cached_input_per_1m_usd") is not None:
            names.append("cached_input_per_1m")
        fee = pricing[f"platform_fee_{unit.replace('_tokens', '')}_usd"]
        assert fee > 0
        for name in names:
            total = pricing[f"{name}_usd"] + fee
            assert pricing[f"effective_{name}_usd"] == pytest.approx(total, abs=1e-12), row["id"]


def test_cached_input_has_a_price_where_its_provider_lists_one(http: httpx.Client) -> None:
    listed = rows(http.get("/v1/models"))
    tokens = {name: row["pricing"] for name, row in listed.items() if row["modality"] != "image"}
    without = [
        name
        for name, pricing in tokens.items()
        if pricing["cached_input_per_1m_usd"] is None
        and pricing["effective_cached_input_per_1m_usd"] is None
    ]
    assert without == ["smollm2-135m", "text-embedding-3-small"]
    for name in tokens.keys() - set(without):
        pricing = tokens[name]
        assert 0 < pricing["cached_input_per_1m_usd"] < pricing["input_per_1m_usd"]


def test_a_key_adds_the_plan_and_what_it_may_call(customer: NewCustomer) -> None:
    alice = customer(models=(BALANCE_ONLY, "text-embedding-3-small"))
    response = alice.get("/v1/models")
    listed = rows(response)
    assert response.json()["plan"] == "max"
    assert listed[IN_PLAN] == {**LUNA, "allowed_for_key": False, "included_in_plan": True}
    assert listed[BALANCE_ONLY]["allowed_for_key"] is True
    assert listed[BALANCE_ONLY]["included_in_plan"] is False
    assert listed["text-embedding-3-small"]["included_in_plan"] is False
    allowed = {name for name, row in listed.items() if row["allowed_for_key"]}
    assert allowed == {BALANCE_ONLY, "text-embedding-3-small"}


def test_a_key_without_a_list_may_call_every_model(alice: Customer) -> None:
    assert all(row["allowed_for_key"] for row in rows(alice.get("/v1/models")).values())


def test_another_plan_includes_other_models(customer: NewCustomer) -> None:
    included = {
        plan: {
            name
            for name, row in rows(customer(plan=plan).get("/v1/models")).items()
            if row["included_in_plan"]
        }
        for plan in ("max", "enterprise")
    }
    assert IN_PLAN in included["max"]
    assert included["enterprise"] == set()


def test_a_contract_includes_what_it_grants_until_the_plan_is_another(
    customer: NewCustomer,
) -> None:
    bob = customer(plan="enterprise")
    set_contract(account=bob.user, model_id=BALANCE_ONLY, granted=1)
    set_contract(account=bob.user, model_id=IN_PLAN, granted=0)

    def included() -> set[str]:
        listed = rows(bob.get("/v1/models"))
        return {name for name, row in listed.items() if row["included_in_plan"]}

    assert included() == {BALANCE_ONLY}
    change_plan(account=bob.user, plan="max")
    assert IN_PLAN in included()
    assert BALANCE_ONLY not in included()


def test_one_model_is_the_row_of_the_list(alice: Customer) -> None:
    assert alice.http.get("/v1/models/gpt-6-luna").json() == LUNA
    row = alice.get("/v1/models/gpt-6-luna").json()
    assert row == {**LUNA, "allowed_for_key": True, "included_in_plan": True}


def test_a_legacy_alias_finds_its_current_model(http: httpx.Client) -> None:
    response = http.get("/v1/models/gpt-4o-mini")
    assert response.json() == LUNA


@pytest.mark.parametrize(
    "name",
    [
        "no-such-model",
        "dall-e-2",
        "gpt-6-luna/",
        "gpt-6-luna/x",
        "gpt-6-lun%2561",
        "%00",
        "%ff%fe",
        "%F0%9F%98%80",
        "a/b/c",
        "..%2Fmodels",
        "%",
        "'; DROP TABLE",
        "m" * 8000,
    ],
    ids=lambda name: name[:20],
)
def test_any_other_name_is_not_found(web: Web, name: str) -> None:
    with wire.client(web.url) as http:
        refusal(http.get(f"/v1/models/{name}"), 404, "model_not_found", keyed=False)


def test_escapes_in_a_name_are_read_once(http: httpx.Client) -> None:
    assert http.get("/v1/models/gpt-6-lun%61").json() == LUNA


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/gpt-6-luna"])
def test_a_bad_key_is_refused_although_none_is_needed(alice: Customer, path: str) -> None:
    alice.revoke()
    refusal(alice.get(path), 401, "invalid_api_key", keyed=False)


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/gpt-6-luna"])
def test_a_key_without_api_access_is_refused(customer: NewCustomer, path: str) -> None:
    refusal(customer(plan="free").get(path), 403, "api_access_required")


def test_an_unknown_model_with_a_key_carries_the_rate_headers(alice: Customer) -> None:
    refusal(alice.get("/v1/models/no-such-model"), 404, "model_not_found")


def test_a_spent_cap_and_an_empty_balance_do_not_hide_the_list(customer: NewCustomer) -> None:
    assert customer(cap=0, balance_usd=0).get("/v1/models").status_code == 200


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/gpt-6-luna"])
def test_head_answers_the_headers_alone(http: httpx.Client, path: str) -> None:
    whole, head = http.get(path), http.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == whole.headers["content-length"]
    assert http.get(path).status_code == 200  # the connection still stands


def test_queries_and_bodies_are_ignored(http: httpx.Client) -> None:
    assert http.get("/v1/models?limit=1").json() == http.get("/v1/models").json()
    assert http.request("GET", "/v1/models", content=b"{").status_code == 200


def test_a_key_with_features_sees_which_of_them_each_model_can(customer: NewCustomer) -> None:
    alice = customer(features=("tools", "structured_outputs", "vision"))
    listed = rows(alice.get("/v1/models"))
    assert listed[IN_PLAN]["features_for_key"] == ["tools", "structured_outputs", "vision"]
    assert listed["text-embedding-3-small"]["features_for_key"] == []
    for row in listed.values():
        can = row["capabilities"]
        assert ("tools" in row["features_for_key"]) == can["tools"]
        assert ("vision" in row["features_for_key"]) == can["vision"]
    alice.change_key(features=["vision"])
    assert alice.get(f"/v1/models/{IN_PLAN}").json()["features_for_key"] == ["vision"]
