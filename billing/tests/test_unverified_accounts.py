"""What the platform gives away is kept for people: unverified accounts share a little of it."""

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import User
from billing.errors import EmailUnverified, FreeBudgetSpent
from billing.selectors import free_budget
from billing.selectors.entitlements import get_entitlements
from billing.tests.bank import FREE_MODEL, hold, live_owner, run, settle
from billing.tests.test_entitlements import configured as configured
from common.money import NUSD_PER_USD

# Rolled back, on days on which nothing else happens.
pytestmark = pytest.mark.django_db

CENT = NUSD_PER_USD // 100
HOME = "198.51.100.0/24"


@pytest.fixture(autouse=True)
def budget(db: None, settings: Settings) -> Iterator[None]:
    """20 USD a day: 2 for unverified accounts, 0.40 for a network of them, 0.10 for a mailbox."""
    settings.FREE_DAILY_BUDGET_USD = 20
    run("SELECT set_config('platform.clock', %s, true)", "2030-07-02T00:00:00Z")
    cache.clear()
    yield
    cache.clear()


def account(email: str, *, network: str = "", verified: bool = False) -> User:
    return User.objects.create_user(email, signup_network=network, email_verified=verified)


def spend(user: User, cents: int, *, title: bool = False) -> None:
    cost = cents * CENT
    funding = "platform" if title else "customer"
    owner = live_owner()
    verdict, charge = hold(
        user, cost, owner=owner, model=FREE_MODEL, free_window=not title, funding=funding
    )
    assert verdict == "held"
    settle(charge, cost)


def refusal_of(user: User) -> str | None:
    """The code of the account, read each time."""
    cache.clear()
    refusal = free_budget.find_refusal(user, FREE_MODEL)
    return refusal.code if refusal else None


def test_a_new_account_may_chat_at_once() -> None:
    assert refusal_of(account("charlie@example.com", network=HOME)) is None


def test_all_unverified_accounts_have_a_tenth_of_the_budget_and_verified_ones_go_on() -> None:
    for n in range(25):
        spend(account(f"stranger-{n}@example.com", network=f"198.51.{n}.0/24"), 8)
    assert refusal_of(account("charlie@example.com")) == "verify_email"
    assert refusal_of(account("alice@example.com", verified=True)) is None


def test_what_verified_accounts_spend_is_not_counted() -> None:
    spend(account("alice@example.com", verified=True, network=HOME), 1_900)
    assert refusal_of(account("charlie@example.com", network=HOME)) is None


def test_the_share_is_a_setting(settings: Settings) -> None:
    settings.FREE_UNVERIFIED_PERCENT = 0
    charlie = account("charlie@example.com")
    assert refusal_of(charlie) == "verify_email"


def test_after_the_address_is_verified_the_account_goes_on() -> None:
    charlie = account("charlie@example.com")
    spend(charlie, 10)
    assert refusal_of(charlie) == "verify_email"
    charlie.email_verified = True
    charlie.save()
    assert refusal_of(charlie) is None


@pytest.mark.parametrize(
    "alias", ["charlie+1@gmail.com", "c.harlie@gmail.com", "charlie@googlemail.com"]
)
def test_aliases_share_what_their_mailbox_has(alias: str) -> None:
    spend(account("charlie@gmail.com", network=HOME), 6)
    spend(account(alias), 4)
    for again in ("charlie+again@gmail.com", "ch.arlie@googlemail.com"):
        assert refusal_of(account(again)) == "verify_email"
    assert refusal_of(account("bob@gmail.com", network=HOME)) is None


def test_accounts_of_one_network_share_what_it_has() -> None:
    for n in range(5):
        spend(account(f"stranger-{n}@example.com", network=HOME), 8)
    assert refusal_of(account("charlie@example.com", network=HOME)) == "verify_email"
    assert refusal_of(account("bob@example.com", network="203.0.113.0/24")) is None
    assert refusal_of(account("dora@example.com")) is None


def test_titles_count_and_are_not_made_beyond_it() -> None:
    charlie = account("charlie@example.com")
    spend(charlie, 10, title=True)
    cache.clear()
    with pytest.raises(EmailUnverified):
        free_budget.check_for(charlie.pk)


def test_a_message_counts_at_its_worst_while_it_runs() -> None:
    charlie = account("charlie@example.com")
    hold(charlie, 10 * CENT, owner=live_owner(), model=FREE_MODEL, free_window=True)
    assert refusal_of(charlie) == "verify_email"


def test_the_budget_of_all_comes_first() -> None:
    spend(account("alice@example.com", verified=True), 2_000)
    assert isinstance(free_budget.find_refusal(account("charlie@example.com")), FreeBudgetSpent)


def test_the_refusal_has_the_fields_of_every_402_and_says_what_to_do() -> None:
    charlie = account("charlie@example.com")
    spend(charlie, 10)
    refusal = free_budget.find_refusal(charlie, FREE_MODEL)
    assert isinstance(refusal, EmailUnverified)
    assert refusal.status == 402
    assert "verify" in refusal.text
    assert refusal.extra == {
        "model_key": FREE_MODEL,
        "plan": "free",
        **dict.fromkeys(("balance_usd", "held_usd", "available_usd"), 0),
        "needed_usd": None,
    }


def test_entitlements_say_so_before() -> None:
    charlie = account("charlie@example.com")
    before = get_entitlements(charlie)
    assert not before.verify_email
    spend(charlie, 10)
    cache.clear()
    after = get_entitlements(charlie)
    assert after.verify_email
    refusals = {
        each.refusal.code for each in after.models if each.modality == "chat" and each.refusal
    }
    assert refusals == {"verify_email"}
    assert not any(model.callable for model in after.models if model.modality == "chat")
    charlie.email_verified = True
    charlie.save()
    assert not get_entitlements(charlie).verify_email


def test_verified_accounts_ask_nothing_more(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    alice = account("alice@example.com", verified=True)
    free_budget.find_refusal(alice)
    with django_assert_num_queries(0):
        assert free_budget.find_refusal(alice) is None


@pytest.mark.parametrize("is_all_spent", [False, True])
def test_the_entitlements_of_an_unverified_account_take_six_statements(
    is_all_spent: bool, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """Whatever the answer: standing and windows, then the statement that has so many seconds, which
    are set, between the begin and the end of a transaction."""
    charlie = account("charlie@example.com", network=HOME)
    if is_all_spent:
        for n in range(5):
            spend(account(f"bob{n}@example.com", network=HOME), 10)
    get_entitlements(charlie)
    with django_assert_num_queries(2 + 4):
        assert get_entitlements(charlie).verify_email is is_all_spent
