"""The errors of `/v1`, one by one: status, code, envelope, headers, and nothing billed."""

import threading

import httpx
import pytest

from accounts import keys
from billing.models import KeyMonth
from common.money import NUSD_PER_CENT
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import BALANCE_ONLY, IN_PLAN, NOT_CONFIGURED, Customer
from publicapi.tests.v1.errors import refusal

CHAT = "/v1/chat/completions"


def will_not_help(response: httpx.Response) -> bool:
    """Are clients told not to try again by themselves?"""
    return ("x-should-retry", "false") in response.headers.items()


# --- 401 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Basic bWtfOg=="},
        {"X-Api-Key": ""},
    ],
    ids=str,
)
def test_without_a_bearer_token_the_key_is_missing(
    http: httpx.Client, headers: dict[str, str]
) -> None:
    response = http.post(CHAT, json={}, headers=headers)
    refusal(response, 401, "missing_api_key", keyed=False)


@pytest.mark.parametrize(
    "key",
    [
        keys.generate(),
        "mk_" + "0" * 44,
        "mk_short",
        "sk-somebody-elses",
        "two words",
        "mk_" + "é" * 44,
        "mk_" + "0" * 8000,
    ],
    ids=["unknown", "checksum", "short", "foreign", "words", "latin", "long"],
)
def test_a_key_that_nobody_has_is_invalid(http: httpx.Client, key: str) -> None:
    response = http.post(CHAT, json={}, headers={b"Authorization": f"Bearer {key}".encode("latin")})
    refusal(response, 401, "invalid_api_key", keyed=False)


def test_a_mistyped_key_is_invalid(alice: Customer) -> None:
    typed = alice.raw_key[:-1] + ("A" if alice.raw_key[-1] != "A" else "B")
    response = alice.chat_with(typed)
    refusal(response, 401, "invalid_api_key", keyed=False)


def test_a_revoked_key_fails_from_its_next_request(alice: Customer) -> None:
    assert alice.chat().status_code == 200
    alice.revoke()
    refusal(alice.chat(), 401, "invalid_api_key", keyed=False)
    assert len(alice.provider_calls()) == 1


def test_the_scheme_may_be_written_in_any_case(alice: Customer) -> None:
    response = alice.post(json=alice.body(), headers={"Authorization": f"bearer   {alice.raw_key}"})
    assert response.status_code == 200


# --- 402 ------------------------------------------------------------------------------------------


def test_an_empty_balance_pays_for_nothing_outside_the_plan(customer: NewCustomer) -> None:
    alice = customer(balance_usd=0)
    response = alice.chat(model=BALANCE_ONLY)
    error = refusal(response, 402, "insufficient_balance")
    assert will_not_help(response)
    assert error["model_key"] == BALANCE_ONLY
    assert error["plan"] == "max"
    assert error["balance_usd"] == 0
    assert error["needed_usd"] > 0
    alice.assert_nothing_billed()
    assert (alice.charges(), alice.provider_calls()) == ([], [])


def test_a_request_that_may_cost_more_than_remains_says_how_much(customer: NewCustomer) -> None:
    alice = customer(balance_usd=1)
    response = alice.chat(model=BALANCE_ONLY, max_tokens=100_000)
    error = refusal(response, 402, "insufficient_for_request")
    assert will_not_help(response)
    assert (error["balance_usd"], error["afford_usd"]) == (1, 1)
    # Twice 100,000 tokens at 16 USD per million, and twice the input at 4.
    assert 3.2 < error["needed_usd"] < 3.21
    alice.assert_nothing_billed()
    assert (alice.charges(), alice.provider_calls()) == ([], [])


def test_a_smaller_max_tokens_makes_it_affordable(customer: NewCustomer) -> None:
    alice = customer(balance_usd=1)
    assert alice.chat(model=BALANCE_ONLY, max_tokens=100).status_code == 200


def test_a_spent_cap_is_refused_for_good(customer: NewCustomer) -> None:
    alice = customer(cap=NUSD_PER_CENT)
    assert alice.chat(model=BALANCE_ONLY, steer={"tokens": 1000}).status_code == 200
    spent = alice.spent_of_balance()
    assert spent > NUSD_PER_CENT

    response = alice.chat(model=BALANCE_ONLY)

    refusal(response, 402, "spend_cap_reached")
    assert will_not_help(response)
    assert "retry-after" not in response.headers
    assert alice.spent_of_balance() == spent
    assert len(alice.provider_calls()) == 1


def test_a_cap_of_zero_lets_nothing_through(customer: NewCustomer) -> None:
    alice = customer(cap=0)
    refusal(alice.chat(), 402, "spend_cap_reached")
    alice.assert_nothing_billed()
    assert alice.provider_calls() == []


def test_a_cap_that_running_calls_fill_is_worth_another_try(customer: NewCustomer) -> None:
    alice = customer(cap=NUSD_PER_CENT)
    body = alice.body(model=BALANCE_ONLY, stream=True, steer={"tokens": 3, "delay_ms": 300})
    with alice.http.stream("POST", CHAT, json=body, headers=alice.headers) as running:
        lines = running.iter_lines()
        next(lines)
        response = alice.chat(model=BALANCE_ONLY)

        refusal(response, 402, "spend_cap_reached")
        assert response.headers["retry-after"] == "1"
        assert "x-should-retry" not in response.headers
        list(lines)

    assert alice.chat(model=BALANCE_ONLY).status_code == 200


