"""The 30 days behind the demo accounts: the money is true, and every report has something to show.

One history serves all of these tests, in a transaction that is rolled back after them. Other tests
leave rows behind, so that whatever is looked at is what belongs to the demo's accounts.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from io import StringIO
from pathlib import Path
from uuid import UUID

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.db.models import Count, Q, QuerySet, Sum
from django.test import override_settings
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from accounts.models import ApiKey, User
from ai.catalog.models import PriceVersion
from ai.catalog.pricing import token_cost
from ai.catalog.selectors import get_catalog
from ai.catalog.types import TokenPrice
from billing.models import (
    Charge,
    ContractAllowance,
    FreeWindow,
    KeyMonth,
    LedgerEntry,
    Plan,
    Subscription,
    UsageDaily,
    Wallet,
)
from billing.services.reconciliation import find_violations
from common.ids import unix_seconds
from common.money import NUSD_PER_USD
from demo.cast import CAST

pytestmark = pytest.mark.usefixtures("output")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "demo.json"


@pytest.fixture(scope="module")
def output(file: Path, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """What the command said when it made the demo."""
    urls = {"PUBLIC_BASE_URL": "http://127.0.0.1:8000", "SIMULATOR_URL": "http://127.0.0.1:9000"}
    with (
        django_db_blocker.unblock(),
        override_settings(DEMO_SEEDS=True, **urls),
        transaction.atomic(),
    ):
        yield create_demo(file)
        transaction.set_rollback(True)


def create_demo(file: Path) -> str:
    said = StringIO()
    call_command("create_demo", write=file, stdout=said)
    return said.getvalue()


def people() -> QuerySet[User]:
    return User.objects.filter(email__in=[person.email for person in CAST])


def charges() -> QuerySet[Charge]:
    return Charge.objects.filter(account__in=people())


def ids() -> list[UUID]:
    return list(people().values_list("pk", flat=True))


def today() -> date:
    return datetime.now(UTC).date()


def test_the_user_is_told_what_is_being_written(output: str) -> None:
    assert output.splitlines()[0] == "Writing 30 days of usage by 14 demo accounts."


def test_the_invariants_hold() -> None:
    connection.check_constraints()
    assert find_violations() == []
    assert not charges().filter(Q(status="held") | Q(shortfall__gt=0)).exists()


def test_a_second_run_adds_nothing(file: Path) -> None:
    written = file.read_text()
    counted = [rows.objects.count() for rows in (User, Charge, LedgerEntry, ApiKey)]
    assert create_demo(file) == f"Demo account demo@example.com: the credentials are in {file}.\n"
    assert [rows.objects.count() for rows in (User, Charge, LedgerEntry, ApiKey)] == counted
    assert file.read_text() == written


def test_the_accounts_are_a_dozen_on_all_plans() -> None:
    assert len(people()) >= 12
    on = set(Subscription.objects.filter(account__in=people()).values_list("plan_id", flat=True))
    assert on == set(Plan.objects.values_list("key", flat=True))
    recently = timezone.now() - timedelta(days=22)
    changed = Subscription.objects.filter(account__in=people(), started_at__gt=recently)
    assert changed.exclude(plan="free").count() >= 4


def test_one_account_is_suspended_one_deactivated_and_one_has_a_contract() -> None:
    assert people().filter(status="suspended").count() == 1
    assert people().filter(status="deactivated").count() == 1
    contracts = ContractAllowance.objects.filter(account__in=people())
    [customer] = {row.account for row in contracts}
    assert customer.subscription.plan_id == "enterprise"
    assert charges().filter(account=customer, charge_plan__gt=0).exists()


def test_the_demo_account_has_fifty_dollars_max_and_a_past() -> None:
    demo = User.objects.get(email="demo@example.com")
    assert Wallet.objects.get(account=demo).balance == 50 * NUSD_PER_USD
    assert Subscription.objects.get(account=demo).plan_id == "max"
    assert charges().filter(account=demo).count() > 100
    keys = ApiKey.objects.filter(account=demo, revoked_at=None)
    assert {key.name for key in keys} == {"Demo", "Agents"}
    last = LedgerEntry.objects.filter(account=demo).latest("seq")
    assert last.description == "Demo credit"
    assert last.created_at > timezone.now() - timedelta(minutes=5)


def test_everything_has_happened_in_order_and_before_now() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM (SELECT created_at < lag(created_at) OVER"
            " (PARTITION BY account_id ORDER BY seq) AS late FROM billing_ledgerentry"
            " WHERE account_id = ANY (%s)) l WHERE late",
            (ids(),),
        )
        assert cursor.fetchone() == (0,)
    assert not charges().filter(resolved_at__gt=timezone.now()).exists()
    assert charges().earliest("admitted_at").admitted_at.date() == today() - timedelta(days=30)
    for charge in charges().order_by("id")[:50]:
        assert unix_seconds(charge.pk) == int(charge.admitted_at.timestamp())


def test_nobody_has_called_before_the_account_or_the_key_was_there() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM billing_charge c JOIN accounts_user u ON u.id = c.account_id"
            " LEFT JOIN accounts_apikey k ON k.id = c.api_key_id"
            " WHERE c.account_id = ANY (%s) AND (c.admitted_at < u.created_at"
            " OR c.admitted_at < k.created_at OR c.admitted_at > k.revoked_at)",
            (ids(),),
        )
        assert cursor.fetchone() == (0,)


def test_every_day_has_usage_and_the_last_week_more_than_the_first() -> None:
    ours = UsageDaily.objects.filter(account__in=people())
    days = dict(ours.values_list("day").annotate(Sum("requests")))
    past = [today() - timedelta(days=back) for back in range(30, 0, -1)]
    assert all(days[day] >= 20 for day in past)
    assert sum(days[day] for day in past[-7:]) > 1.3 * sum(days[day] for day in past[:7])


def test_api_and_web_chat_pictures_and_vectors_are_all_there() -> None:
    seen = charges().filter(status="settled").values_list("source", "kind").distinct()
    assert {("api", "chat"), ("web", "chat"), ("web", "images"), ("api", "embeddings")} <= set(seen)
    ours = UsageDaily.objects.filter(account__in=people())
    assert ours.values("model_id").distinct().count() >= 12


def test_some_calls_failed_and_most_of_them_on_one_bad_day() -> None:
    assert charges().filter(status="expired", cost__gt=0).exists()
    released = charges().filter(status="released")
    by_day = released.values_list("admitted_at__date").annotate(count=Count("*"))
    counts = sorted((count for _, count in by_day), reverse=True)
    assert len(counts) >= 15
    assert counts[0] > 2 * counts[1]


def test_balances_rose_by_topups_and_by_an_operators_reason() -> None:
    topups = LedgerEntry.objects.filter(kind="topup", account__in=people())
    assert topups.count() >= 8
    adjusted = LedgerEntry.objects.filter(kind="adjust", account__in=people())
    assert adjusted.filter(delta__gt=0).exclude(description="").exists()
    assert Wallet.objects.filter(account__in=people(), balance=0).exists()


def test_free_accounts_have_free_windows() -> None:
    free = charges().filter(funding="platform")
    assert free.filter(plan="free", free_window_start__isnull=False).count() == free.count() > 50
    assert FreeWindow.objects.filter(account__in=people(), used__gt=0).exists()


def test_keys_have_names_caps_and_models_and_stay_within_them() -> None:
    keys = ApiKey.objects.filter(account__in=people())
    assert {key.name for key in keys} >= {"Production", "Staging", "Search index"}
    assert keys.filter(monthly_spend_cap__gt=0).exists()
    assert keys.exclude(allowed_models=[]).exists()
    capped = KeyMonth.objects.filter(api_key__in=keys, api_key__monthly_spend_cap__gt=0)
    for month in capped.select_related("api_key"):
        assert month.billed < 1.1 * (month.api_key.monthly_spend_cap or 0)


def test_costs_are_those_of_the_price_list() -> None:
    prices = {model.price.version_id: model.price for model in get_catalog().models.values()}
    chats = charges().filter(status="settled", kind="chat")
    for charge in chats.order_by("-id")[:200]:
        price = prices[charge.price_version_id]
        assert isinstance(price, TokenPrice)
        assert (
            charge.cost
            == token_cost(price, charge.tokens_in, charge.tokens_out, charge.cached_tokens)
            <= charge.worst_cost
        )
    versions = PriceVersion.objects.in_bulk()
    for charge in chats.order_by("id")[:200]:
        since = versions[charge.price_version_id].valid_from
        first = PriceVersion.objects.filter(model=charge.model_id).earliest("valid_from")
        assert since <= charge.admitted_at or charge.price_version_id == first.pk
