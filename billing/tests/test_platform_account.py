"""The account that the platform's own calls belong to: no customer, and nobody's way in."""

from datetime import UTC, datetime

import pytest
from django.core.cache import cache
from pytest_django import Settings
from rest_framework.test import APIClient

from accounts.errors import OperatorNotDeletable
from accounts.models import OutgoingEmail, User
from accounts.services import platform_account
from accounts.services.platform_account import PLATFORM_ID
from accounts.services.users import close_for_deletion
from billing import dashboard
from billing.models import Charge, UsageDaily
from billing.selectors import free_budget, probe_budget
from billing.tests.bank import hold, live_owner, release, run, settle
from common.money import NUSD_PER_USD
from tests.operators import new_operator

# On days on which nothing else happens. Rolled back.
NOW = datetime(2030, 8, 15, 12, tzinfo=UTC)
pytestmark = pytest.mark.django_db


@pytest.fixture
def platform(db: None, settings: Settings) -> User:
    run("SELECT set_config('platform.clock', %s, true)", NOW.isoformat())
    settings.FREE_DAILY_BUDGET_USD = settings.PROBE_DAILY_BUDGET_USD = 1
    cache.clear()
    return User.objects.get(pk=platform_account.ensure())


def probe(platform: User, cost: int) -> Charge:
    charge = hold(platform, cost, owner=live_owner(), funding="platform")[1]
    settle(charge, cost)
    return Charge.objects.get(pk=charge)


def test_it_is_created_once(platform: User) -> None:
    assert platform_account.ensure() == platform.pk == PLATFORM_ID
    assert User.objects.filter(pk=PLATFORM_ID).count() == 1
    assert run("SELECT platform_account()")[0] == PLATFORM_ID


def test_a_probe_holds_nothing_bills_nothing_and_is_nobodys_usage(platform: User) -> None:
    charge = probe(platform, 5)
    assert (charge.hold_plan, charge.hold_balance) == (0, 0)
    assert (charge.cost, charge.charge_plan, charge.charge_balance) == (5, 0, 0)
    assert not UsageDaily.objects.filter(account=platform).exists()


def test_probes_have_a_budget_of_their_own(platform: User) -> None:
    owner = live_owner()
    held = hold(platform, NUSD_PER_USD, owner=owner, funding="platform")[1]
    assert probe_budget.is_spent(), "those that run count at their worst"
    release(held)
    assert not probe_budget.is_spent()
    probe(platform, NUSD_PER_USD)
    assert probe_budget.is_spent()
    assert free_budget.find_refusal(User(email_verified=True)) is None
    run("SELECT set_config('platform.clock', %s, true)", "2030-08-16T00:00:00Z")
    assert not probe_budget.is_spent()


def test_it_counts_as_no_account(platform: User) -> None:
    def numbers() -> dict[str, tuple[str, str]]:
        found = dashboard.compute(NOW)
        return {card.title: (card.value, card.note) for card in found.cards}

    User.objects.filter(pk=PLATFORM_ID).update(status=User.Status.SUSPENDED)
    before = numbers()
    User.objects.filter(pk=PLATFORM_ID).update(status=User.Status.ACTIVE)
    probe(platform, 5)
    assert numbers() == before


def test_operators_see_its_charges_and_not_itself(platform: User) -> None:
    charge = probe(platform, 5)
    operator = new_operator()
    assert f">{platform.name}<" not in operator.get("accounts/user/")
    assert str(charge.pk) in operator.get(f"billing/charge/?q={PLATFORM_ID}")
    assert "s own call" in operator.get(f"billing/charge/{charge.pk}/change/")


def test_nobody_signs_in_signs_up_or_has_mails_sent_with_it(
    platform: User, visitor: APIClient
) -> None:
    credentials = {"email": platform.email, "password": "correct horse battery staple"}
    for path in ("login", "signup", "forgot-password"):
        answer = visitor.post(f"/api/auth/{path}", credentials, format="json")
        assert answer.status_code in (401, 422), path
    assert not OutgoingEmail.objects.filter(address=platform.email).exists()


def test_it_is_not_deleted(platform: User) -> None:
    with pytest.raises(OperatorNotDeletable):
        close_for_deletion(user=platform)