def test_many_calls_at_once_on_an_empty_balance_are_all_refused(customer: NewCustomer) -> None:
    alice = customer(balance_usd=0)
    answers: list[httpx.Response] = []
    calls = [
        threading.Thread(target=lambda: answers.append(alice.chat(model=BALANCE_ONLY)))
        for _ in range(8)
    ]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    assert len(answers) == 8
    for answer in answers:
        refusal(answer, 402, "insufficient_balance")
    assert not KeyMonth.objects.filter(api_key=alice.key).exclude(held=0).exists()
    alice.assert_nothing_billed()


# --- 403 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plan", ["free", "starter", "pro"])
def test_a_plan_below_max_has_no_api_access(customer: NewCustomer, plan: str) -> None:
    alice = customer(plan=plan)
    response = alice.chat()
    refusal(response, 403, "api_access_required")
    assert will_not_help(response)
    alice.assert_nothing_billed()


@pytest.mark.parametrize("plan", ["max", "advanced", "enterprise"])
def test_max_and_what_is_above_it_has_api_access(customer: NewCustomer, plan: str) -> None:
    assert customer(plan=plan).chat().status_code == 200


def test_a_suspended_account_is_disabled(alice: Customer) -> None:
    alice.suspend()
    response = alice.chat()
    refusal(response, 403, "account_disabled")
    assert will_not_help(response)
    alice.assert_nothing_billed()


def test_a_model_that_is_not_on_the_keys_list_is_not_allowed(customer: NewCustomer) -> None:
    alice = customer(models=(IN_PLAN,))
    response = alice.chat(model=BALANCE_ONLY)
    refusal(response, 403, "model_not_allowed")
    assert will_not_help(response)
    alice.assert_nothing_billed()
    assert alice.chat(model=IN_PLAN).status_code == 200


def test_an_alias_of_a_listed_model_is_allowed(customer: NewCustomer) -> None:
    assert customer(models=(IN_PLAN,)).chat(model="gpt-4o-mini").status_code == 200


# --- 404 and 405 ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        "no-such-model",
        "dall-e-3",
        "text-davinci-003",
        "gpt-image-2.5-flare",
        "text-embedding-3-small",
        "",
        "GPT-6-LUNA",
        f" {IN_PLAN}",
        "../gpt-6-luna",
        "nul\0",
        "m" * 100_000,
    ],
    ids=lambda model: model[:25] or "empty",
)
def test_what_is_no_chat_model_is_not_found(alice: Customer, model: str) -> None:
    response = alice.chat(model=model)
    refusal(response, 404, "model_not_found")
    assert will_not_help(response)
    alice.assert_nothing_billed()


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("/v1/responses", "POST /v1/chat/completions"),
        ("/v1/responses", "pydantic-ai: `OpenAIChatModel`"),
        ("/v1/responses", "openai-agents: `OpenAIChatCompletionsModel`"),
        ("/v1/completions", "POST /v1/chat/completions"),
        ("/v1/messages", "POST /v1/chat/completions"),
        ("/v1", "GET /v1/models"),
        ("/v1?x=1", "GET /v1/models"),
        ("/v1/", "GET /v1/models"),
        ("/v1/models/", "GET /v1/models"),
        ("/v1/chat/completions/", "/v1/chat/completions"),
        ("/v1/no/such/thing", "GET /v1/models"),
        ("/v1/%00", "GET /v1/models"),
        ("/v1//models", "GET /v1/models"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_unknown_path_is_not_found_and_says_where_to_go(
    http: httpx.Client, method: str, path: str, hint: str
) -> None:
    response = http.request(method, path)
    error = refusal(response, 404, "not_found", keyed=False)
    assert hint in error["message"]
    assert will_not_help(response)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", CHAT, "POST, OPTIONS"),
        ("PUT", CHAT, "POST, OPTIONS"),
        ("DELETE", CHAT, "POST, OPTIONS"),
        ("POST", "/v1/models", "GET, HEAD, OPTIONS"),
        ("DELETE", f"/v1/models/{IN_PLAN}", "GET, HEAD, OPTIONS"),
        ("PROPFIND", "/v1/models", "GET, HEAD, OPTIONS"),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(
    http: httpx.Client, method: str, path: str, allowed: str
) -> None:
    response = http.request(method, path)
    refusal(response, 405, "method_not_allowed", keyed=False)
    assert response.headers["allow"] == allowed


# --- 502 and 503 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_provider_that_fails_before_output_costs_nothing(
    alice: Customer, status: int, stream: bool
) -> None:
    response = alice.chat(stream=stream, steer={"fail": "before", "status": status})
    error = refusal(response, 502, "upstream_error")
    assert "Nothing was billed" in error["message"]
    assert "x-should-retry" not in response.headers
    alice.assert_nothing_billed()
    assert {call["outcome"] for call in alice.provider_calls()} == {"refused"}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_a_provider_that_does_not_serve_us_has_failed_and_is_not_asked_again(
    alice: Customer, status: int, stream: bool
) -> None:
    response = alice.chat(stream=stream, steer={"fail": "before", "status": status})
    refusal(response, 502, "upstream_error")
    assert len(alice.provider_calls()) == 1
    assert will_not_help(response)
    alice.assert_nothing_billed()


def test_a_provider_without_a_key_is_unavailable_before_any_hold(alice: Customer) -> None:
    response = alice.chat(model=NOT_CONFIGURED)
    refusal(response, 503, "provider_unavailable")
    assert will_not_help(response)
    alice.assert_nothing_billed()
    assert alice.charges() == []
