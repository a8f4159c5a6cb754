"""The outbox: what is asked for is sent, once if all goes well, and again if it does not."""

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from pytest_django import Settings

from accounts import tasks
from accounts.models import EmailedToken, OutgoingEmail, User
from accounts.services import emails, passwords
from accounts.services.account_emails import AccountEmail
from accounts.services.emails import request_email
from accounts.tests.mailbox import delivered, token_in
from accounts.tests.mailserver import MailServer, running_mail_server
from common.ids import uuid7
from common.redaction import redact
from conftest import Persona, persona
from tests.operators import audit_of, new_operator

KINDS = AccountEmail
SMTP = "django.core.mail.backends.smtp.EmailBackend"


@pytest.fixture
def server(settings: Settings) -> Iterator[MailServer]:
    """A mail server, which the settings name."""
    with running_mail_server() as server:
        settings.EMAIL_BACKEND = SMTP
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        settings.EMAIL_TIMEOUT = 0.5
        yield server


@pytest.fixture
def alone(db: None) -> None:
    """No mails but those of the test."""
    OutgoingEmail.objects.all().delete()


def rows(alice: Persona) -> Any:
    return OutgoingEmail.objects.filter(address=alice.user.email)


def let_time_pass(alice: Persona) -> None:
    """As if the next attempt were due now."""
    rows(alice).update(due_at=timezone.now())


# --- What is sent -------------------------------------------------------------------------------


def test_a_mail_arrives_over_smtp(server: MailServer, alone: None, alice: Persona) -> None:
    tasks.send_emails()
    [message] = server.received
    assert server.recipients == ["alice@example.com"]
    assert message["To"] == "alice@example.com"
    assert message["From"] == "noreply@localhost"
    assert message["Subject"] == "Confirm your e-mail address - Multi-model AI platform"
    assert message["Auto-Submitted"] == "auto-generated"
    text, html = (part.get_content() for part in message.iter_parts())
    [row] = EmailedToken.objects.filter(user=alice.user)
    [link] = [line for line in text.splitlines() if "token=" in line]
    assert f'href="{link}"' in html
    assert rows(alice).get().ended_at is not None
    assert row.email == "alice@example.com"


@pytest.mark.parametrize("kind", KINDS)
def test_each_mail_says_who_what_and_how_long(
    alice: Persona, settings: Settings, kind: AccountEmail
) -> None:
    settings.WEB_APP_URL = "https://web.example.com/app/"
    settings.PRODUCT_NAME = "Tom & Jerry"
    rows(alice).delete()
    request_email(kind=kind, address="alice@example.com")
    [message] = delivered()
    [(html, media_type)] = message.alternatives
    assert media_type == "text/html"
    assert "https://web.example.com/app/" in str(message.body)
    assert "Tom & Jerry" in str(message.body)
    assert "Tom &amp; Jerry" in str(html)
    assert "Tom & Jerry" in message.subject
    for text in (str(message.body), str(html)):
        assert "alice@example.com" in text
        assert ("works once" in text) == (kind in (KINDS.VERIFY_EMAIL, KINDS.RESET_PASSWORD))
    hours = {KINDS.VERIFY_EMAIL: "72 hours", KINDS.RESET_PASSWORD: "1 hour."}
    assert hours.get(kind, "") in str(message.body)


def test_nothing_that_a_stranger_typed_is_sent(db: None) -> None:
    """Whoever signs up with somebody else's address cannot write to them."""
    alice = persona("alice")
    User.objects.filter(pk=alice.user.pk).update(name="Win at https://evil.example")
    request_email(kind=KINDS.RESET_PASSWORD, address="alice@example.com")
    for message in delivered():
        assert "evil" not in message.message().as_string()


def test_only_a_digest_of_a_token_is_stored(alice: Persona) -> None:
    token = token_in(delivered()[0])
    [row] = EmailedToken.objects.filter(user=alice.user).values()
    assert token not in str(row | rows(alice).values().get())
    assert token.encode() not in bytes(row["digest"])
    assert len(row["digest"]) == 32


def test_a_token_in_a_log_line_is_redacted(alice: Persona) -> None:
    """Should somebody ever log a mail: its link is what carries the token."""
    message = delivered()[0]
    assert token_in(message) not in redact(str(message.body))


def test_a_mail_is_part_of_its_transaction(committed: None) -> None:
    address = f"{uuid.uuid4()}@example.com"
    with transaction.atomic():
        request_email(kind=KINDS.RESET_PASSWORD, address=address)
        transaction.set_rollback(True)
    assert not OutgoingEmail.objects.filter(address=address).exists()


