"""Each alert about calls and requests fires in Prometheus when its cause happens to a real service,
and no other one does.

One service, with a Redis of its own, is watched by one Prometheus with the shipped rules, hastened.
"""

import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest

from accounts.services.lockout import FAILURES_OVER_ACCOUNTS
from publicapi.tests.v1 import rate_window
from publicapi.tests.v1.customer import Customer
from server.request_queue import MAX_WAITING
from server.tests.client import new_address
from tests.alerts.flood import Flood, get, slow_users
from tests.alerts.watched import (
    CONVERSATIONS,
    MAX_OPEN_CALLS,
    Watched,
    assert_fires,
    following,
)
from tests.full_disk import full_disk
from tests.personas import authorization
from tests.prometheus import needs_prometheus
from tests.service import database_url

pytestmark = [
    needs_prometheus,
    pytest.mark.usefixtures("committed", "quiet"),
]

# Longer than the second for which a turn may wait, and far shorter than the wait for a connection
# (PATIENCE_SECONDS): whoever else asks for the only one gets it.
LOCKED_SECONDS = 1.5


# --- All is well ----------------------------------------------------------------------------------


def test_nothing_fires_while_all_is_well(watched: Watched, alice: Customer) -> None:
    headers = authorization(alice.user)

    def call() -> None:
        assert alice.chat().status_code == 200
        assert alice.http.post(CONVERSATIONS, json={}, headers=headers).is_success

    with following(alice):
        until = time.monotonic() + 15
        while time.monotonic() < until:
            call()
            assert watched.firing == set()
            time.sleep(0.5)


# --- Calls ----------------------------------------------------------------------------------------


def test_a_provider_that_fails(watched: Watched, alice: Customer) -> None:
    def call() -> None:
        with ThreadPoolExecutor(3) as threads:
            list(threads.map(lambda _: alice.chat(steer={"status": 500}), range(3)))

    assert_fires(watched, ("CallsFail", "openai"), meanwhile=call)


def test_a_disk_that_is_full_while_calls_are_made(watched: Watched, alice: Customer) -> None:
    def call() -> None:
        assert alice.chat().status_code == 503

    with full_disk("billing_charge"):
        assert_fires(watched, ("CallsFailByUs",), meanwhile=call)


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
            threads.submit(alice.http.get, CONVERSATIONS, headers=headers) for _ in range(6)
        ]
        time.sleep(LOCKED_SECONDS)
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


def test_somebody_who_guesses_passwords_of_many_accounts(watched: Watched) -> None:
    transport = httpx.HTTPTransport(local_address=new_address())
    with httpx.Client(base_url=watched.web.url, transport=transport, timeout=30) as http:
        for number in range(FAILURES_OVER_ACCOUNTS + 1):
            guess = {"email": f"{number}@example.com", "password": "a wrong password"}
            last = http.post("/api/auth/login", json=guess)
    assert (last.status_code, last.json()["code"]) == (429, "too_many_attempts")
    assert_fires(watched, ("PasswordsGuessed",))


def test_requests_for_which_there_is_no_place_in_the_queue(
    watched: Watched, alice: Customer
) -> None:
    request = get(CONVERSATIONS, authorization(alice.user))
    with slow_users(), Flood(watched.web.port, request) as flood:
        flood.send(MAX_WAITING)
        assert_fires(
            watched,
            ("RequestsTurnedAway",),
            ("TurnsWait", "requests"),
            meanwhile=lambda: flood.send(5),
        )


# --- Requests -------------------------------------------------------------------------------------


def test_a_disk_that_is_full_while_conversations_are_begun(
    watched: Watched, alice: Customer
) -> None:
    headers = authorization(alice.user)

    def begin() -> None:
        answer = alice.http.post(CONVERSATIONS, json={}, headers=headers)
        assert answer.status_code == 503, answer.text

    with full_disk("conversations_conversation"):
        assert_fires(watched, ("RequestsFail",), meanwhile=begin)


def test_redis_stands_still_now_and_then(watched: Watched, alice: Customer) -> None:
    """Shorter than a store has to be away to count as unreadable."""
    headers = authorization(alice.user)

    def begin() -> None:
        with watched.redis.frozen():
            assert alice.http.post(CONVERSATIONS, json={}, headers=headers).is_success
            time.sleep(1.2)
        time.sleep(1)

    with following(alice):
        assert_fires(
            watched, ("EventsLate",), meanwhile=begin, at_first=[("StoreUnreadable", "redis")]
        )
