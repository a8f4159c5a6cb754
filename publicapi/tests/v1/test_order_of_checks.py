"""Where a request is wrong in two ways, which of them is told: the earlier check's."""

from typing import Any

from publicapi.tests.v1.conftest import NewCustomer
from publicapi.tests.v1.customer import BALANCE_ONLY, IN_PLAN, NOT_CONFIGURED, Customer
from publicapi.tests.v1.errors import refusal
from publicapi.tests.v1.rate_window import use_up

BROKEN: dict[str, Any] = {"content": b"{"}


def test_the_key_is_looked_at_before_the_body(alice: Customer) -> None:
    alice.revoke()
    refusal(alice.post(**BROKEN), 401, "invalid_api_key", keyed=False)


def test_the_rate_is_looked_at_before_the_account(alice: Customer) -> None:
    alice.suspend()
    use_up(alice.key)
    refusal(alice.chat(), 429, "rate_limit_exceeded")


def test_the_account_is_looked_at_before_the_plan(customer: NewCustomer) -> None:
    alice = customer(plan="free")
    alice.suspend()
    refusal(alice.chat(), 403, "account_disabled")


def test_the_plan_is_looked_at_before_the_body(customer: NewCustomer) -> None:
    refusal(customer(plan="pro").post(**BROKEN), 403, "api_access_required")


def test_the_body_is_looked_at_before_the_model(alice: Customer) -> None:
    refusal(alice.chat(model="no-such-model", messages=[]), 400, "invalid_messages")


def test_the_model_is_looked_at_before_the_keys_list(customer: NewCustomer) -> None:
    alice = customer(models=(IN_PLAN,))
    refusal(alice.chat(model="no-such-model"), 404, "model_not_found")


def test_the_keys_list_is_looked_at_before_the_provider(customer: NewCustomer) -> None:
    alice = customer(models=(IN_PLAN,))
    refusal(alice.chat(model=NOT_CONFIGURED), 403, "model_not_allowed")


def test_the_provider_is_looked_at_before_the_money(customer: NewCustomer) -> None:
    alice = customer(balance_usd=0, cap=0)
    refusal(alice.chat(model=NOT_CONFIGURED), 503, "provider_unavailable")


def test_the_cap_is_looked_at_before_the_balance(customer: NewCustomer) -> None:
    alice = customer(balance_usd=0, cap=0)
    refusal(alice.chat(model=BALANCE_ONLY), 402, "spend_cap_reached")
