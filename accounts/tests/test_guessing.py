"""Guesses at a password wait, longer after each, and do not delay the owner."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase
from rest_framework.test import APIClient

from accounts import tasks
from accounts.errors import TooManyAttempts
from accounts.models import KnownClient, OutgoingEmail, SignInFailures, User
from accounts.services import known_clients, lockout, passwords, sessions, users
from accounts.services.account_emails import AccountEmail
from accounts.tests.hashing import counted_hashes
from accounts.tests.mailbox import delivered, mailed_token
from accounts.types import Client
from conftest import PASSWORD, Persona, persona
from observability.metrics.registry import REGISTRY
from tests.locks import wait_until_blocked

HOME, ELSEWHERE = "198.51.100.1", "203.0.113.9"
ALICE = "alice@example.com"


def log_in(ip: str, password: str = PASSWORD, email: str = ALICE, **body: Any) -> Any:
    body |= {"email": email, "password": password}
    return APIClient(REMOTE_ADDR=ip).post("/api/auth/login", body, format="json")


def wrong(ip: str, times: int, email: str = ALICE, **body: Any) -> list[int]:
    return [log_in(ip, "wrong password", email, **body).status_code for _ in range(times)]


def let_pass(**time: float) -> None:
    SignInFailures.objects.update(last_at=F("last_at") - timedelta(**time))


def test_who_guesses_from_three_addresses_is_refused_even_with_the_right_password(
    alice: Persona,
) -> None:
    assert log_in(HOME).status_code == 200
    answers = [wrong(f"192.0.2.{n % 3}", 1)[0] for n in range(285)]
    assert answers.count(401) == lockout.FAILURES_OF_STRANGERS
    for ip in ("192.0.2.0", ELSEWHERE):
        refused = log_in(ip)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_attempts")
        assert refused["Retry-After"] == "30"
    assert log_in(HOME).status_code == 200


def test_forty_guesses_at_the_old_password_are_soon_refused(alice: Persona) -> None:
    body = {"current_password": "wrong password", "new_password": "a wholly different phrase"}
    codes = [
        alice.client.post("/api/auth/change-password", body, format="json").status_code
        for _ in range(40)
    ]
    assert codes == [422] * 5 + [429] * 35


def test_the_wait_doubles_with_each_failure_up_to_an_hour(alice: Persona) -> None:
    wrong(ELSEWHERE, 5)
    waits = []
    for _ in range(9):
        waits.append(int(log_in(ELSEWHERE)["Retry-After"]))
        let_pass(seconds=waits[-1])
        assert wrong(ELSEWHERE, 1) == [401]
    assert waits == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]


def test_after_the_wait_the_right_password_opens(alice: Persona) -> None:
    wrong(ELSEWHERE, 5)
    let_pass(seconds=29)
    assert log_in(ELSEWHERE).status_code == 429
    let_pass(seconds=1)
    assert log_in(ELSEWHERE).status_code == 200


def test_what_is_refused_is_not_counted_and_costs_no_hash(alice: Persona) -> None:
    wrong(ELSEWHERE, 5)
    with counted_hashes() as hashed:
        assert wrong(ELSEWHERE, 20) == [429] * 20
    assert hashed == []
    assert log_in(ELSEWHERE)["Retry-After"] == "30"


def test_one_client_alone_does_not_keep_out_others(alice: Persona) -> None:
    wrong("192.0.2.1", 50)
    assert log_in(ELSEWHERE).status_code == 200


def test_an_address_that_nobody_has_is_refused_alike(alice: Persona) -> None:
    def answers(email: str) -> list[Any]:
        answers = [log_in(ELSEWHERE, "wrong password", email) for _ in range(7)]
        return [(each.status_code, each.json(), each.get("Retry-After")) for each in answers]

    assert answers(ALICE) == answers("nobody@example.com")


def test_the_longest_text_that_is_no_address_is_refused_alike(db: None) -> None:
    assert wrong(ELSEWHERE, 6, "x" * 254) == [401] * 5 + [429]


@pytest.mark.parametrize("email", [" ALICE@example.com ", "Alice@Example.COM"])
def test_an_address_is_counted_however_it_is_written(alice: Persona, email: str) -> None:
    wrong(ELSEWHERE, 5, email)
    assert log_in(ELSEWHERE).status_code == 429


def test_a_device_is_known_wherever_it_is(alice: Persona) -> None:
    device = str(uuid.uuid4())
    assert log_in(HOME, device_id=device).status_code == 200
    wrong("192.0.2.1", 5)
    wrong("192.0.2.2", 5)
    assert log_in(ELSEWHERE, device_id=str(uuid.uuid4())).status_code == 429
    assert log_in(ELSEWHERE, device_id=device).status_code == 200


def test_a_known_device_is_not_delayed_by_guesses_from_its_own_network(alice: Persona) -> None:
    device = str(uuid.uuid4())
    assert log_in(HOME, device_id=device).status_code == 200
    wrong(HOME, 10)
    assert log_in(HOME).status_code == 429
    assert log_in(HOME, device_id=device).status_code == 200


def test_a_known_device_waits_for_its_own_guesses(alice: Persona) -> None:
    device = str(uuid.uuid4())
    assert log_in(HOME, device_id=device).status_code == 200
    assert wrong(ELSEWHERE, 6, device_id=device) == [401] * 5 + [429]


def test_a_device_id_is_kept_as_a_digest_alone(alice: Persona) -> None:
    device = str(uuid.uuid4())
    log_in(HOME, device_id=device)
    wrong(HOME, 1, device_id=device)
    [row] = SignInFailures.objects.all()
    assert device not in row.name
    assert HOME.encode() not in b"".join(bytes(known.digest) for known in KnownClient.objects.all())


@pytest.mark.parametrize("device", ["mine", 5, "", ["a"]])
def test_a_device_id_is_a_uuid(alice: Persona, device: Any) -> None:
    refused = log_in(HOME, device_id=device)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["loc"] == ["device_id"]


def test_a_client_is_known_to_its_own_account_alone(alice: Persona, bob: Persona) -> None:
    device = str(uuid.uuid4())
    assert log_in(ELSEWHERE, email=bob.user.email, device_id=device).status_code == 200
    wrong("192.0.2.1", 5)
    wrong("192.0.2.2", 5)
    assert log_in(ELSEWHERE, device_id=device).status_code == 429


@pytest.mark.parametrize("way", ["signup", "reset-password", "change-password"])
def test_every_way_in_makes_its_client_known(alice: Persona, way: str) -> None:
    client = Client(HOME)
    match way:
        case "signup":
            User.objects.all().delete()
            sessions.sign_up(email=ALICE, password=PASSWORD, client=client)
        case "reset-password":
            passwords.request_reset(email=ALICE)
            token = mailed_token("/reset-password")
            passwords.reset_password(token=token, password=PASSWORD, client=client)
        case "change-password":
            passwords.change_password(
                user=alice.user, current_password=PASSWORD, new_password=PASSWORD, client=client
            )
    wrong("192.0.2.1", 5)
    wrong("192.0.2.2", 5)
    assert log_in(ELSEWHERE).status_code == 429
    assert log_in(HOME).status_code == 200


@pytest.mark.parametrize("device", [None, uuid.uuid4()])
def test_a_reset_by_mail_ends_the_wait_for_ones_own_failures(
    alice: Persona, device: uuid.UUID | None
) -> None:
    body = {} if device is None else {"device_id": str(device)}
    if device:
        assert log_in(HOME, **body).status_code == 200
    wrong(HOME, 6, **body)
    passwords.request_reset(email=ALICE)
    passwords.reset_password(
        token=mailed_token("/reset-password"),
        password=PASSWORD,
        client=Client(HOME, device_id=device),
    )
    assert log_in(HOME, **body).status_code == 200


def test_clients_are_known_for_ninety_days(alice: Persona) -> None:
    log_in(HOME)
    KnownClient.objects.update(seen_at=timezone.now() - timedelta(days=90, minutes=1))
    wrong("192.0.2.1", 5)
    wrong("192.0.2.2", 5)
    assert log_in(HOME).status_code == 429
    tasks.purge_expired()
    assert not KnownClient.objects.exists()


def test_an_account_knows_its_fifty_latest_clients(alice: Persona) -> None:
    for n in range(known_clients.MAX_KNOWN + 5):
        known_clients.remember(user=alice.user, client=Client(f"192.0.2.{n}"))
        KnownClient.objects.update(seen_at=F("seen_at") - timedelta(seconds=1))
    known = {bytes(each.digest) for each in alice.user.known_clients.all()}
    assert len(known) == known_clients.MAX_KNOWN
    assert known_clients.digest(ALICE, "192.0.2.4") not in known
    assert known_clients.digest(ALICE, "192.0.2.5") in known


def test_who_takes_an_account_over_finds_no_known_clients_of_a_stranger(alice: Persona) -> None:
    log_in(HOME)
    users.take_over(user=alice.user)
    assert not KnownClient.objects.exists()


def test_the_owner_is_told_once_in_a_wave(alice: Persona) -> None:
    for n in range(40):
        wrong(f"192.0.2.{n % 4}", 1)
        let_pass(minutes=1)
    subjects = [mail.subject.split(" - ")[0] for mail in delivered()]
    assert subjects == ["Wrong passwords for your account", "Confirm your e-mail address"]


def test_an_owner_who_mistypes_on_a_known_client_is_sent_no_mail(alice: Persona) -> None:
    assert log_in(HOME).status_code == 200
    assert wrong(HOME, 6) == [401] * 5 + [429]
    assert not OutgoingEmail.objects.filter(kind=AccountEmail.PASSWORD_GUESSED).exists()


def test_nobody_is_told_of_guesses_at_an_unknown_address(db: None) -> None:
    wrong(ELSEWHERE, 6, "nobody@example.com")
    assert OutgoingEmail.objects.filter(kind=AccountEmail.PASSWORD_GUESSED).count() == 1
    assert delivered() == []


def test_counts_begin_anew_after_a_quiet_day_and_are_purged(alice: Persona) -> None:
    wrong(ELSEWHERE, 5)
    let_pass(hours=23, minutes=59)
    tasks.purge_expired()
    assert SignInFailures.objects.count() == 3
    let_pass(minutes=2)
    assert wrong(ELSEWHERE, 5) == [401] * 5
    let_pass(days=1)
    tasks.purge_expired()
    assert not SignInFailures.objects.exists()


def test_the_oldest_rows_go_where_there_are_too_many(db: None) -> None:
    for n in range(4):
        wrong(f"192.0.2.{n}", 1, f"{n}@example.com")
        let_pass(seconds=1)
    lockout.purge_failures(keep=6)
    assert {row.name for row in SignInFailures.objects.all()} == {
        f"{name} from {place}"
        for n in (2, 3)
        for name, place in (
            (f"{n}@example.com", f"192.0.2.{n}"),
            (f"{n}@example.com", "anywhere"),
            (f"192.0.2.{n}", "any account"),
        )
    }


@pytest.mark.usefixtures("committed")
def test_of_guesses_at_the_same_time_five_are_told_that_they_are_wrong() -> None:
    """Of ten that have all begun before the first one has failed."""
    address = f"{uuid.uuid4()}@example.com"
    all_have_begun = Barrier(10)

    def check() -> bool:
        connection.close()
        all_have_begun.wait(timeout=30)
        return False

    def guess(_: int) -> str:
        try:
            lockout.verify(check, address=address, client=Client(ELSEWHERE))
        except TooManyAttempts:
            return "refused"
        finally:
            connection.close()
        return "wrong"

    with ThreadPoolExecutor(10) as threads:
        answers = list(threads.map(guess, range(10)))
    assert answers.count("wrong") == lockout.FAILURES_PER_CLIENT


@pytest.mark.parametrize("is_right", [True, False])
def test_a_guess_is_refused_for_others_that_failed_while_it_was_checked(
    db: None, is_right: bool
) -> None:
    def check() -> bool:
        for _ in range(5):
            lockout.verify(lambda: False, address=ALICE, client=Client(ELSEWHERE))
        return is_right

    with pytest.raises(TooManyAttempts):
        lockout.verify(check, address=ALICE, client=Client(ELSEWHERE))


def test_signing_in_at_once_from_many_tabs_is_no_guessing(committed: None) -> None:
    alice = persona(f"alice-{uuid.uuid4()}")

    def sign_in(_: int) -> Any:
        try:
            return log_in(ELSEWHERE, email=alice.user.email).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(sign_in, range(24))) == {200}


def test_signing_in_waits_for_a_change_of_the_account_without_a_deadlock(committed: None) -> None:
    """Both write the row of the same known client."""
    alice = persona(f"alice-{uuid.uuid4()}")
    assert log_in(HOME, email=alice.user.email).status_code == 200

    def sign_in() -> Any:
        try:
            return log_in(HOME, email=alice.user.email).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            users.lock_user(alice.user)
            answer = threads.submit(sign_in)
            wait_until_blocked(connection.connection)
            known_clients.remember(user=alice.user, client=Client(HOME))
        assert answer.result() == 200


class StrangersAndTheOwner(TestCase):
    @examples(max_examples=15)
    @given(
        st.lists(
            st.tuples(st.integers(0, 30), st.booleans(), st.sampled_from([0, 1, 30, 4000])),
            max_size=30,
        )
    )
    def test_whatever_strangers_try_the_known_device_is_not_delayed(
        self, attempts: list[tuple[int, bool, int]]
    ) -> None:
        owner = User.objects.create_user("owner@example.com", PASSWORD)
        device = uuid.uuid4()
        known_clients.remember(user=owner, client=Client(HOME, device_id=device))
        for stranger, brings_a_device, seconds in attempts:
            client = Client(
                HOME if stranger == 0 else f"192.0.2.{stranger}",
                device_id=uuid.uuid4() if brings_a_device else None,
            )
            try:
                lockout.verify(lambda: False, address=owner.email, client=client)
            except TooManyAttempts as refused:
                assert 1 <= (refused.retry_after or 0) <= lockout.LONGEST_WAIT  # noqa: PT017
            let_pass(seconds=seconds)
            assert lockout.verify(
                lambda: True, address=owner.email, client=Client(HOME, device_id=device)
            )


# --- One network address over many accounts -------------------------------------------------------


def guess_at_many(ip: str, accounts: int, times: int = 1) -> list[int]:
    return [
        wrong(ip, 1, f"{number}@example.com")[0] for _ in range(times) for number in range(accounts)
    ]


def test_two_guesses_at_each_of_forty_accounts_are_soon_refused(db: None) -> None:
    answers = guess_at_many(ELSEWHERE, 40, times=2)
    assert answers == [401] * lockout.FAILURES_OVER_ACCOUNTS + [429] * (
        80 - lockout.FAILURES_OVER_ACCOUNTS
    )
    assert wrong("192.0.2.1", 1, "39@example.com") == [401]


def test_the_wait_of_an_address_over_accounts_grows_with_each_failure(db: None) -> None:
    guess_at_many(ELSEWHERE, lockout.FAILURES_OVER_ACCOUNTS)
    waits = []
    for number in range(3):
        email = f"another-{number}@example.com"
        waits.append(int(log_in(ELSEWHERE, email=email)["Retry-After"]))
        let_pass(seconds=waits[-1])
        assert wrong(ELSEWHERE, 1, email) == [401]
    assert waits == [30, 60, 120]


def test_an_address_over_accounts_is_forgiven_one_failure_every_three_minutes(db: None) -> None:
    guess_at_many(ELSEWHERE, lockout.FAILURES_OVER_ACCOUNTS)
    let_pass(seconds=10 * lockout.FORGOTTEN_OVER_ACCOUNTS_AFTER)
    assert guess_at_many(ELSEWHERE, 12) == [401] * 10 + [429] * 2


def test_who_is_known_to_an_account_is_not_delayed_by_guesses_from_its_address(
    alice: Persona, bob: Persona
) -> None:
    """Neither by the address, as behind one of an office, nor by the device."""
    device = str(uuid.uuid4())
    assert log_in(HOME).status_code == 200
    assert log_in(ELSEWHERE, email=bob.user.email, device_id=device).status_code == 200
    for ip in (HOME, "192.0.2.7"):
        guess_at_many(ip, 2 * lockout.FAILURES_OVER_ACCOUNTS)
    assert log_in(HOME).status_code == 200
    assert log_in("192.0.2.7", email=bob.user.email, device_id=device).status_code == 200
    refused = log_in(HOME, email=bob.user.email)
    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_attempts")


def test_mistakes_of_known_clients_do_not_delay_others_at_their_address(alice: Persona) -> None:
    assert log_in(HOME).status_code == 200
    for _ in range(lockout.FAILURES_OVER_ACCOUNTS + 5):
        wrong(HOME, 1)
        let_pass(hours=1)
    assert not SignInFailures.objects.filter(name=f"{HOME} from any account").exists()


def test_the_right_password_of_ones_own_account_resets_no_guesses_at_others(
    alice: Persona,
) -> None:
    answers = []
    for number in range(lockout.FAILURES_OVER_ACCOUNTS + 5):
        assert log_in(HOME).status_code == 200
        answers += wrong(HOME, 1, f"{number}@example.com")
    assert answers == [401] * lockout.FAILURES_OVER_ACCOUNTS + [429] * 5


def test_a_reset_by_mail_opens_an_account_to_who_shares_an_address_with_a_guesser(
    alice: Persona,
) -> None:
    guess_at_many(ELSEWHERE, lockout.FAILURES_OVER_ACCOUNTS)
    assert log_in(ELSEWHERE).status_code == 429
    passwords.request_reset(email=ALICE)
    token = mailed_token("/reset-password")
    passwords.reset_password(token=token, password=PASSWORD, client=Client(ELSEWHERE))
    assert log_in(ELSEWHERE).status_code == 200


def test_an_ipv6_network_is_one_address(db: None) -> None:
    answers = [
        wrong(f"2001:db8:0:1::{number:x}", 1, f"{number}@example.com")[0]
        for number in range(lockout.FAILURES_OVER_ACCOUNTS + 2)
    ]
    assert answers[-3:] == [401, 429, 429]
    assert wrong("2001:db8:0:2::1", 1, "other@example.com") == [401]


def test_a_typed_name_counts_for_no_address_over_accounts(db: None) -> None:
    """Whatever somebody types as the address of an account."""
    for number in range(lockout.FAILURES_OVER_ACCOUNTS):
        wrong(f"192.0.2.{number}", 1, ELSEWHERE)
        wrong(f"192.0.2.{number}", 1, f"{ELSEWHERE} from any account")
    assert wrong(ELSEWHERE, 1, "bob@example.com") == [401]


def test_guesses_over_accounts_at_the_same_time_are_counted_one_after_the_other(
    committed: None,
) -> None:
    accounts = [f"{uuid.uuid4()}@example.com" for _ in range(lockout.FAILURES_OVER_ACCOUNTS + 10)]
    all_have_begun = Barrier(len(accounts))
    ip = "198.51.100.77"
    SignInFailures.objects.filter(name__startswith=ip).delete()

    def check() -> bool:
        connection.close()
        all_have_begun.wait(timeout=30)
        return False

    def guess(address: str) -> str:
        try:
            lockout.verify(check, address=address, client=Client(ip))
        except TooManyAttempts:
            return "refused"
        finally:
            connection.close()
        return "wrong"

    with ThreadPoolExecutor(len(accounts)) as threads:
        answers = list(threads.map(guess, accounts))
    assert answers.count("wrong") == lockout.FAILURES_OVER_ACCOUNTS


def counted_for_the_alert() -> float:
    return REGISTRY.get_sample_value("platform_guessing_clients_total") or 0.0


def test_an_address_that_has_to_wait_is_counted_for_the_alert(db: None) -> None:
    before = counted_for_the_alert()
    guess_at_many(ELSEWHERE, lockout.FAILURES_OVER_ACCOUNTS - 1)
    assert counted_for_the_alert() == before
    guess_at_many(ELSEWHERE, 40)
    assert counted_for_the_alert() == before + 1
