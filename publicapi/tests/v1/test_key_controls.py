"""What becomes of a key, and of the calls that run with it, when its controls or its owner's
account change."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest

from accounts.models import ApiKey
from billing.models import KeyMonth
from common.money import NUSD_PER_CENT
from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import BALANCE_ONLY, IN_PLAN, Customer
from publicapi.tests.v1.errors import refusal

CHAT = "/v1/chat/completions"
TOKENS = 20


@contextmanager
def running_stream(customer: Customer) -> Iterator[None]:
    """A stream that has begun when the block begins, and goes to its end after the block, billed
    for all that it brought."""
    steer = {"tokens": TOKENS, "delay_ms": 60}
    body = customer.body(model=BALANCE_ONLY, stream=True, steer=steer)
    with customer.http.stream("POST", CHAT, json=body, headers=customer.headers) as response:
        lines = response.iter_lines()
        next(lines)
        charge = customer.charge()
        assert charge.status == "held"
        yield
        rest = "\n".join(lines)
    assert '"finish_reason":"stop"' in rest
    assert rest.endswith("data: [DONE]\n")
    charge.refresh_from_db()
    assert (charge.status, charge.tokens_out) == ("settled", TOKENS)


# --- Under a running call -------------------------------------------------------------------------


def test_a_key_that_is_revoked_in_mid_stream_ends_its_answer_and_fails_the_next(
    alice: Customer,
) -> None:
    with running_stream(alice):
        assert alice.manage("DELETE", f"/{alice.key.pk}").status_code == 204
        refusal(alice.chat(), 401, "invalid_api_key", keyed=False)
    assert alice.spent_of_balance() > 0


def test_a_cap_that_is_lowered_in_mid_stream_stops_the_next_call_only(alice: Customer) -> None:
    with running_stream(alice):
        alice.change_key(monthly_spend_cap_usd=0)
        response = alice.chat()
        refusal(response, 402, "spend_cap_reached")
        assert "retry-after" not in response.headers
    assert alice.spent_of_balance() > 0


def test_a_cap_that_is_raised_in_mid_stream_lets_the_next_call_in(customer: NewCustomer) -> None:
    alice = customer(cap=NUSD_PER_CENT)
    with running_stream(alice):
        assert alice.chat().headers["retry-after"] == "1"
        alice.change_key(monthly_spend_cap_usd=5)
        assert alice.chat().status_code == 200


def test_a_list_that_is_narrowed_in_mid_stream_stops_the_next_call_only(alice: Customer) -> None:
    with running_stream(alice):
        alice.change_key(allowed_models=[IN_PLAN])
        refusal(alice.chat(model=BALANCE_ONLY), 403, "model_not_allowed")
        assert alice.chat(model=IN_PLAN).status_code == 200


def test_a_plan_that_falls_in_mid_stream_stops_the_next_call_only(alice: Customer) -> None:
    with running_stream(alice):
        alice.move_to("free")
        refusal(alice.chat(), 403, "api_access_required")


def test_an_account_that_is_suspended_in_mid_stream_ends_its_answer(alice: Customer) -> None:
    with running_stream(alice):
        alice.suspend()
        refusal(alice.chat(), 403, "account_disabled")


# --- Cap and list ---------------------------------------------------------------------------------


def test_a_reached_cap_opens_when_it_is_raised_and_shuts_when_it_is_lowered(
    customer: NewCustomer,
) -> None:
    alice = customer(cap=NUSD_PER_CENT)
    assert alice.chat(model=BALANCE_ONLY, steer={"tokens": 1000}).status_code == 200
    refusal(alice.chat(), 402, "spend_cap_reached")

    alice.change_key(monthly_spend_cap_usd=100_000)
    assert alice.chat().status_code == 200
    alice.change_key(monthly_spend_cap_usd=0.01)
    refusal(alice.chat(), 402, "spend_cap_reached")
    alice.change_key(monthly_spend_cap_usd=None)
    assert alice.chat().status_code == 200


@pytest.mark.parametrize(("room", "status"), [(1, 200), (0, 402)])
def test_a_cap_is_reached_to_the_nano_dollar(alice: Customer, room: int, status: int) -> None:
    assert alice.chat(model=BALANCE_ONLY).status_code == 200
    cap = alice.spent_of_balance() + room
    ApiKey.objects.filter(pk=alice.key.pk).update(monthly_spend_cap=cap)
    assert alice.chat().status_code == status


def test_the_cap_of_one_key_leaves_the_others_alone(customer: NewCustomer) -> None:
    alice = customer(cap=0)
    made = alice.manage("POST", name="another").json()
    refusal(alice.chat(), 402, "spend_cap_reached")
    assert alice.chat_with(made["key"]).status_code == 200
    assert not KeyMonth.objects.filter(api_key=alice.key).exclude(billed=0).exists()


def test_an_alias_on_the_list_is_its_current_model_and_nothing_else(alice: Customer) -> None:
    alice.change_key(allowed_models=["gpt-4o-mini"])
    assert alice.chat(model="gpt-4o-mini").status_code == 200
    assert alice.chat(model=IN_PLAN).status_code == 200
    refusal(alice.chat(model=BALANCE_ONLY), 403, "model_not_allowed")


# --- The account ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/gpt-6-luna", "/v1/usage"])
def test_a_plan_below_max_shuts_every_endpoint_until_it_comes_back(
    alice: Customer, path: str
) -> None:
    alice.move_to("pro")
    refusal(alice.get(path), 403, "api_access_required")
    refusal(alice.chat(), 403, "api_access_required")
    alice.move_to("max")
    assert alice.get(path).status_code == 200
    assert alice.chat().status_code == 200


def test_below_max_keys_can_be_seen_changed_and_revoked_but_not_made(alice: Customer) -> None:
    alice.move_to("free")
    assert alice.manage("POST", name="another").status_code == 403
    [listed] = alice.manage("GET").json()
    assert listed["id"] == str(alice.key.pk)
    alice.change_key(monthly_spend_cap_usd=1)
    assert alice.manage("DELETE", f"/{alice.key.pk}").status_code == 204
    alice.move_to("max")
    refusal(alice.chat(), 401, "invalid_api_key", keyed=False)


def test_a_suspended_account_works_again_when_it_is_reinstated(alice: Customer) -> None:
    assert alice.chat().status_code == 200
    alice.suspend()
    refusal(alice.chat(), 403, "account_disabled")
    refusal(alice.get("/v1/usage"), 403, "account_disabled")
    assert alice.manage("GET").status_code == 403
    alice.reinstate()
    assert alice.chat().status_code == 200


# --- When a key was last used ---------------------------------------------------------------------


def last_used(customer: Customer) -> datetime | None:
    """As the list of keys shows it."""
    [listed] = customer.manage("GET").json()
    shown = listed["last_used_at"]
    return shown and datetime.fromisoformat(shown)


def test_a_key_shows_when_it_was_last_used_to_the_minute(alice: Customer) -> None:
    assert last_used(alice) is None
    alice.chat()
    first = last_used(alice)
    assert first is not None
    alice.chat()
    assert last_used(alice) == first

    earlier = first - timedelta(seconds=61)
    ApiKey.objects.filter(pk=alice.key.pk).update(last_used_at=earlier)
    alice.chat()
    moved = last_used(alice)
    assert moved is not None
    assert moved > first


def test_a_call_that_is_not_allowed_does_not_count_as_use(alice: Customer) -> None:
    alice.change_key(allowed_models=[IN_PLAN])
    alice.chat(model=BALANCE_ONLY)
    assert last_used(alice) is None
