"""Operators send mails again and cancel them, one by one or many at once."""

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import OutgoingEmail
from accounts.services import emails
from tests.operators import Operator, audit_of, new_operator

pytestmark = pytest.mark.django_db


@pytest.fixture
def support() -> Operator:
    return new_operator("accounts.view_outgoingemail", "accounts.change_outgoingemail")


def mail(outcome: str = "", **fields: Any) -> OutgoingEmail:
    """A mail that waits, or that has ended."""
    ended_at = timezone.now() if outcome else None
    address = f"{outcome or 'waiting'}@example.com"
    defaults = {"kind": "reset_password", "address": address, "ended_at": ended_at}
    return OutgoingEmail.objects.create(outcome=outcome, **{**defaults, **fields})


def state_of(row: OutgoingEmail) -> tuple[str, bool]:
    row.refresh_from_db()
    return row.outcome, row.ended_at is None


def do_to_all(operator: Operator, action: str, *selected: object) -> int:
    sent = operator.post(
        "accounts/outgoingemail/", action=action, _selected_action=[str(key) for key in selected]
    )
    return int(sent.status_code)


@pytest.mark.parametrize("state", ["waiting", "sent", "failed", "dropped"])
def test_mails_are_listed_by_their_state(support: Operator, state: str) -> None:
    for outcome in ("", "sent", "failed", "dropped"):
        mail(outcome)
    page = support.get(f"accounts/outgoingemail/?state={state}")
    shown = [name for name in ("waiting", "sent", "failed", "dropped") if f"{name}@" in page]
    assert shown == [state]


def test_failed_mails_are_sent_again_together(support: Operator) -> None:
    failed = [mail("failed", error="550 No such mailbox", attempts=5) for _ in range(2)]
    waits = mail(attempts=1)
    assert do_to_all(support, "send_all_again", *(row.pk for row in [*failed, waits])) == 302
    for row in failed:
        assert state_of(row) == ("", True)
        assert (row.attempts, row.error) == (0, "")
        assert audit_of(row) == ["Sent again, with others."]
    assert state_of(waits) == ("", True)
    assert waits.attempts == 1
    assert audit_of(waits) == []


def test_waiting_mails_are_cancelled_together(support: Operator) -> None:
    waits, sent = mail(), mail("sent")
    assert do_to_all(support, "cancel_all", waits.pk, sent.pk) == 302
    assert state_of(waits) == ("dropped", False)
    assert state_of(sent) == ("sent", False)
    emails.send_due_emails()
    assert state_of(waits) == ("dropped", False)
    assert audit_of(waits) == ["Cancelled, with others."]


def test_a_mail_is_cancelled_once_with_a_reason(support: Operator) -> None:
    row = mail()
    url = f"accounts/outgoingemail/{row.pk}/cancel/"
    assert support.post(url, reason="").status_code == 200
    for _ in range(2):
        assert support.post(url, reason="It was for somebody else").status_code == 302
    assert state_of(row) == ("dropped", False)
    assert "Cancelled by an operator." in support.get(f"accounts/outgoingemail/{row.pk}/change/")
    assert audit_of(row) == ["Cancelled. Reason: It was for somebody else"]


def test_a_cancelled_mail_can_be_sent_again(support: Operator) -> None:
    row = mail()
    emails.cancel(email=row)
    support.post(f"accounts/outgoingemail/{row.pk}/send_again/", reason="It was right after all")
    assert state_of(row) == ("", True)


def test_only_who_may_change_mails_acts_on_them() -> None:
    viewer = new_operator("accounts.view_outgoingemail")
    waits, failed = mail(), mail("failed")
    assert viewer.post(f"accounts/outgoingemail/{waits.pk}/cancel/", reason="x").status_code == 403
    do_to_all(viewer, "cancel_all", waits.pk)
    do_to_all(viewer, "send_all_again", failed.pk)
    assert (state_of(waits), state_of(failed)) == (("", True), ("failed", False))


@pytest.mark.parametrize("key", ["x", "0", "x" * 10_000])
def test_ids_that_are_none_are_refused(support: Operator, key: str) -> None:
    assert do_to_all(support, "send_all_again", key) == 400
