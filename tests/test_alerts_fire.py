"""Each alert fires in Prometheus when its cause happens to a real service, and no other one does.

One service, with a Redis of its own, is watched by one Prometheus with the shipped rules, hastened.
What takes an hour is done by setting the time in a row back. Of ChargesWithoutMonth, CallsFailByUs,
RequestsFail, RequestsTurnedAway, EventsLate and ConnectionsRunOut there are only the series in
`deploy/prometheus/alerts_test.yaml`.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta

import httpx
import psycopg
import pytest
from django.db.models import F
from django.utils import timezone
from pytest_django import DjangoDbBlocker, Settings
from redis import Redis

from accounts.models import OutgoingEmail
from billing.models import Wallet
from billing.services import months
from billing.tasks import reconcile
from common.models import Sweep
from health.tests.opened import opened
from jobs.models import Job, QueueHeartbeat
from jobs.tests.handlers import QUICK
from jobs.tests.queueing import new_job_without_message
from publicapi.tests.v1 import rate_window
from publicapi.tests.v1.customer import IN_PLAN, Customer, new_customer
from simulator.process import RunningSimulator
from tests.chaos.calls import wait_for
from tests.personas import authorization
from tests.prometheus import needs_prometheus
from tests.service import database_url
from tests.watched import (
    KEYS,
    MAX_OPEN_CALLS,
    QUEUES,
    Fired,
    Watched,
    assert_fires,
    assert_goes_out,
    running_watched,
)

pytestmark = [
    needs_prometheus,
    pytest.mark.usefixtures("committed", "quiet"),
    pytest.mark.timeout(300),
]


@pytest.fixture(scope="module")
def watched(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    simulator: RunningSimulator,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("watched")
    with django_db_blocker.unblock(), running_watched(simulator, folder) as watched:
        yield watched


@pytest.fixture
def quiet(committed: None, watched: Watched, settings: Settings) -> Iterator[None]:
    """Nothing fires before the test, and nothing a while after it."""
    settings.REDIS_URL = watched.redis.url
    assert watched.firing == set()
    yield
    assert_goes_out(watched)


@pytest.fixture
def alice(quiet: None, watched: Watched, simulator: RunningSimulator) -> Iterator[Customer]:
    with httpx.Client(base_url=watched.web.url, timeout=30) as http:
        yield new_customer(http, watched.web, simulator)


# --- All is well ----------------------------------------------------------------------------------


def test_nothing_fires_while_all_is_well(watched: Watched, alice: Customer) -> None:
    def call() -> None:
        assert alice.chat().status_code == 200
        assert alice.http.get("/api/auth/me", headers=authorization(alice.user)).is_success

    until = time.monotonic() + 15
    while time.monotonic() < until:
        call()
        assert watched.firing == set()
        time.sleep(0.5)


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


def test_a_provider_that_fails(watched: Watched, alice: Customer) -> None:
    def call() -> None:
        with ThreadPoolExecutor(3) as threads:
            list(threads.map(lambda _: alice.chat(steer={"status": 500}), range(3)))

    assert_fires(watched, ("CallsFail", "openai"), meanwhile=call)


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


# --- Mails ----------------------------------------------------------------------------------------


def test_a_mail_that_cannot_be_sent(watched: Watched, alice: Customer) -> None:
    mail = OutgoingEmail.objects.create(
        kind="password_changed", address=alice.user.email, attempts=4
    )
    try:
        assert_fires(watched, ("MailsFailed",))
    finally:
        OutgoingEmail.objects.filter(pk=mail.pk).delete()


# --- Load -----------------------------------------------------------------------------------------


def test_all_calls_that_a_process_may_run(watched: Watched, alice: Customer) -> None:
    slow = {"tokens": 150, "delay_ms": 100}
    with ThreadPoolExecutor(MAX_OPEN_CALLS) as threads:
        for _ in range(MAX_OPEN_CALLS):
            threads.submit(alice.chat, steer=slow, stream=True)
        assert_fires(watched, ("OpenCallsNearLimit", "web"))


def test_a_wallet_that_is_locked(watched: Watched, alice: Customer) -> None:
    with ThreadPoolExecutor(1) as threads, psycopg.connect(database_url()) as database:
        database.execute(
            "SELECT FROM billing_wallet WHERE account_id = %s FOR UPDATE", [alice.user.pk]
        )
        call = threads.submit(alice.chat)
        time.sleep(1)
        database.rollback()
        call.result()
    assert_fires(watched, ("OwnShareSlow",))


def test_requests_that_wait_for_their_turns(watched: Watched, alice: Customer) -> None:
    headers = authorization(alice.user)
    with ThreadPoolExecutor(6) as threads, psycopg.connect(database_url()) as database:
        database.execute("LOCK TABLE accounts_user IN ACCESS EXCLUSIVE MODE")
        requests = [
            threads.submit(alice.http.get, "/api/conversations", headers=headers) for _ in range(6)
        ]
        time.sleep(3)
        database.rollback()
        assert {request.result().status_code for request in requests} == {200}
    assert_fires(watched, ("TurnsWait", "requests"))


def test_somebody_far_above_their_limit(watched: Watched, alice: Customer) -> None:
    rate_window.use_up(alice.key)

    def flood() -> None:
        with ThreadPoolExecutor(4) as threads:
            answers = list(threads.map(lambda _: alice.chat().status_code, range(60)))
        assert set(answers) == {429}

    assert_fires(watched, ("LimitsExceeded", "key"), meanwhile=flood)


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
        at_first = [("ConnectionsRunOut",)]
        assert_fires(watched, ("StoreUnreadable", "database"), at_first=at_first)


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