def test_a_mail_that_another_worker_has_taken_is_left_to_it(committed: None) -> None:
    alice = persona(f"alice-{uuid.uuid4()}")

    def work() -> None:
        emails.send_due_emails()
        connection.close()

    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        rows(alice).select_for_update().get()
        pool.submit(work).result(timeout=30)
    assert (rows(alice).get().attempts, rows(alice).get().ended_at) == (0, None)
    assert len(delivered(alice.user.email)) == 1


def test_the_tasks_are_scheduled_by_their_names(settings: Settings) -> None:
    names = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert {tasks.send_emails.name, tasks.purge_expired.name} <= names


# --- What goes wrong ----------------------------------------------------------------------------


def test_a_server_that_is_away_gets_the_mail_later(
    server: MailServer, alone: None, alice: Persona
) -> None:
    server.verdict = "451 Not now"
    tasks.send_emails()
    row = rows(alice).get()
    assert (row.attempts, row.ended_at) == (1, None)
    assert timedelta(seconds=55) < row.due_at - timezone.now() <= timedelta(minutes=1)

    server.verdict = "250 Taken"
    tasks.send_emails()
    assert server.received == []  # not due yet
    let_time_pass(alice)
    tasks.send_emails()
    assert len(server.received) == 1
    assert (rows(alice).get().outcome, rows(alice).get().error) == ("sent", "")
    tasks.send_emails()
    assert len(server.received) == 1


def test_the_mail_that_arrives_late_carries_a_token_that_works(
    server: MailServer, alone: None, alice: Persona
) -> None:
    server.verdict = "451 Not now"
    tasks.send_emails()
    server.verdict = "250 Taken"
    let_time_pass(alice)
    tasks.send_emails()
    text = next(server.received[0].iter_parts()).get_content()
    [token] = [line.partition("token=")[2] for line in text.splitlines() if "token=" in line]
    response = alice.client.post("/api/auth/verify-email", {"token": token}, format="json")
    assert response.status_code == 200


@pytest.mark.parametrize("trouble", ["greeting", "port"])
def test_a_server_that_says_nothing_or_is_not_there_keeps_nobody(
    server: MailServer, alone: None, alice: Persona, settings: Settings, trouble: str
) -> None:
    if trouble == "greeting":
        server.greeting = ""
    else:
        settings.EMAIL_PORT = 1
    tasks.send_emails()
    assert (rows(alice).get().attempts, rows(alice).get().ended_at) == (1, None)


def test_after_five_attempts_it_is_given_up_with_an_error(
    server: MailServer, alone: None, alice: Persona, caplog: pytest.LogCaptureFixture
) -> None:
    server.verdict = "550 Never"
    for attempt in range(1, 6):
        assert "email.given_up" not in caplog.text
        let_time_pass(alice)
        tasks.send_emails()
        assert rows(alice).get().attempts == attempt
    assert rows(alice).get().ended_at is not None
    assert "email.given_up" in caplog.text
    assert [record.levelname for record in caplog.records][-1] == "ERROR"
    let_time_pass(alice)
    tasks.send_emails()
    assert rows(alice).get().attempts == 5


def test_one_bad_mail_does_not_hold_up_the_others(
    server: MailServer, alone: None, alice: Persona, bob: Persona
) -> None:
    """The first in line is refused; the rest goes out in the same run."""
    rows(alice).update(due_at=timezone.now() - timedelta(hours=1), attempts=4)
    server.verdict = "550 Never"
    tasks.send_emails()
    server.verdict = "250 Taken"
    let_time_pass(bob)
    tasks.send_emails()
    assert [message["To"] for message in server.received] == ["bob@example.com"]


def test_a_mail_that_cannot_be_written_is_given_up_and_the_others_go_out(
    server: MailServer, alone: None, alice: Persona, bob: Persona, caplog: pytest.LogCaptureFixture
) -> None:
    """Of an address from before such were refused: the standard library fails at it."""
    poison = '"\x0b1:a"@poison.example'
    User.objects.filter(pk=alice.user.pk).update(email=poison)
    hour_ago = timezone.now() - timedelta(hours=1)
    rows(alice).update(address=poison, due_at=hour_ago)

    tasks.send_emails()

    assert [message["To"] for message in server.received] == ["bob@example.com"]
    assert OutgoingEmail.objects.get(address=poison).ended_at is not None
    [record] = [record for record in caplog.records if "email.given_up" in record.getMessage()]
    assert record.levelname == "ERROR"


def test_a_mail_of_a_kind_that_is_not_known_is_given_up_and_the_others_go_out(
    server: MailServer, alone: None, alice: Persona, bob: Persona
) -> None:
    """Of a later release, which was rolled back."""
    rows(alice).update(kind="from_a_later_release", due_at=timezone.now() - timedelta(hours=1))
    tasks.send_emails()
    assert [message["To"] for message in server.received] == ["bob@example.com"]
    assert rows(alice).get().outcome == "failed"


