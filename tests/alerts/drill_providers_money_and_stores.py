"""Each alert about providers, money, mails, stores and processes fires in Prometheus when its cause
happens to a real service, and no other one does.

One service, with a Redis of its own, is watched by one Prometheus with the shipped rules, hastened.
What takes an hour is done by setting the time in a row back.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import date, timedelta

import httpx
import psycopg
import pytest
from django.db.models import F
from django.utils import timezone
from redis import Redis

from accounts.models import OutgoingEmail
from ai.provider_health.tests.opened import opened
from billing.models import Wallet
from billing.services import months
from billing.tasks import reconcile
from common.models import Sweep
from publicapi.tests.v1.customer import IN_PLAN, Customer
from server.tests.client import Client
from simulator.process import RunningSimulator
from tests.alerts.watched import (
    CONVERSATIONS,
    KEYS,
    QUEUES,
    Fired,
    Watched,
    assert_fires,
    assert_goes_out,
)
from tests.chaos.calls import wait_for
from tests.locks import wait_until_blocked
from tests.personas import authorization, new_user
from tests.prometheus import needs_prometheus
from tests.service import database_url, running_web
from work.jobs.models import Job, QueueHeartbeat
from work.jobs.tests.handlers import QUICK
from work.jobs.tests.queueing import new_job_without_message

pytestmark = [
    needs_prometheus,
    pytest.mark.usefixtures("committed", "quiet"),
]

# Long ago: no charge of it has a partition.
MONTH = date(1975, 6, 1)


# --- Providers ------------------------------------------------------------------------------------


def test_a_dead_key_and_then_another_one(
    watched: Watched, alice: Customer, simulator: RunningSimulator
) -> None:
    first, second = KEYS
    try:
        simulator.let_key_die(first)
        assert alice.chat().status_code == 200
        assert_fires(watched, ("ProviderKeyRests", "openai"))
        simulator.let_key_die(second)
        assert alice.chat().status_code == 502
        assert_fires(watched, ("ProviderKeyRests", "openai"), ("ProviderKeyRefused", "openai"))
    finally:
        simulator.revive_keys()
        wake_keys(watched)
    assert alice.chat().status_code == 200


def wake_keys(watched: Watched) -> None:
    """In place of the minutes for which they rest."""
    with Redis.from_url(watched.redis.url) as redis:
        redis.delete("health:keys")


@pytest.mark.parametrize(
    ("steering", "alerts"),
    [
        (
            {"status": 429, "code": "insufficient_quota"},
            ("ProviderQuotaExhausted", "ProviderKeyRests"),
        ),
        ({"status": 404}, ("ProviderModelGone",)),
    ],
)
def test_an_answer_that_an_operator_has_to_see(
    watched: Watched, alice: Customer, steering: dict[str, object], alerts: tuple[str, ...]
) -> None:
    assert alice.chat(steer=steering).status_code == 502
    assert_fires(watched, *((alert, "openai") for alert in alerts))
    wake_keys(watched)


def test_a_circuit_that_stays_open(watched: Watched, alice: Customer) -> None:
    assert alice.chat().status_code == 200
    with opened("openai", IN_PLAN):
        assert_fires(watched, ("CircuitOpen", "openai"))


# --- Money ----------------------------------------------------------------------------------------


def test_a_row_that_somebody_has_changed_by_hand(watched: Watched, alice: Customer) -> None:
    wallet = Wallet.objects.filter(account=alice.user)
    wallet.update(balance=F("balance") + 1)
    try:
        reconcile()
        assert_fires(watched, ("MoneyViolations", "reconcile"))
    finally:
        wallet.update(balance=F("balance") - 1)
        reconcile()


def test_months_that_are_missing(watched: Watched) -> None:
    ahead = sorted(month.period for month in months.list_months())[-2:]
    with psycopg.connect(database_url(), autocommit=True) as database:
        for month in ahead:
            database.execute(f"DROP TABLE billing_charge_{month:%Y_%m}")
    try:
        assert_fires(watched, ("ChargeMonthsTooFew",))
    finally:
        assert months.make_ahead() == ahead


def test_a_clock_that_is_years_behind(
    watched: Watched, alice: Customer, simulator: RunningSimulator
) -> None:
    assert watched.others == set(), "another test has left such charges"
    since = f"{MONTH:%Y-%m}-09"
    with running_web(
        simulator, application="tests.behind:application", BEHIND_SINCE=since
    ) as behind:
        alice.http.base_url = behind.url
        assert alice.chat().status_code == 200
    try:
        assert_fires(watched, ("ChargesWithoutMonth",))
    finally:
        assert months.make_ahead() == [MONTH]
        assert_goes_out(watched)
        forget(MONTH)


def forget(month: date) -> None:
    """Other tests count the months. One is not closed while a transaction runs that is older than
    its last charge."""
    wait_for(lambda: is_closed(month), seconds=60)
    months.drop_month(month)


def is_closed(month: date) -> bool:
    with suppress(months.MonthRefused):
        return bool(months.close_month(month))
    return False


# --- Mails ----------------------------------------------------------------------------------------


def test_a_mail_that_cannot_be_sent(watched: Watched, alice: Customer) -> None:
    mail = OutgoingEmail.objects.create(
        kind="password_changed", address=alice.user.email, attempts=4
    )
    try:
        assert_fires(watched, ("MailsFailed",))
    finally:
        OutgoingEmail.objects.filter(pk=mail.pk).delete()


# --- Stores ---------------------------------------------------------------------------------------


def test_redis_is_stopped(watched: Watched) -> None:
    with watched.redis.dead():
        assert_fires(watched, ("StoreUnreadable", "redis"))


def test_postgresql_is_stopped(watched: Watched) -> None:
    with httpx.Client(base_url=watched.web.url) as http, watched.postgres.shut():
        time.sleep(1.1)  # the last answer counts for a second
        began = time.monotonic()
        assert http.get("/readyz").status_code == 503
        assert time.monotonic() - began < 2
        assert http.get("/livez").status_code == 200
        # The beat notices it some seconds later than who wants a connection.
        assert_fires(
            watched,
            ("StoreUnreadable", "database"),
            at_first=[("ConnectionsRunOut", pool) for pool in ("calls", "django")],
        )


def test_a_transaction_that_hangs(watched: Watched, alice: Customer) -> None:
    """Whoever comes while it keeps the only connection gets none."""
    mine, theirs = authorization(alice.user), authorization(new_user("bob"))
    with (
        ThreadPoolExecutor(1) as threads,
        Client(watched.web.url) as other,
        psycopg.connect(database_url()) as database,
    ):
        database.execute("LOCK TABLE accounts_user IN ACCESS EXCLUSIVE MODE")
        first = threads.submit(alice.http.get, CONVERSATIONS, headers=mine)
        wait_until_blocked(database)
        assert other.get(CONVERSATIONS, headers=theirs).status_code == 503
        database.rollback()
        assert first.result().status_code == 200
    assert_fires(watched, ("ConnectionsRunOut", "django"))


# --- The worker ends ------------------------------------------------------------------------------


def test_the_worker_is_killed(watched: Watched) -> None:
    """One thing after the other grows old."""
    fires: list[Fired] = [("TargetDown", "worker"), ("ProcessMissing", "worker")]
    watched.worker.kill()
    assert_fires(watched, *fires)

    def grows_old(*alerts: Fired) -> None:
        fires.extend(alerts)
        assert_fires(watched, *fires)

    with aged_sweep("send-emails", timedelta(minutes=5)):
        grows_old(("SweepStale", "send-emails"))
        with (
            aged_sweep("reconcile", timedelta(minutes=16)),
            aged_sweep("reconcile-everything", timedelta(hours=27)),
        ):
            grows_old(
                ("ReconcileStale", "reconcile"),
                ("ReconcileEverythingStale", "reconcile-everything"),
            )
            past = timezone.now() - timedelta(minutes=2)
            job_id = new_job_without_message(QUICK)
            Job.objects.filter(pk=job_id).update(queued_at=past)
            grows_old(("JobsWait", "interactive"))
            mail = OutgoingEmail.objects.create(
                kind="password_changed",
                address="bob@example.com",
                due_at=past - timedelta(minutes=10),
            )
            grows_old(("MailsOverdue",))
            QueueHeartbeat.objects.update(seen_at=past)
            grows_old(*(("NoWorkerTakesMessages", queue) for queue in QUEUES))
    OutgoingEmail.objects.filter(pk=mail.pk).delete()
    watched.worker = watched.start_worker()
    wait_for(lambda: Job.objects.get(pk=job_id).ended_at, seconds=60)


@contextmanager
def aged_sweep(name: str, age: timedelta) -> Iterator[None]:
    """The sweep last ended well so long ago, until the block ends."""
    then = {"succeeded_at": timezone.now() - age, "seconds": 1.0}
    Sweep.objects.update_or_create(name=name, defaults=then)
    yield
    Sweep.objects.filter(name=name).update(succeeded_at=timezone.now())