def test_a_full_outbox_takes_no_more(alone: None, caplog: pytest.LogCaptureFixture) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO accounts_outgoingemail (id, kind, address, created_at, due_at, attempts)"
            " SELECT gen_random_uuid(), 'reset_password', n || '@x.y', now(), now(), 0"
            " FROM generate_series(1, %s) n",
            [emails.MAX_WAITING],
        )
    passwords.request_reset(email="alice@example.com")
    assert not OutgoingEmail.objects.filter(address="alice@example.com").exists()
    assert "email.outbox_full" in caplog.text


# --- What is forgotten --------------------------------------------------------------------------


def made(age: timedelta, **fields: Any) -> uuid.UUID:
    """A mail that was asked for that long ago."""
    at = timezone.now() - age
    fields = {"kind": KINDS.RESET_PASSWORD, "address": "alice@example.com"} | fields
    return OutgoingEmail.objects.create(id=uuid7(at), **fields).pk


def test_mails_are_deleted_after_a_day(alone: None) -> None:
    made(timedelta(days=1, minutes=1))
    young = made(timedelta(hours=23))
    tasks.purge_expired()
    assert OutgoingEmail.objects.get().pk == young


def test_mails_that_are_too_many_go_before(alone: None) -> None:
    ended = [made(timedelta(hours=age), ended_at=timezone.now()) for age in (5, 4, 3, 2)]
    waiting = made(timedelta(hours=6))
    emails.purge_emails(keep=2)
    kept = set(OutgoingEmail.objects.values_list("pk", flat=True))
    assert kept == {waiting, *ended[2:]}


def test_tokens_are_deleted_a_day_after_they_expired(alice: Persona) -> None:
    delivered()
    [token] = EmailedToken.objects.filter(user=alice.user)
    for age, kept in ((timedelta(hours=23), True), (timedelta(hours=25), False)):
        EmailedToken.objects.filter(pk=token.pk).update(expires_at=timezone.now() - age)
        tasks.purge_expired()
        assert EmailedToken.objects.filter(pk=token.pk).exists() == kept


# --- What operators see -------------------------------------------------------------------------


def test_an_operator_sees_why_a_mail_was_not_sent_and_sends_it_again(
    server: MailServer, alone: None, alice: Persona
) -> None:
    server.verdict = "550 No such mailbox"
    for _ in range(5):
        let_time_pass(alice)
        tasks.send_emails()
    row = rows(alice).get()
    assert (row.outcome, row.attempts) == ("failed", 5)
    support = new_operator("accounts.change_outgoingemail", "accounts.view_outgoingemail")
    assert "No such mailbox" in support.get("accounts/outgoingemail/?state=failed")

    server.verdict = "250 Taken"
    url = f"accounts/outgoingemail/{row.pk}/send_again/"
    assert support.post(url, reason="The mailbox is there now").status_code == 302
    tasks.send_emails()

    assert len(server.received) == 1
    row = rows(alice).get()
    assert (row.outcome, row.error) == ("sent", "")
    assert audit_of(row) == ["Sent again. Reason: The mailbox is there now"]


def test_a_mail_that_waits_is_not_sent_twice(alone: None, alice: Persona) -> None:
    row = rows(alice).get()
    assert emails.send_again(email=row) is False
    assert len(delivered()) == 1


def test_a_mail_to_nobody_is_dropped_and_says_so(alone: None) -> None:
    request_email(kind=KINDS.RESET_PASSWORD, address="nobody@example.com")
    assert delivered() == []
    assert OutgoingEmail.objects.get().outcome == "dropped"


def test_the_error_of_a_mail_that_waits_is_shown_without_credentials(
    server: MailServer, alone: None, alice: Persona
) -> None:
    server.verdict = "451 Not now: smtp://user:secret@mail.example.com " + "x" * 400
    tasks.send_emails()
    row = rows(alice).get()
    assert (row.outcome, row.ended_at) == ("", None)
    assert "Not now" in row.error
    assert "secret" not in row.error
    assert len(row.error) <= 300


def test_only_who_may_change_mails_sends_them_again(alone: None, alice: Persona) -> None:
    delivered()
    row = rows(alice).get()
    viewer = new_operator("accounts.view_outgoingemail")
    assert "send_again" not in viewer.get(f"accounts/outgoingemail/{row.pk}/change/")
    url = f"accounts/outgoingemail/{row.pk}/send_again/"
    assert viewer.post(url, reason="x").status_code == 403
